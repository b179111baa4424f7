// Tests requests and process signals that arrive after a program's `listen()`, before `lameduck/register` has loaded
// the lifecycle.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { disposed } from '../support/disposed.ts';
import { Http2Client, type Outcome } from '../support/http2-client.ts';
import { messages, registered } from '../support/under-register.ts';
import { LoggingCommand } from '../support/process-under-test.ts';

// Returns the source code of a program. The program serves a request for 300 ms, and runs the code in `then` during
// this time.
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

test('with lameduck/register, a process signal before the first response starts a drain', async (t) => {
  const command = started(t, program("process.kill(process.pid, 'SIGTERM');"));
  const { signal } = await command.exit;
  assert.equal(signal, null);
  const said = messages(command.lines);
  assert.ok(said.indexOf('whole') < said.indexOf('shutdown ended') && said.includes('whole'), said.join());
});

test('with lameduck/register, a process signal before the first response starts a drain even if the program has removed all listeners', async (t) => {
  const removed = "process.removeAllListeners(); process.kill(process.pid, 'SIGTERM');";
  const command = started(t, program(removed));
  assert.deepEqual(await command.exit, { code: 0, signal: null });
  assert.ok(messages(command.lines).includes('whole'));
});

test("with lameduck/register, if a process signal arrives before the first response, the program's own signal listener is called after the drain", async (t) => {
  const own = "process.on('SIGTERM', () => { say('own listener'); process.exit(7); });";
  const command = started(t, program("process.kill(process.pid, 'SIGTERM');", own));
  assert.deepEqual(await command.exit, { code: 7, signal: null });
  const said = messages(command.lines).filter((msg) =>
    ['whole', 'shutdown ended', 'own listener'].includes(String(msg)),
  );
  assert.deepEqual(said, ['whole', 'shutdown ended', 'own listener']);
});

test('with lameduck/register, a program still serves requests if it has replaced process.on() by a function that ignores SIGTERM listeners', async (t) => {
  const before = `
    const on = process.on;
    process.on = function (event, listener) {
      return event === 'SIGTERM' ? this : on.call(this, event, listener);
    };`;
  const command = started(t, program('setTimeout(() => process.exit(5), 600);', before));
  assert.deepEqual(await command.exit, { code: 5, signal: null });
  const said = messages(command.lines);
  assert.ok(said.includes('whole') && !said.includes('uncaught error'), said.join());
});

test('with lameduck/register, a process signal that is not in shutdownSignals has its default action', async (t) => {
  const then = "process.kill(process.pid, 'SIGINT');";
  const command = started(t, program(then), { LAMEDUCK_SHUTDOWN_SIGNALS: 'SIGTERM' });
  assert.deepEqual(await command.exit, { code: null, signal: 'SIGINT' });
});

test('with lameduck/register, an uncaught error drains the server even before the server has sent its first response', async (t) => {
  const command = started(t, program("setImmediate(() => { throw new Error('on purpose'); });"));
  await command.exit;
  assert.ok(messages(command.lines).includes('whole'));
  const { exitCode } = await command.line('shutdown ended', ({ msg }) => msg === 'shutdown ended');
  assert.equal(exitCode, 82);
});

test('with lameduck/register, if a second server listens before the code of the lifecycle is loaded, both servers drain together', async (t) => {
  const second = `
    const other = createServer().listen(0, () => process.kill(process.pid, 'SIGTERM'));
    process.on('exit', () => say(other.listening ? 'second listens' : 'second closed'));`;
  const command = started(t, program(second));
  assert.deepEqual(await command.exit, { code: 0, signal: null });
  const said = messages(command.lines);
  assert.ok(said.includes('whole') && said.includes('second closed'), said.join());
});

