// Tests how much lameduck/register slows down the start of a program.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pieces } from '../../scripts/build/entries.ts';
import { disposed } from '../support/disposed.ts';
import { LoggingCommand } from '../support/process-under-test.ts';

// The source of a program that sends the first request to itself as soon as it listens. After that, the program
// measures each turn of its event loop.
const program = `
  const { createServer, get } = require('node:http');
  const say = (msg, details) => console.log(JSON.stringify({ msg, ...details }));
  const loaded = () => Object.keys(require.cache).map((file) => file.slice(file.lastIndexOf('/') + 1));
  const server = createServer((request, response) => {
    const hasThread = process.getActiveResourcesInfo().includes('MessagePort');
    response.end();
    say('request', { loaded: loaded(), hasThread });
  });
  const look = (before) => {
    const now = loaded();
    say('turn', { loaded: now.filter((file) => !before.includes(file)) });
    if (now.includes('program-lifecycle.cjs')) return;
    setImmediate(look, now);
  };
  server.listen(0, '127.0.0.1', () => {
    get({ port: server.address().port, agent: false }, (response) => response.resume());
    look(loaded());
  });
  process.on('exit', () => say('exit', { modules: process.moduleLoadList }));
`;

// Load the built file instead of the source. For the source, Node's loader of ECMAScript modules would load additional
// modules, which these tests would report.
const built = fileURLToPath(new URL('../../dist/register.cjs', import.meta.url));

function started(t: TestContext, code: string, env: Readonly<Record<string, string>> = {}): LoggingCommand {
  const args = code.includes(built) ? ['--eval', code] : ['--require', built, '--eval', code];
  return disposed(t, new LoggingCommand(process.execPath, args, { env: { LAMEDUCK_PROBE_PORT: 'off', ...env } }));
}

test('P-117 before the first response lameduck/register has neither loaded the lifecycle nor started a thread', async (t) => {
  // In this test, the timers of lameduck/register never fire. On a busy machine, such a timer could otherwise fire
  // before the first response, and lameduck/register would load the lifecycle too early.
  const withoutTimers = `
    require('node:timers').setTimeout = () => ({ unref() { return this; } });
    require(${JSON.stringify(built)});`;
  const command = started(t, `${withoutTimers}${program}`, { LAMEDUCK_PROBE_PORT: '0' });
  const { loaded, hasThread } = await command.line('request', ({ msg }) => msg === 'request');
  assert.deepEqual([loaded, hasThread], [['register.cjs', 'emit-override.cjs', 'deferral.cjs'], false]);
});

test('P-117 lameduck/register runs the top-level code of its modules in pieces, one piece per turn of the event loop, and loads neither node:tls nor node:https', async (t) => {
  const command = started(t, program);
  await command.line('HasBeenReady', ({ name }) => name === 'HasBeenReady');
  command.kill('SIGTERM');
  const { modules } = await command.line('exit', ({ msg }) => msg === 'exit');
  const turns = command.lines.filter(({ msg }) => msg === 'turn').map(({ loaded }) => loaded as string[]);
  const first = turns.findIndex((loaded) => loaded.includes('index.cjs'));
  const later = pieces.slice(1).map(() => []);
  assert.deepEqual(turns.slice(first), [['index.cjs'], ...later, ['program-lifecycle.cjs']]);
  const builtin = (modules as string[]).filter((name) => /^NativeModule (https|tls)$/.test(name));
  assert.deepEqual(builtin, []);
});
