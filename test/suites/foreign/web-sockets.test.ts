// Tests WebSockets of @fastify/websocket and of Socket.IO, with their own clients, while their server shuts down.
// `.ci/web-sockets` runs this file. PROGRAMS is the folder in which the packages and the packed package are installed.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { test, type TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { disposed } from '../../support/disposed.ts';
import { reservePort } from '../../support/reserved-port.ts';
import { ProcessUnderTest } from '../../support/process-under-test.ts';
import { until } from '../../support/until.ts';

const root = process.env['PROGRAMS'] ?? '';
const { io } = createRequire(join(root, 'package.json'))('socket.io-client') as { readonly io: Connect };

// How many WebSockets the test opens. lameduck closes 200 WebSockets per second, so it takes half a second to close
// them all. Without the limit of 200 per second, this would take a few hundredths of a second. test/http tests the
// exact rate.
const many = 101;
const least = 200;

/**
 * Details is the second argument of the event `disconnect` of a Socket.IO client. Its field `context` contains the
 * close event of the WebSocket, or the response to the long poll.
 */
interface Details {
  readonly context?: { readonly code?: number; readonly status?: number };
}

/** SocketIo declares the part of the Socket.IO client that the tests use. */
interface SocketIo {
  readonly connected: boolean;
  readonly io: { readonly engine: { readonly transport: { readonly name: string } } };
  on(event: 'disconnect', listener: (reason: string, details?: Details) => void): void;
  emitWithAck(event: 'echo', text: string): Promise<string>;
  disconnect(): void;
}
type Connect = (url: string, options: { readonly transports: readonly string[]; readonly forceNew: true }) => SocketIo;

async function start(
  t: TestContext,
  program: string,
  port: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<ProcessUnderTest> {
  const path = relative(join(import.meta.dirname, '..', '..', 'fixtures'), join(root, program));
  const running = disposed(t, new ProcessUnderTest(path, { ...environment, PORT: String(port) }));
  await running.signaled('HasBeenReady');
  return running;
}

function assertPaced(moments: readonly number[]): void {
  const took = Math.max(...moments) - Math.min(...moments);
  assert.ok(took >= least, `${String(moments.length)} clients were closed within ${took.toFixed(0)} ms`);
}

for (const order of ['first', 'last']) {
  for (const how of ['SIGTERM', 'app.close()']) {
    test(`P-039 if a program with @fastify/websocket registers lameduck ${order}, its shutdown by ${how} closes the WebSockets one after another, with the code 1001`, async (t) => {
      const port = await reservePort();
      const program = await start(t, 'fastify-websocket.mjs', port, { ORDER: order });
      const clients = Array.from({ length: many }, () => new WebSocket(`ws://127.0.0.1:${String(port)}`));
      await Promise.all(
        clients.map(async (client) => {
          await once(client, 'open');
          client.send('echo');
          await once(client, 'message');
        }),
      );
      const ends = clients.map(async (client) => {
        const [code, reason] = (await once(client, 'close')) as [number, Buffer];
        return { code, reason: String(reason), at: performance.now() };
      });
      if (how === 'SIGTERM') program.kill('SIGTERM');
      else assert.equal(await (await fetch(`http://127.0.0.1:${String(port)}/close`)).text(), 'closing');
      const ended = await Promise.all(ends);
      for (const { code, reason } of ended) {
        assert.deepEqual([code, reason], [1001, 'the server is shutting down']);
      }
      assertPaced(ended.map(({ at }) => at));
      assert.deepEqual(await program.exit, { code: 0, signal: null }, program.output);
      const { longRunningEnded, unfinished, hookFailures } = await program.finalLine();
      assert.deepEqual([longRunningEnded, unfinished, hookFailures], [many, [], []]);
    });
  }
}

const inCode = { program: 'socket-io.mjs', environment: {} };
const preloaded = {
  program: 'socket-io-alone.mjs',
  environment: {
    NODE_OPTIONS: `--import=${join(root, 'node_modules', 'lameduck', 'dist', 'register.cjs')}`,
    LAMEDUCK_PROBE_PORT: 'off',
    LAMEDUCK_LONG_RUNNING_PATHS: '/socket.io',
  },
};

for (const [transports, count, expected, { program: file, environment }] of [
  [['websocket'], many, ['transport close', 1001], inCode],
  [['polling', 'websocket'], 5, ['transport close', 1001], inCode],
  // A Socket.IO client that uses only long polling gets the response to its pending poll at the end of the grace
  // period.
  [['polling'], 5, ['transport error', 503], inCode],
  [['polling'], 5, ['transport error', 503], preloaded],
] as const) {
  test(`P-035, P-039 when the Socket.IO server in ${file} shuts down, a client with the transports ${transports.join(', then ')} is disconnected with ${expected.join(' ')}, and then reconnects on its own to the next server on the same port`, async (t) => {
    const port = await reservePort();
    const program = await start(t, file, port, {
      ...environment,
      LAMEDUCK_SHUTDOWN_WATCH_TERMINATION_GRACE_PERIOD: '1s',
    });
    const left: { readonly why: unknown; readonly at: number }[] = [];
    const clients = Array.from({ length: count }, () => {
      const client = io(`http://127.0.0.1:${String(port)}`, { transports, forceNew: true });
      client.on('disconnect', (reason, { context } = {}) => {
        left.push({ why: [reason, context?.code ?? context?.status], at: performance.now() });
      });
      t.after(() => {
        client.disconnect();
      });
      return client;
    });
    const areThere = (): boolean =>
      clients.every(({ connected, io: { engine } }) => connected && engine.transport.name === transports.at(-1));
    await until(areThere);
    for (const client of clients) assert.equal(await client.emitWithAck('echo', 'here'), 'here');
    program.kill('SIGTERM');
    await until(() => left.length === count);
    assert.deepEqual(await program.exit, { code: 0, signal: null }, program.output);
    for (const { why } of left) assert.deepEqual(why, expected);
    if (count === many) assertPaced(left.map(({ at }) => at));
    const { unfinished, heldBy } = await program.finalLine();
    assert.deepEqual([unfinished, heldBy], [[], []]);
    await start(t, file, port, environment);
    await until(areThere);
    for (const client of clients) assert.equal(await client.emitWithAck('echo', 'again'), 'again');
    assert.equal(left.length, count, 'each client must disconnect once');
  });
}
