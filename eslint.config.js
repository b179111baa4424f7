// This configuration names every ESLint rule and extends no preset, so that an upgrade does not add or remove rules.
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { processMembers } from './test/package/process-members.ts';

const mistakes = {
  'array-callback-return': 'error',
  'constructor-super': 'error',
  eqeqeq: 'error',
  'for-direction': 'error',
  'getter-return': 'error',
  'no-async-promise-executor': 'error',
  'no-case-declarations': 'error',
  'no-class-assign': 'error',
  'no-cond-assign': 'error',
  'no-const-assign': 'error',
  'no-constant-binary-expression': 'error',
  'no-constructor-return': 'error',
  'no-control-regex': 'error',
  'no-debugger': 'error',
  'no-dupe-class-members': 'error',
  'no-dupe-else-if': 'error',
  'no-dupe-keys': 'error',
  'no-duplicate-case': 'error',
  'no-duplicate-imports': ['error', { allowSeparateTypeImports: true }],
  'no-empty': 'error',
  'no-empty-character-class': 'error',
  'no-empty-pattern': 'error',
  'no-eval': 'error',
  'no-ex-assign': 'error',
  'no-extend-native': 'error',
  'no-fallthrough': 'error',
  'no-func-assign': 'error',
  'no-global-assign': 'error',
  'no-irregular-whitespace': 'error',
  'no-loss-of-precision': 'error',
  'no-misleading-character-class': 'error',
  'no-new-wrappers': 'error',
  'no-octal': 'error',
  'no-param-reassign': 'error',
  'no-prototype-builtins': 'error',
  'no-regex-spaces': 'error',
  'no-return-assign': 'error',
  'no-self-assign': 'error',
  'no-self-compare': 'error',
  'no-sequences': 'error',
  'no-setter-return': 'error',
  'no-shadow-restricted-names': 'error',
  'no-sparse-arrays': 'error',
  'no-template-curly-in-string': 'error',
  'no-this-before-super': 'error',
  'no-unassigned-vars': 'error',
  'no-unmodified-loop-condition': 'error',
  'no-unreachable': 'error',
  'no-unreachable-loop': 'error',
  'no-unsafe-finally': 'error',
  'no-unsafe-negation': 'error',
  'no-unsafe-optional-chaining': 'error',
  'no-unused-labels': 'error',
  'no-useless-assignment': 'error',
  'no-useless-backreference': 'error',
  'no-useless-catch': 'error',
  'no-useless-escape': 'error',
  'no-var': 'error',
  'no-with': 'error',
  'object-shorthand': 'error',
  'prefer-const': 'error',
  'preserve-caught-error': 'error',
  'require-yield': 'error',
  'use-isnan': 'error',
  'valid-typeof': 'error',
};