test('with lameduck/register, a request that ends after the listening socket has closed causes no warning that the server does not listen', async (t) => {
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

test('P-053 with lameduck/register, the drain waits for a request that arrived before lameduck/register had loaded the code of the lifecycle', async (t) => {
  const command = started(
    t,
    `
    const { createServer } = require('node:http');
    const say = (line) => console.log(JSON.stringify(line));
    const server = createServer((request, response) => {
      process.stdin.once('data', () => response.end('whole')).unref();
      say({ msg: 'request' });
    });
    server.listen(0, '127.0.0.1', () => say({ msg: 'listening', port: server.address().port }));`,
    // With an overload limit, lameduck counts each request on arrival. The request of this test arrives before
    // lameduck/register has loaded the lifecycle, so lameduck has not counted it. The drain must wait for it
    // nevertheless.
    { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '0s', LAMEDUCK_MAX_REQUESTS_INFLIGHT: '100' },
  );
  const { port } = await command.line('listening', ({ msg }) => msg === 'listening');
  const response = fetch(`http://127.0.0.1:${String(port)}`);
  await command.line('request', ({ msg }) => msg === 'request');
  await command.line('HasBeenReady', ({ name }) => name === 'HasBeenReady');
  command.kill('SIGTERM');
  await command.line('HTTPServerStoppedListening', ({ name }) => name === 'HTTPServerStoppedListening');
  command.child.stdin?.write('go on');
  assert.equal(await (await response).text(), 'whole');
  const { exitCode, requests } = await command.finalLine();
  assert.deepEqual([exitCode, requests], [0, { answered: 1, refused: 0, aborted: 0, cut: 0 }]);
});

test('P-039 with lameduck/register, a WebSocket that is opened before the lifecycle is loaded is closed by the drain', async (t) => {
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

// A program with an HTTP/2 server. The server sends the body of an ordinary stream only when the program has received
// data on standard input. A CONNECT tunnel does not depend on standard input.
const streams = `
  const server = require('node:http2').createServer();
  const say = (line) => console.log(JSON.stringify(line));
  server.on('stream', (stream, { ':method': method }) => {
    stream.on('error', () => undefined);
    stream.respond();
    if (method === 'CONNECT') stream.resume().on('end', () => stream.end());
    else process.stdin.once('data', () => stream.end('whole')).unref();
    say({ msg: 'request' });
  });
  server.listen(0, '127.0.0.1', () => say({ msg: 'listening', port: server.address().port }));`;

async function startedWithStream(t: TestContext, open: (client: Http2Client) => Promise<Outcome>) {
  const command = started(t, streams, { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '0s' });
  const { port } = await command.line('listening', ({ msg }) => msg === 'listening');
  const client = new Http2Client(Number(port));
  t.after(() => {
    client.session.destroy();
  });
  const outcome = open(client);
  await command.line('request', ({ msg }) => msg === 'request');
  await command.line('HasBeenReady', ({ name }) => name === 'HasBeenReady');
  command.kill('SIGTERM');
  return { command, outcome };
}

test('P-053 with lameduck/register, the drain waits for an HTTP/2 stream that arrived right after listen()', async (t) => {
  const { command, outcome } = await startedWithStream(t, (client) => client.request('/'));
  await command.line('HTTPServerStoppedListening', ({ name }) => name === 'HTTPServerStoppedListening');
  command.child.stdin?.write('go on');
  assert.equal((await outcome).body, 'whole');
  const { exitCode, requests } = await command.finalLine();
  assert.deepEqual([exitCode, requests], [0, { answered: 1, refused: 0, aborted: 0, cut: 0 }]);
});

test('P-039, P-053 with lameduck/register, the drain ends a tunnel of HTTP/2 that was opened right after listen()', async (t) => {
  const { command } = await startedWithStream(t, async ({ session }) => {
    const tunnel = session.request({ ':method': 'CONNECT', ':authority': 'example.org:443' }, { endStream: false });
    tunnel.resume().on('error', () => undefined);
    tunnel.on('end', () => tunnel.end());
    await once(tunnel, 'close');
    return { status: undefined, headers: {}, body: '', isWhole: false, code: tunnel.rstCode };
  });
  const { exitCode, longRunningEnded } = await command.finalLine();
  assert.deepEqual([exitCode, longRunningEnded], [0, 1]);
});

const signal = "process.kill(process.pid, 'SIGTERM');";
for (const [when, code] of [
  ['in the callback of listen()', `server.listen(0, '127.0.0.1', () => { ${signal} });`],
  ['right after listen()', `server.listen(0); ${signal}`],
] as const) {
  test(`with lameduck/register, a process signal ${when} begins the shutdown`, async (t) => {
    const command = started(t, `const server = require('node:http').createServer(); setImmediate(() => { ${code} });`);
    assert.deepEqual(await command.exit, { code: 0, signal: null });
    assert.equal((await command.finalLine())['reason'], 'SIGTERM');
  });
}

test('with lameduck/register, if the program closes its only server in the callback of listen(), the default action of a later process signal ends the process', async (t) => {
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

test('with lameduck/register, if the program closes its first server before the code of the lifecycle is loaded, its second server gets the lifecycle', async (t) => {
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

test('with lameduck/register, fake timers of the program do not stop the shutdown', async (t) => {
  const code = `
    const { createServer } = require('node:http');
    require('node:test').mock.timers.enable();
    process.hrtime = () => [0, 0];
    performance.now = () => 0;
    createServer((request, response) => response.end()).listen(0, '127.0.0.1');`;
  // In a process that has loaded node:test, lameduck logs only in production.
  const env = { NODE_ENV: 'production', LAMEDUCK_SHUTDOWN_DELAY_DURATION: '100ms' };
  const command = started(t, code, env);
  await command.line('HasBeenReady', ({ name }) => name === 'HasBeenReady');
  command.kill('SIGTERM');
  assert.deepEqual(await command.exit, { code: 0, signal: null });
  const { phases } = await command.line('the final line', ({ msg }) => msg === 'shutdown ended');
  assert.ok((phases as { readonly AfterShutdownDelayDuration: number }).AfterShutdownDelayDuration >= 100);
});

test('with lameduck/register, the probe thread works in a program in which zone.js has replaced addEventListener()', async (t) => {
  // As zone.js does, the test program replaces addEventListener() with a function that wraps each listener. The wrapper
  // fails if Node passes a message to a listener of a MessagePort.
  const code = `
    const { prototype } = EventTarget;
    const { addEventListener } = prototype;
    globalThis.Zone = { __symbol__: (name) => '__zone_symbol__' + name };
    prototype.__zone_symbol__addEventListener = addEventListener;
    prototype.addEventListener = function (type, listener, options) {
      const wrapped = (event) => (event.type === type ? listener.call(this, event) : [][event.type].length);
      addEventListener.call(this, type, wrapped, options);
    };
    require('node:http').createServer().listen(0, '127.0.0.1');`;
  const command = started(t, code, { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '500ms' });
  await command.line('HasBeenReady', ({ name }) => name === 'HasBeenReady');
  command.kill('SIGTERM');
  assert.deepEqual(await command.exit, { code: 0, signal: null });
});
