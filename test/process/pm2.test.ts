import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isUnderPm2, pm2Warning } from '../../src/process/pm2.ts';

test('a process that PM2 has not started gets no warning about PM2', () => {
  for (const environment of [{}, { pm_id: '' }, { kill_timeout: '1' }]) {
    assert.equal(isUnderPm2(environment), false);
    assert.equal(pm2Warning(environment, 30_000), undefined);
  }
});

test('the warning about PM2 has the default kill timeout of PM2, 1600 ms, and the value to set', () => {
  const text = pm2Warning({ pm_id: '0' }, 30_000) ?? '';
  assert.match(text, /^PM2 sends SIGKILL 1\.6s after its stop signal/);
  assert.match(text, /kill_timeout: 30000 .* --kill-timeout 30000$/);
});

test('the warning about PM2 has the kill timeout that is set for the program or for PM2 itself, and a sufficient kill timeout causes no warning', () => {
  assert.match(pm2Warning({ pm_id: '0', kill_timeout: '3000' }, 30_000) ?? '', /SIGKILL 3s after/);
  assert.match(pm2Warning({ pm_id: '0', PM2_KILL_TIMEOUT: '4000' }, 30_000) ?? '', /SIGKILL 4s after/);
  assert.equal(pm2Warning({ pm_id: '0', kill_timeout: '30000' }, 30_000), undefined);
});
