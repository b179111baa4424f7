// The one command line behind `npm run test:cluster`: each suite of this folder, one after the other. With --all every
// event is played for every release, with a prompt kube-proxy and with a slow one, and leadership moves more often.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { all: { type: 'boolean', default: false } } });
const suites = join(import.meta.dirname, '*.test.ts');
const { status } = spawnSync(
  process.execPath,
  ['--test', '--test-reporter=spec', '--test-timeout=1800000', '--test-concurrency=1', suites],
  { stdio: 'inherit', env: { ...process.env, ALL: values.all ? '1' : undefined } },
);
process.exitCode = status ?? 1;