const typed = {
  '@typescript-eslint/adjacent-overload-signatures': 'error',
  '@typescript-eslint/array-type': ['error', { default: 'array' }],
  '@typescript-eslint/await-thenable': 'error',
  '@typescript-eslint/ban-ts-comment': ['error', { 'ts-expect-error': 'allow-with-description' }],
  '@typescript-eslint/consistent-type-assertions': 'error',
  '@typescript-eslint/consistent-type-definitions': ['error', 'interface'],
  '@typescript-eslint/consistent-type-exports': 'error',
  '@typescript-eslint/consistent-type-imports': 'error',
  '@typescript-eslint/default-param-last': 'error',
  '@typescript-eslint/no-array-delete': 'error',
  '@typescript-eslint/no-base-to-string': 'error',
  '@typescript-eslint/no-deprecated': 'error',
  '@typescript-eslint/no-duplicate-type-constituents': 'error',
  '@typescript-eslint/no-dynamic-delete': 'error',
  '@typescript-eslint/no-empty-object-type': 'error',
  '@typescript-eslint/no-explicit-any': 'error',
  '@typescript-eslint/no-extraneous-class': 'error',
  '@typescript-eslint/no-floating-promises': [
    'error',
    // A test file need not await the promises of `describe`, `it`, `suite` and `test`, because the test runner awaits
    // them.
    { allowForKnownSafeCalls: [{ from: 'package', package: 'node:test', name: ['describe', 'it', 'suite', 'test'] }] },
  ],
  '@typescript-eslint/no-for-in-array': 'error',
  '@typescript-eslint/no-implied-eval': 'error',
  '@typescript-eslint/no-import-type-side-effects': 'error',
  '@typescript-eslint/no-invalid-void-type': 'error',
  '@typescript-eslint/no-loop-func': 'error',
  '@typescript-eslint/no-meaningless-void-operator': 'error',
  '@typescript-eslint/no-misused-new': 'error',
  '@typescript-eslint/no-misused-promises': 'error',
  '@typescript-eslint/no-misused-spread': 'error',
  '@typescript-eslint/no-non-null-assertion': 'error',
  '@typescript-eslint/no-redundant-type-constituents': 'error',
  '@typescript-eslint/no-require-imports': 'error',
  '@typescript-eslint/no-shadow': 'error',
  '@typescript-eslint/no-this-alias': 'error',
  '@typescript-eslint/no-unnecessary-boolean-literal-compare': 'error',
  '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: 'only-allowed-literals' }],
  '@typescript-eslint/no-unnecessary-template-expression': 'error',
  '@typescript-eslint/no-unnecessary-type-arguments': 'error',
  '@typescript-eslint/no-unnecessary-type-assertion': 'error',
  '@typescript-eslint/no-unnecessary-type-constraint': 'error',
  '@typescript-eslint/no-unnecessary-type-conversion': 'error',
  '@typescript-eslint/no-unnecessary-type-parameters': 'error',
  '@typescript-eslint/no-unsafe-argument': 'error',
  '@typescript-eslint/no-unsafe-assignment': 'error',
  '@typescript-eslint/no-unsafe-call': 'error',
  '@typescript-eslint/no-unsafe-declaration-merging': 'error',
  '@typescript-eslint/no-unsafe-enum-comparison': 'error',
  '@typescript-eslint/no-unsafe-function-type': 'error',
  '@typescript-eslint/no-unsafe-member-access': 'error',
  '@typescript-eslint/no-unsafe-return': 'error',
  '@typescript-eslint/no-unsafe-unary-minus': 'error',
  '@typescript-eslint/no-unused-expressions': 'error',
  '@typescript-eslint/no-unused-private-class-members': 'error',
  '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
  '@typescript-eslint/no-use-before-define': ['error', { functions: false, classes: false, variables: false }],
  '@typescript-eslint/no-useless-constructor': 'error',
  '@typescript-eslint/no-useless-empty-export': 'error',
  '@typescript-eslint/no-wrapper-object-types': 'error',
  '@typescript-eslint/only-throw-error': 'error',
  '@typescript-eslint/prefer-find': 'error',
  '@typescript-eslint/prefer-for-of': 'error',
  '@typescript-eslint/prefer-function-type': 'error',
  '@typescript-eslint/prefer-includes': 'error',
  '@typescript-eslint/prefer-nullish-coalescing': 'error',
  '@typescript-eslint/prefer-optional-chain': 'error',
  '@typescript-eslint/prefer-promise-reject-errors': 'error',
  '@typescript-eslint/prefer-readonly': 'error',
  '@typescript-eslint/prefer-reduce-type-parameter': 'error',
  '@typescript-eslint/prefer-string-starts-ends-with': 'error',
  '@typescript-eslint/require-array-sort-compare': ['error', { ignoreStringArrays: true }],
  '@typescript-eslint/require-await': 'error',
  '@typescript-eslint/restrict-plus-operands': 'error',
  '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
  '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
  '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
  '@typescript-eslint/triple-slash-reference': 'error',
  '@typescript-eslint/unbound-method': 'error',
  '@typescript-eslint/unified-signatures': 'error',
  '@typescript-eslint/use-unknown-in-catch-callback-variable': 'error',
};

// Each restriction below is a list of entries for the ESLint rule `no-restricted-syntax`. If several configuration
// blocks set this rule for a file, only the last one applies. Each block therefore repeats every list that applies to
// its files.
const member = (object, names) =>
  ['object.name', 'object.property.name']
    .map((path) => `MemberExpression[${path}='${object}'][property.name=/^(${names.join('|')})$/]`)
    .join(',');

