// Tests WebSockets of the package `ws` that the program does not pass to lameduck. The drain closes these WebSockets
// one after another, with the close code 1001.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { it, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { WebSocket, WebSocketServer } from 'ws';
import { webSocketOn } from '../../../src/http/upgraded/websocket.ts';
import { isSecure } from '../../support/adapters.ts';
import {
  describeAdapters,
  serve,
  shutdownOf,
  type Client,
  type Scope,
  type ServeOptions,
} from '../../support/serving.ts';
import { pacedClock } from '../../support/paced-clock.ts';
import { until } from '../../support/until.ts';

const handshake =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n';

const reason = 'the server is shutting down';

// The close frame: opcode, length, code 1001, reason. A server does not mask it.
const closeFrame = `\x88${String.fromCharCode(2 + reason.length)}\x03\xe9${reason}`;

async function serveWebSockets(scope: Scope, options: Partial<ServeOptions> = {}) {
  const sockets: WebSocket[] = [];
  const serving = await serve(scope, {
    listener: () => undefined,
    prepare(server) {
      const accepting = new WebSocketServer({ server });
      accepting.on('connection', (socket) => {
        socket.on('message', (data) => {
          socket.send(data);
        });
        sockets.push(socket);
      });
    },
    ...options,
  });
  return { ...serving, sockets };
}

/** `opened()` requests a WebSocket with raw bytes, and reads the response. */
async function opened(client: Client): Promise<void> {
  client.get('/', handshake);
  assert.equal((await client.reader.next())?.status, 101);
}

async function received(client: Client): Promise<string> {
  let text = '';
  client.socket.on('data', (data: string) => (text += data));
  await client.ended();
  return text;
}

describeAdapters((adapter) => {
  it('P-039 a WebSocket is closed with 1001 and a reason, although the program does not pass it to lameduck', async (t) => {
    const serving = await serveWebSockets(t, { adapter, clock: pacedClock(1 / 10) });
    const scheme = isSecure(adapter) ? 'wss' : 'ws';
    const client = new WebSocket(`${scheme}://127.0.0.1:${String(serving.port)}`, { rejectUnauthorized: false });
    await once(client, 'open');
    const closed = once(client, 'close');
    assert.equal(serving.traffic.counts.longRunningRequests, 1);
    const record = await shutdownOf(serving).ended;
    const [code, said] = (await closed) as [number, Buffer];
    assert.deepEqual([code, String(said)], [1001, reason]);
    assert.deepEqual([record.exitCode, record.longRunningEnded], [0, 1]);
    assert.ok(record.durationMs < 900, 'the drain must not wait for a peer that has answered');
  });
});

test("P-039 a browser's WebSocket sees 1001 and a clean end", async (t) => {
  const serving = await serveWebSockets(t);
  const client = new globalThis.WebSocket(`ws://127.0.0.1:${String(serving.port)}`);
  await new Promise((resolve) => {
    client.onopen = resolve;
  });
  const closed = new Promise<CloseEvent>((resolve) => {
    client.onclose = resolve;
  });
  await shutdownOf(serving).ended;
  const { code, wasClean } = await closed;
  assert.deepEqual([code, wasClean], [1001, true]);
});

test('P-039 the close frame of a WebSocket is sent after all pending messages, and is the last frame', async (t) => {
  const serving = await serveWebSockets(t);
  const client = await serving.dial();
  await opened(client);
  const all = received(client);
  client.socket.pause();
  const [socket] = serving.sockets;
  socket?.send('x'.repeat(20_000_000));
  const { ended } = shutdownOf(serving);
  await until(() => socket?.readyState === WebSocket.CLOSING);
  // Once the client has received all bytes, the server gives it one second to end the connection. In this test the
  // client reads nothing for longer than one second.
  await setTimeout(1_300);
  client.socket.resume();
  // The client sends the required masked close frame, and waits for the server to end the connection.
  client.socket.write(Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe9]));
  const text = await all;
  assert.equal(text.length, 10 + 20_000_000 + closeFrame.length);
  assert.equal(text.slice(-closeFrame.length), closeFrame);
  assert.equal((await ended).exitCode, 0);
});

test('P-039 if the client does not answer the close frame of a WebSocket, the drain destroys the connection after a limited time', async (t) => {
  const serving = await serveWebSockets(t);
  const client = await serving.dial({ allowHalfOpen: true });
  await opened(client);
  const chatter = setInterval(() => client.socket.write(Buffer.from([0x8a, 0x80, 0, 0, 0, 0])), 20);
  t.after(() => {
    clearInterval(chatter);
  });
  const record = await shutdownOf(serving).ended;
  assert.deepEqual([record.exitCode, record.longRunningEnded], [0, 1]);
  assert.ok(
    record.durationMs >= 1_000 && record.durationMs < 3_000,
    `the shutdown took ${String(record.durationMs)} ms`,
  );
});

