// A gRPC health service that answers in every way but the right one, and ports on which something else is.
import assert from 'node:assert/strict';
import { createServer as createHttpServer } from 'node:http';
import { constants, createServer, type ServerHttp2Stream } from 'node:http2';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { askGrpc, type GrpcOutcome } from '../../src/cli/ask-grpc.ts';
import { certificate } from '../fixtures/certificate.ts';
import { frame, peer, settings, uint32 } from '../support/http2-by-rote.ts';
import { listen } from '../support/listening.ts';
import { freePort } from '../support/probe-client.ts';

type OnStream = (stream: ServerHttp2Stream) => void;

const serving = Buffer.from([0, 0, 0, 0, 2, 0x08, 0x01]);
const grpc = { ':status': 200, 'content-type': 'application/grpc' };

function ask(port: number, patience = 20_000, service = ''): Promise<GrpcOutcome> {
  return askGrpc({ port, hosts: ['127.0.0.1'], limit: performance.now() + patience, service });
}

/** said returns the outcome of a call to a server that answers each call with `onStream`. */
async function said(t: TestContext, onStream: OnStream, patience?: number): Promise<GrpcOutcome> {
  const server = createServer();
  server.on('sessionError', () => undefined);
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => undefined);
    onStream(stream);
  });
  return ask(await listen(t, server), patience);
}

/** answer is a call that ends as gRPC's do, unless told otherwise. */
function answer(body: Buffer | undefined, trailers: object = { 'grpc-status': '0' }, headers: object = grpc): OnStream {
  return (stream) => {
    stream.respond({ ...headers }, { waitForTrailers: true });
    stream.on('wantTrailers', () => {
      stream.sendTrailers({ ...trailers });
    });
    stream.end(body);
  };
}

/** only is an answer that is nothing but headers. */
function only(headers: object): OnStream {
  return (stream) => {
    stream.respond({ ...grpc, ...headers }, { endStream: true });
  };
}

// `:status: 200` and `content-type: application/grpc`, as HPACK writes them.
const head = [0x88, 0x0f, 0x10, 16, ...Buffer.from('application/grpc')];
const many = [...head, ...Array.from({ length: 1_000 }, () => [0, 1, 0x78, 1, 0x78]).flat()];
const endless = [
  frame('headers', head),
  ...Array.from({ length: 1_000 }, () => frame('continuation', [0, 1, 0x78, 1, 0x78])),
];

const malformed = 'the answer is malformed';

void describe('K-033 only SERVING passes, and every other answer says why it does not', { concurrency: 8 }, () => {
  const compressed = Buffer.from([1, ...serving.subarray(1)]);
  const { 'content-type': _, ...withoutType } = grpc;
  const cases: Readonly<Record<string, readonly [OnStream, string | undefined]>> = {
    SERVING: [answer(serving), undefined],
    'SERVING as application/grpc+proto': [
      answer(serving, { 'grpc-status': '0' }, { ...grpc, 'content-type': 'application/grpc+proto' }),
      undefined,
    ],
    UNKNOWN: [answer(Buffer.alloc(5)), 'UNKNOWN'],
    NOT_SERVING: [answer(Buffer.from([0, 0, 0, 0, 2, 8, 2])), 'NOT_SERVING'],
    SERVICE_UNKNOWN: [answer(Buffer.from([0, 0, 0, 0, 2, 8, 3])), 'SERVICE_UNKNOWN'],
    'an unknown service': [only({ 'grpc-status': '5', 'grpc-message': 'x' }), 'unknown service'],
    'no such service': [only({ 'grpc-status': '12' }), 'there is no health service'],
    'another code': [only({ 'grpc-status': '14' }), 'grpc-status 14'],
    'another code behind SERVING': [answer(serving, { 'grpc-status': '13' }), 'grpc-status 13'],
    'code 0 and no message': [answer(undefined), malformed],
    'code 0 in nothing but headers': [only({ 'grpc-status': '0' }), malformed],
    'no code': [answer(serving, { 'grpc-message': 'ok' }), malformed],
    'a code ahead of SERVING and none behind it': [
      answer(serving, { 'grpc-message': 'ok' }, { ...grpc, 'grpc-status': '0' }),
      malformed,
    ],
    'a code that is no number': [answer(serving, { 'grpc-status': 'OK' }), malformed],
    'no trailers': [
      (stream) => {
        stream.respond({ ...grpc });
        stream.end(serving);
      },
      malformed,
    ],
    'two messages': [answer(Buffer.concat([serving, serving])), malformed],
    'half a message': [answer(serving.subarray(0, 6)), malformed],
    'a compressed message': [answer(compressed), malformed],
    'no gRPC': [answer(serving, {}, { ':status': 200, 'content-type': 'text/html' }), 'what answers is no gRPC'],
    'grpc-web': [
      answer(serving, { 'grpc-status': '0' }, { ...grpc, 'content-type': 'application/grpc-web' }),
      'what answers is no gRPC',
    ],
    'no type': [answer(serving, { 'grpc-status': '0' }, withoutType), 'what answers is no gRPC'],
    'HTTP 404': [answer(serving, { 'grpc-status': '0' }, { ...grpc, ':status': 404 }), 'status 404'],
    'HTTP 204': [only({ ':status': 204 }), 'status 204'],
  };
  for (const [what, [onStream, failure]] of Object.entries(cases)) {
    test(what, async (t) => {
      assert.deepEqual(await said(t, onStream), { kind: 'said', failure });
    });
  }
});

