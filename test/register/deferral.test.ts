// Tests requests and signals that arrive between a program's `listen()` and the moment when `lameduck/register` has
// loaded the lifecycle.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { disposed } from '../support/disposed.ts';
import { messages, registered } from '../support/under-register.ts';
import { LoggingCommand } from '../support/process-under-test.ts';

// Returns the source of a program that runs the code `then` while a request of 300 ms is in flight.
function program(then: string, before = ''): string {
  return `
    const { createServer, get } = require('node:http');
    const say = (msg) => console.log(JSON.stringify({ msg }));
    ${before}
    const server = createServer((request, response) => {
      setTimeout(() => response.end('whole'), 300);
      ${then}
    });
    server.listen(0, '127.0.0.1', () => {
      get({ port: server.address().port, agent: false }, (response) => {
        response.on('data', (chunk) => say(String(chunk)));
      });
    });`;
}

function started(t: TestContext, code: string, env: Readonly<Record<string, string>> = {}): LoggingCommand {
  return disposed(t, new LoggingCommand(process.execPath, ['--eval', code], { env: registered(env) }));
}

test('a process signal before the first response starts a drain', async (t) => {
  const command = started(t, program("process.kill(process.pid, 'SIGTERM');"));
  const { signal } = await command.exit;
  assert.equal(signal, null);
  const said = messages(command.lines);
  assert.ok(said.indexOf('whole') < said.indexOf('shutdown ended') && said.includes('whole'), said.join());
});

test("the program's own listener of a signal before the first response is called after the drain", async (t) => {
  const own = "process.on('SIGTERM', () => { say('own listener'); process.exit(7); });";
  const command = started(t, program("process.kill(process.pid, 'SIGTERM');", own));
  assert.deepEqual(await command.exit, { code: 7, signal: null });
  const said = messages(command.lines).filter((msg) =>
    ['whole', 'shutdown ended', 'own listener'].includes(String(msg)),
  );
  assert.deepEqual(said, ['whole', 'shutdown ended', 'own listener']);
});

test('a signal that is not among the shutdown signals has its default action', async (t) => {
  const then = "process.kill(process.pid, 'SIGINT');";
  const command = started(t, program(then), { LAMEDUCK_SHUTDOWN_SIGNALS: 'SIGTERM' });
  assert.deepEqual(await command.exit, { code: null, signal: 'SIGINT' });
});

test('an uncaught error before the first response starts a drain', async (t) => {
  const command = started(t, program("setImmediate(() => { throw new Error('on purpose'); });"));
  await command.exit;
  assert.ok(messages(command.lines).includes('whole'));
  const { exitCode } = await command.line('shutdown ended', ({ msg }) => msg === 'shutdown ended');
  assert.equal(exitCode, 82);
});

test('a second server that listens before the lifecycle is loaded drains with the first', async (t) => {
  const second = `
    const other = createServer().listen(0, () => process.kill(process.pid, 'SIGTERM'));
    process.on('exit', () => say(other.listening ? 'second listens' : 'second closed'));`;
  const command = started(t, program(second));
  assert.deepEqual(await command.exit, { code: 0, signal: null });
  const said = messages(command.lines);
  assert.ok(said.includes('whole') && said.includes('second closed'), said.join());
});

test('a request that completes after the listener has closed causes no warning', async (t) => {
  const command = started(
    t,
    `
    const { createServer } = require('node:http');
    const { connect } = require('node:net');
    const server = createServer((request, response) => response.end('whole'));
    // Sends the signal only when lameduck listens for it, which is one turn of the event loop after listen().
    server.on('connection', () => setImmediate(() => process.kill(process.pid, 'SIGTERM')));
    server.listen(0, '127.0.0.1', () => {
      const client = connect(server.address().port, '127.0.0.1', () => client.write('GET / HTTP/1.1\\r\\n'));
      const finish = () =>
        server.listening ? setImmediate(finish) : client.write('Host: lameduck\\r\\n\\r\\n');
      finish();
      client.on('data', (chunk) => console.log(JSON.stringify({ msg: String(chunk).endsWith('whole') ? 'whole' : 'part' })));
    });`,
  );
  assert.deepEqual(await command.exit, { code: 0, signal: null });
  const said = messages(command.lines);
  assert.ok(said.includes('whole'), said.join());
  assert.deepEqual(
    said.filter((msg) => String(msg).includes('does not listen')),
    [],
  );
});

test('P-039 a WebSocket that is opened before the lifecycle is loaded is closed by its drain', async (t) => {
  const command = started(
    t,
    `
    const { createServer } = require('node:http');
    const { connect } = require('node:net');
    const say = (msg) => console.log(JSON.stringify({ msg }));
    const server = createServer();
    server.on('upgrade', (request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: tunnel\\r\\n\\r\\n');
      socket.on('end', () => say('client has left'));
    });
    server.listen(0, '127.0.0.1', () => {
      const client = connect(server.address().port, '127.0.0.1');
      client.write('GET / HTTP/1.1\\r\\nHost: a\\r\\nConnection: Upgrade\\r\\nUpgrade: tunnel\\r\\n\\r\\n');
      client.once('data', () => process.kill(process.pid, 'SIGTERM'));
      client.on('end', () => say('server has left'));
    });`,
  );
  assert.deepEqual(await command.exit, { code: 0, signal: null });
  assert.ok(messages(command.lines).includes('server has left'));
  const { longRunningEnded } = await command.finalLine();
  assert.equal(longRunningEnded, 1);
});

const signal = "process.kill(process.pid, 'SIGTERM');";
for (const [when, code] of [
  ['in the callback of listen()', `server.listen(0, '127.0.0.1', () => { ${signal} });`],
  ['right after listen()', `server.listen(0); ${signal}`],
] as const) {
  test(`a process signal ${when} begins the shutdown`, async (t) => {
    const command = started(t, `const server = require('node:http').createServer(); setImmediate(() => { ${code} });`);
    assert.deepEqual(await command.exit, { code: 0, signal: null });
    assert.equal((await command.finalLine())['reason'], 'SIGTERM');
  });
}

test('if the program closes its server in the callback of listen(), a process signal has its default action', async (t) => {
  const command = started(
    t,
    `
    const server = require('node:http').createServer();
    server.listen(0, '127.0.0.1', () => {
      server.close();
      setTimeout(() => process.kill(process.pid, 'SIGTERM'), 200);
    });`,
  );
  assert.deepEqual(await command.exit, { code: null, signal: 'SIGTERM' });
  assert.deepEqual(command.lines, []);
});

test('a second server that listens after the first has been closed gets the lifecycle', async (t) => {
  const command = started(
    t,
    `
    const { createServer } = require('node:http');
    const first = createServer().listen(0, '127.0.0.1', () => first.close());
    setTimeout(() => {
      createServer().listen(0, '127.0.0.1', () => process.kill(process.pid, 'SIGTERM'));
    }, 100);`,
  );
  assert.deepEqual(await command.exit, { code: 0, signal: null });
});