test("P-039 a WebSocket whose handler uses the AbortSignal is closed by the handler, with the handler's own code", async (t) => {
  const serving = await serveWebSockets(t, {
    prepare(server, { handle }) {
      new WebSocketServer({ server }).on('connection', (socket, request) => {
        handle.abortSignal(request).addEventListener('abort', () => {
          socket.close(4_000, 'moving');
        });
      });
    },
  });
  const client = new WebSocket(`ws://127.0.0.1:${String(serving.port)}`);
  await once(client, 'open');
  const closed = once(client, 'close');
  const { ended } = shutdownOf(serving);
  assert.deepEqual((await closed).map(String), ['4000', 'moving']);
  assert.equal((await ended).exitCode, 0);
});

test('P-039 a WebSocket whose handler uses the AbortSignal but does not close is closed at the end of the grace period for long-running requests', async (t) => {
  const serving = await serveWebSockets(t, {
    shutdownWatchTerminationGracePeriod: '200ms',
    prepare(server, { handle }) {
      new WebSocketServer({ server }).on('connection', (_socket, request) => handle.abortSignal(request));
    },
  });
  const client = new WebSocket(`ws://127.0.0.1:${String(serving.port)}`);
  await once(client, 'open');
  const closed = once(client, 'close');
  const { ended } = shutdownOf(serving);
  assert.equal((await closed)[0], 1001);
  assert.ok((await ended).durationMs >= 200);
});

test('A-140, P-039 WebSockets are closed one after another, 200 per second', async (t) => {
  const serving = await serveWebSockets(t);
  const told: number[] = [];
  const clients = Array.from({ length: 41 }, () => new WebSocket(`ws://127.0.0.1:${String(serving.port)}`));
  await Promise.all(clients.map(async (client) => once(client, 'open')));
  for (const socket of serving.sockets) {
    const close = socket.close.bind(socket);
    socket.close = (...said) => {
      told.push(performance.now());
      close(...said);
    };
  }
  const ends = clients.map(async (client) => {
    assert.equal((await once(client, 'close'))[0], 1001);
  });
  const { ended } = shutdownOf(serving);
  await serving.handle.signals.httpServerStoppedListening.signaled;
  const since = performance.now();
  await Promise.all(ends);
  // On a busy machine, connections may be closed later than planned. The last connection must never be closed before
  // its planned time.
  const took = Math.max(...told) - since;
  assert.ok(took >= 190, `40 intervals of 5 ms took ${took.toFixed(0)} ms`);
  assert.equal((await ended).longRunningEnded, 41);
});

test('P-027, P-039 a WebSocket that is still open at the deadline of the drain is named in the log', async (t) => {
  const serving = await serveWebSockets(t);
  const client = await serving.dial({ allowHalfOpen: true });
  client.get('/chat?secret', handshake);
  assert.equal((await client.reader.next())?.status, 101);
  const record = await serving.handle.shutdown('test', { budget: '3300ms' });
  assert.deepEqual(
    record.unfinished.map(({ method, route }) => [method, route]),
    [['GET', '/chat']],
  );
  assert.equal(record.exitCode, 80);
});

test('P-039 an object that resembles a WebSocket but cannot be closed gets a FIN, without an error', async (t) => {
  const serving = await serveWebSockets(t, {
    prepare(server) {
      server.on('upgrade', (_request, socket) => {
        const close = (): void => {
          throw new Error('not now');
        };
        Object.assign(socket, { [Symbol('websocket')]: { close, bufferedAmount: 0 } });
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      });
    },
  });
  const client = await serving.dial();
  await opened(client);
  const { ended } = shutdownOf(serving);
  await client.ended();
  assert.equal(client.reader.error, undefined);
  assert.equal((await ended).exitCode, 0);
});

test("lameduck ignores the property Symbol('websocket') of a socket, which the package ws sets, if its value is not a WebSocket", () => {
  const symbol = Symbol('websocket');
  const close = (): void => undefined;
  for (const left of [undefined, null, 'text', {}, { close }, { bufferedAmount: 0 }, { close: 1, bufferedAmount: 0 }]) {
    assert.equal(webSocketOn({ [symbol]: left }), undefined);
  }
  assert.equal(webSocketOn({ websocket: { close, bufferedAmount: 0 } }), undefined);
  const found = { close, bufferedAmount: 0 };
  assert.equal(webSocketOn({ [Symbol('websocket')]: 1, [symbol]: found }), found);
});
