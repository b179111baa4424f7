// The program that `npm test` and the Node matrix run. It runs every test file except those that need a cluster, Helm,
// a container runtime, or clients from outside the project.
//
// Files named `.long.test.ts`, which take a minute, run only when chosen. Arguments choose files by the start of their
// path. Flags are passed to node.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');
const elsewhere = ['chart', 'cluster', 'docker', 'foreign'].map((name) => join('test', 'suites', name));
// The folders whose files take longest begin first, so that no such file runs alone at the end.
const first = ['cli/rehearsal', 'probe-worker', 'scenarios'].map((name) => join('test', name));
const flags = process.argv.slice(2).filter((argument) => argument.startsWith('-'));
const prefixes = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));

const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .map((file) => join(relative(root, import.meta.dirname), file))
  .filter((file) => file.endsWith('.test.ts'))
  .filter((file) => !elsewhere.includes(dirname(file)))
  .filter((file) => prefixes.length > 0 || !file.endsWith('.long.test.ts'))
  .filter((file) => prefixes.length === 0 || prefixes.some((prefix) => file.startsWith(prefix)))
  .sort()
  .sort((one, other) => Number(first.includes(dirname(other))) - Number(first.includes(dirname(one))));

// Without file names, `node --test` would search for files itself and could report success without a test.
if (files.length === 0) throw new Error(`no test file begins with ${prefixes.join(' or ') || 'test/'}`);

// For the table of docs/conformance.md: which rules have passed on which kind of server, by the major version of Node.
const { KINDS: folder } = process.env;
const kinds =
  folder === undefined
    ? []
    : [
        `--test-reporter=${new URL('./server-kinds.ts', import.meta.url).href}`,
        `--test-reporter-destination=${join(folder, `${process.versions.node.split('.', 1).join()}.json`)}`,
      ];

// Hundreds of processes load the same sources, so they share a compile cache.
const { status } = spawnSync(
  process.execPath,
  [
    '--throw-deprecation',
    `--import=${new URL('./clean-process.ts', import.meta.url).href}`,
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    ...kinds,
    '--test-timeout=300000',
    // Most tests wait for sockets and processes, so one more test than there are cores can run.
    `--test-concurrency=${String(availableParallelism() + 1)}`,
    ...flags,
    '--test',
    ...files,
  ],
  {
    cwd: root,
    stdio: 'inherit',
    // A test that runs tests itself must not overwrite the results of this run in KINDS.
    env: { ...process.env, KINDS: undefined, NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node') },
  },
);
process.exitCode = status ?? 1;
