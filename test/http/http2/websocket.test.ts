// Tests WebSockets over HTTP/2 (RFC 8441). The package `ws` accepts an HTTP/2 stream in place of a socket.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { it, type TestContext } from 'node:test';
import { WebSocket } from 'ws';
import type { Clock } from '../../../src/clock.ts';
import { pacedClock } from '../../support/paced-clock.ts';
import { describeKinds, noProbesOn, serve, streamOf } from '../../support/serving-http2.ts';
import { until } from '../../support/until.ts';

const reason = 'the server is shutting down';

// The close frame: opcode, length, code 1001, reason. A server does not mask it.
const closeFrame = `\x88${String.fromCharCode(2 + reason.length)}\x03\xe9${reason}`;

/**
 * StreamWebSocket is a WebSocket on a stream that exists already. `ws` has setSocket, but its types do not declare it.
 */
interface StreamWebSocket extends WebSocket {
  setSocket(stream: Duplex, head: Buffer, options: object): void;
}
type UnconnectedWebSocket = new (address: null, protocols: undefined, options: object) => StreamWebSocket;

function webSocketOver(stream: Duplex, isServer: boolean): WebSocket {
  const socket = new (WebSocket as unknown as UnconnectedWebSocket)(null, undefined, {});
  Object.assign(socket, { _isServer: isServer });
  // `ws` calls the method setNoDelay of its socket. An HTTP/2 stream does not have this method, so the test adds it.
  Object.assign(stream, { setNoDelay: () => stream });
  socket.setSocket(stream, Buffer.alloc(0), { maxPayload: 0, skipUTF8Validation: false });
  socket.on('error', () => undefined);
  return socket;
}

describeKinds((kind) => {
  const open = async (t: TestContext, clock?: Clock) => {
    const accept = (request: object): void => {
      const stream = streamOf(request);
      stream.respond({ ':status': 200 });
      webSocketOver(stream, true).on('message', function (data) {
        this.send(data);
      });
    };
    const serving = await serve(t, kind, {
      ...(clock && { clock }),
      shutdownWatchTerminationGracePeriod: '1s',
      listener: (_path, _answer, request) => {
        accept(request);
      },
    });
    const { server } = serving;
    server.updateSettings({ enableConnectProtocol: true });
    if (kind.isCompatible) server.on('connect', accept);
    const client = await serving.dial();
    await until(() => client.session.remoteSettings.enableConnectProtocol === true);
    const stream = client.session.request({ ':method': 'CONNECT', ':protocol': 'websocket', ':path': '/' });
    stream.on('error', () => undefined);
    await once(stream, 'response');
    return { serving, stream };
  };

  it(
    'P-078 an extended CONNECT (RFC 8441) to a probe path is not counted as in flight',
    { skip: noProbesOn(kind) },
    async (t) => {
      const { serving } = await open(t);
      const { session } = await serving.dial();
      await until(() => session.remoteSettings.enableConnectProtocol === true);
      const probe = session.request({ ':method': 'CONNECT', ':protocol': 'websocket', ':path': '/livez' });
      probe.on('error', () => undefined).resume();
      await once(probe, 'response');
      assert.deepEqual([serving.traffic.counts.requestsInFlight, serving.traffic.counts.longRunningRequests], [0, 1]);
    },
  );

  it('P-032, P-039 a WebSocket over HTTP/2 is closed with 1001 and a reason', async (t) => {
    const { serving, stream } = await open(t, pacedClock(1 / 10));
    const socket = webSocketOver(stream, false);
    socket.send('hello');
    assert.equal(String((await once(socket, 'message'))[0]), 'hello');
    assert.equal(serving.traffic.counts.longRunningRequests, 1);
    const closed = once(socket, 'close') as Promise<[number, Buffer]>;
    const record = await serving.handle.shutdown('test');
    const [code, said] = await closed;
    assert.deepEqual([code, String(said)], [1001, reason]);
    assert.deepEqual([record.exitCode, record.longRunningEnded], [0, 1]);
    assert.ok(record.durationMs < 900, `the shutdown waited for ${String(record.durationMs)} ms`);
  });

  it('P-039 a WebSocket over HTTP/2 whose peer does not respond ends when the grace period for long-running requests ends', async (t) => {
    const { serving, stream } = await open(t);
    let received = '';
    stream.setEncoding('latin1').on('data', (data: string) => (received += data));
    const { exitCode, longRunningEnded, durationMs } = await serving.handle.shutdown('test');
    assert.equal(received, closeFrame);
    assert.deepEqual([exitCode, longRunningEnded], [0, 1]);
    assert.ok(durationMs < 3_000, String(durationMs));
  });
});
