// Tests who can connect to the debug socket while it is being created.
import assert from 'node:assert/strict';
import { lstatSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { listenOn } from '../../src/probe-worker/unix-listener.ts';
import { socketPath } from '../support/debug-socket.ts';

test('the debug socket is bound in a folder that only its user can enter, even with a umask of 0', async (t) => {
  const umask = process.umask(0);
  t.after(() => process.umask(umask));
  const path = socketPath(t);
  const server = createServer();
  t.after(() => server.close());
  const found: unknown[] = [];
  server.once('listening', () => {
    const bound = server.address() as string;
    found.push(bound === path, lstatSync(dirname(bound)).mode & 0o777);
  });
  await listenOn(server, path);
  assert.deepEqual(found, [false, 0o700]);
  assert.equal(lstatSync(path).mode & 0o777, 0o600);
});
