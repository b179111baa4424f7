// The members of `process` that listen for process signals or end the process. Only src/process may use them. Both
// eslint.config.js and dependency-direction.test.ts check this: a comment can disable the lint rule, but not the test.

export const processMembers: readonly string[] = [
  'addListener',
  'emit',
  'off',
  'on',
  'once',
  'prependListener',
  'prependOnceListener',
  'removeAllListeners',
  'removeListener',
  'abort',
  'exit',
  'exitCode',
  'kill',
  'reallyExit',
];
