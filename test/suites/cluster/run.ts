// The program that `npm run test:cluster` runs. It runs every test suite of this folder. With `--all`, the suites test
// each Helm release with every event, such as a node drain. Each event then runs with a fast and with a slow
// kube-proxy. With `--all`, the suites about leader election also change the leader more often.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { importImages } from './images.ts';

/**
 * The suites that mostly wait for pods. Two of these suites run at a time, and all other suites run one after another.
 * On a machine with two cores, three suites at a time would be too slow for the time limits that the suites check.
 */
const waiting = ['hand-over', 'injector', 'leader-election', 'operations', 'restarts', 'slow-readers'].map(
  (name) => `${name}.test.ts`,
);

const { values } = parseArgs({ options: { all: { type: 'boolean', default: false } } });
const suites = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.test.ts'));

const own = ['clients', 'proxies', 'strangers'].map((folder) => `${folder}/build-archive.sh`);
const images = ['../../../docker/build-archive.sh', ...own];
await importImages(...images);
const env = { ...process.env, ALL: values.all ? '1' : undefined, IMPORTED_IMAGES: images.join() };

/** Runs the test files of the cluster suites, and returns whether all their tests have passed. */
function run(files: readonly string[], concurrency: number): boolean {
  const { status } = spawnSync(
    process.execPath,
    [
      '--test',
      '--test-reporter=spec',
      '--test-timeout=1800000',
      `--test-concurrency=${String(concurrency)}`,
      ...files.map((file) => join(import.meta.dirname, file)),
    ],
    { stdio: 'inherit', env },
  );
  return status === 0;
}

const haveWaitingPassed = run(waiting, 2);
const haveOthersPassed = run(
  suites.filter((file) => !waiting.includes(file)),
  1,
);
process.exitCode = haveWaitingPassed && haveOthersPassed ? 0 : 1;