void describe('K-033 a call that ends before its answer has failed', { concurrency: 8 }, () => {
  const begun = [settings, frame('headers', head, { flags: 4 }), frame('data', serving)];
  const goaway = (last: number, code: number): Buffer => frame('goaway', [...uint32(last), ...uint32(code)], { id: 0 });
  const reset = (code: number): Buffer => frame('reset', uint32(code));
  const trailers = frame('headers', [0, 11, ...Buffer.from('grpc-status'), 1, 0x30], { flags: 5 });
  for (const [what, frames, failure] of [
    ['that is refused', [settings, reset(7)], /^Stream closed with error code NGHTTP2_REFUSED_STREAM$/],
    ['that is reset with an error', [...begun, reset(2)], /^Stream closed with error code NGHTTP2_INTERNAL_ERROR$/],
    ['that is reset as cancelled', [...begun, reset(8)], /^it ended without an answer$/],
    ['that is reset without an error', [...begun, reset(0)], /^the answer is malformed$/],
    ['that is reset without an error or a word', [settings, reset(0)], /^it ended without an answer$/],
    ['that GOAWAY does not count', [settings, goaway(0, 0)], /REFUSED_STREAM$|^it ended without an answer$/],
    ['behind a GOAWAY with an error', [...begun, goaway(1, 11)], /^GOAWAY with error code 11$/],
    ['with headers behind SERVING', [...begun, frame('headers', head, { flags: 4 })], /PROTOCOL_ERROR$|^it ended/],
    ['with more headers than anybody sends', [settings, frame('headers', many, { flags: 5 })], /ENHANCE_YOUR_CALM$/],
    ['with headers without an end', [settings, ...endless], /CONTINUATION|[Ee]rror/],
    ['with a frame that is too long', [settings, Buffer.alloc(9, 0xff)], /[Ee]rror/],
  ] as const) {
    test(what, async (t) => {
      const port = await listen(t, peer(frames));
      const outcome = await ask(port);
      assert.equal(outcome.kind, 'said');
      assert.match(outcome.failure ?? 'it passed', failure);
    });
  }

  test('but one that is answered by rote has not', async (t) => {
    const port = await listen(t, peer([...begun, trailers]));
    assert.deepEqual(await ask(port), { kind: 'said', failure: undefined });
  });

  for (const [what, end] of [
    ['an end', (socket) => socket.end()],
    ['a reset', (socket) => socket.resetAndDestroy()],
  ] as readonly (readonly [string, (socket: Socket) => unknown])[]) {
    test(`of a connection that comes to ${what}`, async (t) => {
      for (const frames of [[settings], begun]) {
        const outcome = await ask(await listen(t, peer(frames, end)));
        assert.equal(outcome.kind, 'said');
        assert.match(outcome.failure ?? 'it passed', /^it ended without an answer$|ECONNRESET$/);
      }
    });
  }

  test('but one that is answered behind a GOAWAY that counts it has not', async (t) => {
    const outcome = await said(t, (stream) => {
      stream.session?.goaway(constants.NGHTTP2_NO_ERROR, stream.id);
      stream.session?.ping((): void => {
        answer(serving)(stream);
      });
    });
    assert.deepEqual(outcome, { kind: 'said', failure: undefined });
  });
});

