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
const elsewhere = ['chart', 'cluster', 'docker', 'foreign'].map((name) => join('test', name));
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

// `node --test` without files would look for some by itself and could call an empty run a success.
if (files.length === 0) throw new Error(`no test file begins with ${prefixes.join(' or ') || 'test/'}`);

// For the table of docs/conformance.md: what has passed on which kind of server, by the major version of Node.
const { KINDS: folder } = process.env;
const kinds =
  folder === undefined
    ? []
    : [
        `--test-reporter=${new URL('./server-kinds.ts', import.meta.url).href}`,
        `--test-reporter-destination=${join(folder, `${process.versions.node.split('.', 1).join()}.json`)}`,
      ];

// Hundreds of processes load the same sources: what the first has made of them serves the others.
const { status } = spawnSync(
  process.execPath,
  [
    '--throw-deprecation',
    `--import=${new URL('./clean-process.ts', import.meta.url).href}`,
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...kinds,
    '--test-timeout=300000',
    // Most tests wait for sockets and processes, so that there is room for one more than there are cores.
    `--test-concurrency=${String(availableParallelism() + 1)}`,
    ...flags,
    '--test',
    ...files,
  ],
  {
    cwd: root,
    stdio: 'inherit',
    // A test that runs tests itself must not write over what this run leaves in KINDS.
    env: { ...process.env, KINDS: undefined, NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node') },
  },
);
process.exitCode = status ?? 1;
