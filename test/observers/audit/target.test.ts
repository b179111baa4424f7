import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { constants, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { disposed } from '../../support/disposed.ts';
import { openTarget } from '../../../src/observers/audit/target.ts';

const folder = mkdtempSync(join(tmpdir(), 'lameduck-audit-'));
after(() => {
  rmSync(folder, { recursive: true });
});

async function append(path: string, text: string): Promise<void> {
  const target = await openTarget(path);
  await target.write(Buffer.from(`${target.before}${text}`));
  target.close();
}

test('an audit file is created with permissions for its owner only, and later lines are appended to this file', async () => {
  const path = join(folder, 'new.log');
  await append(path, 'a\n');
  await append(path, 'b\n');
  assert.equal(readFileSync(path, 'utf8'), 'a\nb\n');
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('an incomplete last line of an audit file gets the missing line feed', async () => {
  const path = join(folder, 'torn.log');
  writeFileSync(path, '{"a":1}\n{"b":');
  await append(path, '{"c":3}\n');
  assert.equal(readFileSync(path, 'utf8'), '{"a":1}\n{"b":\n{"c":3}\n');
});

test('an audit path that is a folder, in a missing folder, or a pipe without a reader is reported as an error', async () => {
  mkdirSync(join(folder, 'folder'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  await assert.rejects(openTarget(join(folder, 'missing', 'a.log')), { code: 'ENOENT' });
  await assert.rejects(openTarget(join(folder, 'folder')), { code: 'EISDIR' });
  await assert.rejects(openTarget(join(folder, 'pipe')), { code: 'ENXIO' });
});

test('if the audit log is a full pipe, a write fails with an error and does not block the process', async (t) => {
  const path = join(folder, 'full-pipe');
  execFileSync('mkfifo', [path]);
  disposed(t, await open(path, constants.O_RDONLY | constants.O_NONBLOCK));
  const target = await openTarget(path);
  const lines = Buffer.alloc(65_536, 'a\n');
  await assert.rejects(
    async () => {
      for (;;) await target.write(lines);
    },
    { code: 'EAGAIN' },
  );
  target.close();
});

test('an audit log on a full disk is reported as an error', { skip: !existsSync('/dev/full') }, async () => {
  const target = await openTarget('/dev/full');
  await assert.rejects(target.write(Buffer.from('a\n')), { code: 'ENOSPC' });
  target.close();
});
