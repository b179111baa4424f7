// The program that `npm test` and the Node matrix run. It runs every test file except those that need a cluster, Helm,
// a container runtime, or clients from other projects.
//
// An argument selects the files whose paths begin with it. Flags are passed to node. A file named `.long.test.ts` takes
// up to a minute. It runs only if an argument contains its name: an argument with the path of its folder does not select it.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');
const elsewhere = ['chart', 'cluster', 'docker', 'foreign'].map((name) => join('test', 'suites', name));
// The test files in the folders with the slowest files begin first. Otherwise one slow file would run alone at the end.
const first = ['cli/rehearsal', 'probe-worker', 'scenarios'].map((name) => join('test', name));
const flags = process.argv.slice(2).filter((argument) => argument.startsWith('-'));
const prefixes = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));

const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .map((file) => join(relative(root, import.meta.dirname), file))
  .filter((file) => file.endsWith('.test.ts'))
  .filter((file) => !elsewhere.includes(dirname(file)))
  .filter((file) => (prefixes.length === 0 ? !isLong(file) : prefixes.some((prefix) => isSelected(file, prefix))))
  .sort()
  .sort((one, other) => Number(first.includes(dirname(other))) - Number(first.includes(dirname(one))));

function isLong(file: string): boolean {
  return file.endsWith('.long.test.ts');
}

function isSelected(file: string, prefix: string): boolean {
  return file.startsWith(prefix) && (!isLong(file) || prefix.length >= file.length - '.long.test.ts'.length);
}

// Without a file name, `node --test` would search for files itself, and could report success without a test.
if (files.length === 0) throw new Error(`no test file begins with ${prefixes.join(' or ') || 'test/'}`);

// If KINDS is set, its folder receives data for docs/conformance.md: the rules that have passed, by kind of server and
// version of Node.
const { KINDS: folder } = process.env;
const kinds =
  folder === undefined
    ? []
    : [
        `--test-reporter=${new URL('./server-kinds.ts', import.meta.url).href}`,
        `--test-reporter-destination=${join(folder, `${process.versions.node.split('.', 1).join()}.json`)}`,
      ];

// The tests start hundreds of processes that load the same source files, so these processes share a compile cache.
const { status } = spawnSync(
  process.execPath,
  [
    '--throw-deprecation',
    `--import=${new URL('./clean-process.ts', import.meta.url).href}`,
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    ...kinds,
    '--test-timeout=300000',
    // Most tests wait for sockets and processes, and need little CPU time. So the number of test files that run at once
    // is the number of CPU cores plus two.
    `--test-concurrency=${String(availableParallelism() + 2)}`,
    ...flags,
    '--test',
    ...files,
  ],
  {
    cwd: root,
    stdio: 'inherit',
    // Remove the variable KINDS from the environment. Otherwise, a test that starts another test run would overwrite
    // the KINDS file of this run.
    env: { ...process.env, KINDS: undefined, NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node') },
  },
);
process.exitCode = status ?? 1;
