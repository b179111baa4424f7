// Tests the first program of docs/leader-election.md, which is the example leader-elected-worker.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { CommandUnderTest } from '../support/command-under-test.ts';
import { disposed } from '../support/disposed.ts';
import { blocksIn, readPage, root } from '../support/markdown.ts';

const example = join(root, 'examples', 'leader-elected-worker');

test('docs/leader-election.md begins with the program of the example leader-elected-worker', () => {
  const [first] = blocksIn(readPage('docs/leader-election.md'));
  assert.equal(first?.text.trim(), readFileSync(join(example, 'main.ts'), 'utf8').trim());
});

test('the example leader-elected-worker becomes the leader without a cluster, and logs the release of its Lease at SIGTERM', async (t) => {
  const env = { LAMEDUCK_LEADER_ELECTION_ALONE: '1', NODE_ENV: 'production' };
  // The example has its own package.json. So the test installs lameduck into the example's folder, as a user does.
  const folder = mkdtempSync(join(tmpdir(), 'worker-'));
  t.after(() => {
    rmSync(folder, { recursive: true });
  });
  cpSync(example, folder, { recursive: true });
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  symlinkSync(root, join(folder, 'node_modules', 'lameduck'));
  const worker = disposed(t, new CommandUnderTest(process.execPath, [join(folder, 'main.ts')], { env }));
  await worker.printed(/^job done with token \d+$/m);
  worker.kill('SIGTERM');
  assert.deepEqual(await worker.exit, { code: 0, signal: null }, worker.output);
  assert.match(worker.output, /lease released/);
});

test('L-127 docs/leader-election.md says directly after its first program what a Lease cannot guarantee', () => {
  const sections = [...readPage('docs/leader-election.md').matchAll(/^## (.+)$/gm)].map(([, title]) => title);
  assert.deepEqual(sections.slice(0, 4), [
    'What it promises, and what no lease can promise',
    'Permissions',
    'A cron job',
    'Settings',
  ]);
});
