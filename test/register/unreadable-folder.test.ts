// Tests that `--import` works in a working directory that the user of the process cannot read, and that `--require`
// fails there. An image may start in such a directory, so the injector loads the package with `--import`.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const nobody = 65_534;
const skip = process.getuid?.() === 0 ? false : 'only root can start a process as another user';

test(
  'M-06 in a working directory that its user cannot read, a program starts with --import and fails with --require',
  { skip },
  (t) => {
    const work = mkdtempSync(join(tmpdir(), 'unreadable-'));
    t.after(() => {
      rmSync(work, { recursive: true });
    });
    chmodSync(work, 0o755);
    const preload = join(work, 'preload.cjs');
    writeFileSync(preload, '');
    const cwd = join(work, 'app');
    mkdirSync(cwd, { mode: 0o700 });
    const start = (option: string): number | null =>
      // `spawnSync()` enters the folder as root. Then `setpriv` changes the user of the process to one that may not
      // enter the folder.
      spawnSync(
        'setpriv',
        ['--reuid', String(nobody), '--clear-groups', process.execPath, `${option}=${preload}`, '--eval', ''],
        { cwd },
      ).status;
    assert.equal(start('--import'), 0);
    // Node 24 and later need access to their working folder for --require, and Node 22 does not.
    if (Number.parseInt(process.versions.node) >= 24) assert.notEqual(start('--require'), 0);
  },
);
