// What a start costs a program that knows nothing of lameduck.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { disposed } from '../support/disposed.ts';
import { LoggingCommand } from '../support/process-under-test.ts';

const program = `
  const { createServer } = require('node:http');
  const say = (msg, details) => console.log(JSON.stringify({ msg, ...details }));
  const server = createServer((request, response) => response.end('hello'));
  server.listen(0, '127.0.0.1', () => {
    const isLoaded = Object.keys(require.cache).some((file) => file.endsWith('/dist/guest.cjs'));
    say('listening', { isLoaded });
  });
  process.on('exit', () => say('exit', { modules: process.moduleLoadList }));
`;

test('P-117 the lifecycle is loaded when the program calls listen(), and no TLS with it', async (t) => {
  // The built file, because the loader of modules of ECMAScript loads more of Node.
  const built = fileURLToPath(new URL('../../dist/register.cjs', import.meta.url));
  const args = ['--require', built, '--eval', program];
  const command = disposed(t, new LoggingCommand(process.execPath, args, { env: { LAMEDUCK_PROBE_PORT: 'off' } }));
  const { isLoaded } = await command.line('listening', ({ msg }) => msg === 'listening');
  assert.equal(isLoaded, true, 'before the first request can come');
  await command.line('HasBeenReady', ({ name }) => name === 'HasBeenReady');
  command.kill('SIGTERM');
  const { modules } = await command.line('exit', ({ msg }) => msg === 'exit');
  const builtin = (modules as string[]).filter((name) => /^NativeModule (https|tls)$/.test(name));
  assert.deepEqual(builtin, []);
});