void describe('an answer without an end', { concurrency: 4 }, () => {
  test('is cut behind 10 KiB', async (t) => {
    const outcome = await said(t, (stream) => {
      stream.respond({ ...grpc });
      const write = (): void => {
        while (!stream.destroyed && stream.write(Buffer.alloc(10_000)));
      };
      stream.on('drain', write);
      write();
    });
    assert.deepEqual(outcome, { kind: 'said', failure: 'the answer is too long' });
  });

  for (const [what, onStream] of Object.entries<OnStream>({
    'that never begins': () => undefined,
    'that has SERVING and no trailers': (stream) => {
      stream.respond({ ...grpc });
      stream.write(serving);
    },
    'of provisional headers': (stream) => {
      const more = setInterval(() => {
        stream.additionalHeaders({ ':status': 103 });
      }, 1);
      stream.on('close', () => {
        clearInterval(more);
      });
    },
  })) {
    test(`${what} is late`, async (t) => {
      const since = performance.now();
      assert.deepEqual(await said(t, onStream, 300), { kind: 'late' });
      assert.ok(performance.now() - since < 5_000);
    });
  }
});

void describe('what is no HTTP/2', { concurrency: 8 }, () => {
  const reason = 'what answers is no HTTP/2 in clear text';
  for (const [what, bytes] of Object.entries({
    'nothing, and an end': '',
    'another protocol': 'SSH-2.0-OpenSSH\r\n',
    'an answer of HTTP/1': 'HTTP/1.1 200 OK\r\ncontent-type: application/grpc\r\ngrpc-status: 0\r\n\r\n',
    'an alert of TLS': Buffer.from([0x15, 3, 1, 0, 2, 2, 0x46]),
    'frames that do not begin with settings': Buffer.from([0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]),
  })) {
    test(`${what} is nothing that answers`, async (t) => {
      const port = await listen(
        t,
        createTcpServer((socket) => socket.resume().end(bytes)),
      );
      assert.deepEqual(await ask(port), { kind: 'unreachable', reason });
    });
  }

  test('a server of HTTP/1 is nothing that answers', async (t) => {
    const port = await listen(
      t,
      createHttpServer((_request, response) => response.end()),
    );
    assert.deepEqual(await ask(port), { kind: 'unreachable', reason });
  });

  test('a port of TLS is nothing that answers', async (t) => {
    const server = createTlsServer({ ...certificate });
    server.on('tlsClientError', () => undefined);
    const outcome = await ask(await listen(t, server));
    assert.equal(outcome.kind, 'unreachable');
  });

  test('a reset and a port on which nothing listens are named', async (t) => {
    const port = await listen(
      t,
      createTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy())),
    );
    assert.deepEqual(await ask(port), { kind: 'unreachable', reason: 'read ECONNRESET' });
    const free = await freePort();
    const refused = `connect ECONNREFUSED 127.0.0.1:${String(free)}`;
    assert.deepEqual(await ask(free), { kind: 'unreachable', reason: refused });
  });

  test('K-036 a peer that says nothing at all is late, and its connection is ended', async (t) => {
    const closed = Promise.withResolvers<undefined>();
    const server = createTcpServer((socket) => {
      socket.resume().on('close', () => {
        closed.resolve(undefined);
      });
    });
    const port = await listen(t, server);
    const since = performance.now();
    assert.deepEqual(await ask(port, 300), { kind: 'late' });
    assert.ok(performance.now() - since < 5_000);
    await closed.promise;
  });
});