const processEvents = [
  {
    selector: member('process', processMembers),
    message: 'Only src/process listens for process signals and ends the process: call what it exports.',
  },
];
const environment = [
  {
    selector: member('process', ['env']),
    message: 'Only entry points, such as src/index.ts, read the environment: take the value as an argument.',
  },
];
const useTheClock = 'Use the Clock of src/clock.ts, so that a test can move the time and every timer has an owner.';
const time = [
  { selector: member('Date', ['now']), message: useTheClock },
  { selector: member('performance', ['now']), message: useTheClock },
  { selector: member('process', ['hrtime', 'uptime']), message: useTheClock },
  { selector: 'CallExpression[callee.name=/^set(Timeout|Interval)$/]', message: useTheClock },
  { selector: member('globalThis', ['setTimeout', 'setInterval']), message: useTheClock },
  { selector: member('AbortSignal', ['timeout']), message: useTheClock },
];

const timeOfDay = [{ selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: useTheClock }];

const noNamedProcessImports = {
  name: 'node:process',
  message: 'Use the global `process`: the lint rules that restrict its use look for this name.',
};
const noTimerImports = ['node:timers', 'node:timers/promises'].map((name) => ({ name, message: useTheClock }));
const modules = ['cli/main', 'fastify', 'grpc', 'index', 'leader-election', 'testing'];
const entryPoints = [...modules.map((name) => `src/${name}.ts`), 'src/register.cts'];

export default defineConfig(
  // ESLint ignores the test programs that do not use lameduck, because they keep the style of their frameworks. It also
  // ignores the examples that have packages of their own. .ci/register-programs checks both.
  globalIgnores([
    'dist/',
    'release/',
    'test/suites/adoption/programs/',
    'test/suites/adoption/tools/',
    'examples/*/*',
    '!examples/reference-service/*',
  ]),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  { files: ['**/*.{js,cjs,mjs,ts}', 'src/**/*.cts'], rules: mistakes },
  { files: ['test/require-node.cjs'], rules: { 'no-var': 'off' } },
  {
    files: ['**/*.ts', 'src/**/*.cts'],
    plugins: { '@typescript-eslint': tseslint.plugin },
    languageOptions: { parser: tseslint.parser, parserOptions: { projectService: true } },
    rules: typed,
  },
  // Allow require() in a `.cts` file. It is CommonJS, because it must not load a module before it has checked the
  // version of Node.
  { files: ['src/**/*.cts'], rules: { '@typescript-eslint/no-require-imports': 'off' } },
  // Allow an asynchronous function without `await`. Fastify sends the value that an asynchronous request handler
  // returns, so such a handler often awaits nothing.
  { files: ['examples/**/*.ts', 'test/**/*.ts'], rules: { '@typescript-eslint/require-await': 'off' } },
  {
    // The limit for the length of a file does not apply to three files that contain long lists of texts for generated
    // pages.
    files: ['**/*.{js,cjs,mjs,ts}', 'src/**/*.cts'],
    ignores: ['scripts/docs/rules.ts', 'scripts/docs/lease-rules.ts', 'scripts/docs/differences.ts'],
    rules: { 'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }] },
  },
  {
    files: ['src/**'],
    rules: {
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
      'no-console': 'error',
      'no-restricted-imports': ['error', { paths: [noNamedProcessImports, ...noTimerImports] }],
      'no-restricted-syntax': ['error', ...processEvents, ...environment, ...time, ...timeOfDay],
    },
  },
  {
    files: entryPoints,
    rules: { 'no-restricted-syntax': ['error', ...processEvents, ...time, ...timeOfDay] },
  },
  {
    files: ['src/clock.ts', 'src/node-timers.ts'],
    rules: {
      'no-restricted-imports': ['error', { paths: [noNamedProcessImports] }],
      'no-restricted-syntax': ['error', ...processEvents, ...environment],
    },
  },
  {
    files: ['src/process/**'],
    rules: { 'no-restricted-syntax': ['error', ...environment, ...time, ...timeOfDay] },
  },
  {
    // Only observers may read the time of day, to log it. All code, including observers, measures durations with the
    // monotonic clock.
    files: ['src/observers/**'],
    rules: { 'no-restricted-syntax': ['error', ...processEvents, ...environment, ...time] },
  },
  {
    files: ['src/lifecycle/**', 'src/process/signals-and-errors.ts', 'src/leader-election/decision/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: '^node:',
              message:
                'The files of the lifecycle, and of the decisions of a process and of an elector, are pure: put code that needs Node elsewhere.',
            },
          ],
        },
      ],
    },
  },
);
