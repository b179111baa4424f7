// Tests a gRPC health check against services that respond incorrectly in every way, and against ports of other
// protocols.
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
import { reservePort } from '../support/reserved-port.ts';

type OnStream = (stream: ServerHttp2Stream) => void;

const serving = Buffer.from([0, 0, 0, 0, 2, 0x08, 0x01]);
const grpc = { ':status': 200, 'content-type': 'application/grpc' };

function ask(port: number, patience = 20_000, service = ''): Promise<GrpcOutcome> {
  return askGrpc({ port, hosts: ['127.0.0.1'], limit: performance.now() + patience, service });
}

/**
 * Runs a gRPC health check against a server that handles each call with `onStream`, and returns the outcome of the
 * check.
 */
async function said(t: TestContext, onStream: OnStream, patience?: number): Promise<GrpcOutcome> {
  const server = createServer();
  server.on('sessionError', () => undefined);
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => undefined);
    onStream(stream);
  });
  return ask(await listen(t, server), patience);
}

/**
 * `answer()` returns a stream listener that responds with a body and trailers, as gRPC does. By default `grpc-status`
 * is 0.
 */
function answer(body: Buffer | undefined, trailers: object = { 'grpc-status': '0' }, headers: object = grpc): OnStream {
  return (stream) => {
    stream.respond({ ...headers }, { waitForTrailers: true });
    stream.on('wantTrailers', () => {
      stream.sendTrailers({ ...trailers });
    });
    stream.end(body);
  };
}

/** `only()` returns a stream listener that responds with headers and no body. */
function only(headers: object): OnStream {
  return (stream) => {
    stream.respond({ ...grpc, ...headers }, { endStream: true });
  };
}

// The headers `:status: 200` and `content-type: application/grpc` in HPACK, the header encoding of HTTP/2.
const head = [0x88, 0x0f, 0x10, 16, ...Buffer.from('application/grpc')];
const many = [...head, ...Array.from({ length: 1_000 }, () => [0, 1, 0x78, 1, 0x78]).flat()];
const endless = [
  frame('headers', head),
  ...Array.from({ length: 1_000 }, () => frame('continuation', [0, 1, 0x78, 1, 0x78])),
];

const malformed = 'the answer is malformed';

void describe(
  'K-033 a gRPC health check passes only with SERVING, and fails with a reason for any other response',
  { concurrency: 8 },
  () => {
    const compressed = Buffer.from([1, ...serving.subarray(1)]);
    const { 'content-type': _, ...withoutType } = grpc;
    const cases: Readonly<Record<string, readonly [OnStream, string | undefined]>> = {
      'the status SERVING': [answer(serving), undefined],
      'SERVING with the content type application/grpc+proto': [
        answer(serving, { 'grpc-status': '0' }, { ...grpc, 'content-type': 'application/grpc+proto' }),
        undefined,
      ],
      'the status UNKNOWN': [answer(Buffer.alloc(5)), 'UNKNOWN'],
      'the status NOT_SERVING': [answer(Buffer.from([0, 0, 0, 0, 2, 8, 2])), 'NOT_SERVING'],
      'the status SERVICE_UNKNOWN': [answer(Buffer.from([0, 0, 0, 0, 2, 8, 3])), 'SERVICE_UNKNOWN'],
      'the gRPC code 5, NOT_FOUND': [only({ 'grpc-status': '5', 'grpc-message': 'x' }), 'unknown service'],
      'the gRPC code 12, UNIMPLEMENTED': [only({ 'grpc-status': '12' }), 'there is no health service'],
      'another gRPC code': [only({ 'grpc-status': '14' }), 'grpc-status 14'],
      'another gRPC code after SERVING': [answer(serving, { 'grpc-status': '13' }), 'grpc-status 13'],
      'the gRPC code 0 and no message': [answer(undefined), malformed],
      'the gRPC code 0 and only headers': [only({ 'grpc-status': '0' }), malformed],
      'no gRPC code': [answer(serving, { 'grpc-message': 'ok' }), malformed],
      'a gRPC code before the message SERVING and no code after the message': [
        answer(serving, { 'grpc-message': 'ok' }, { ...grpc, 'grpc-status': '0' }),
        malformed,
      ],
      'a gRPC code that is not a number': [answer(serving, { 'grpc-status': 'OK' }), malformed],
      'no trailers': [
        (stream) => {
          stream.respond({ ...grpc });
          stream.end(serving);
        },
        malformed,
      ],
      'two messages': [answer(Buffer.concat([serving, serving])), malformed],
      'an incomplete message': [answer(serving.subarray(0, 6)), malformed],
      'a compressed message': [answer(compressed), malformed],
      'a content type other than that of gRPC': [
        answer(serving, {}, { ':status': 200, 'content-type': 'text/html' }),
        'the peer does not speak gRPC',
      ],
      'the content type of grpc-web': [
        answer(serving, { 'grpc-status': '0' }, { ...grpc, 'content-type': 'application/grpc-web' }),
        'the peer does not speak gRPC',
      ],
      'no content type': [answer(serving, { 'grpc-status': '0' }, withoutType), 'the peer does not speak gRPC'],
      'the HTTP status 404': [answer(serving, { 'grpc-status': '0' }, { ...grpc, ':status': 404 }), 'status 404'],
      'the HTTP status 204': [only({ ':status': 204 }), 'status 204'],
    };
    for (const [what, [onStream, failure]] of Object.entries(cases)) {
      const outcome = failure === undefined ? 'passes' : 'fails with the reason';
      test(`a gRPC health check of a server ${outcome} if the response of the server has ${what}`, async (t) => {
        assert.deepEqual(await said(t, onStream), { kind: 'said', failure });
      });
    }
  },
);

void describe(
  'K-033 a gRPC health check fails if its call ends before the response is complete',
  { concurrency: 8 },
  () => {
    const begun = [settings, frame('headers', head, { flags: 4 }), frame('data', serving)];
    const goaway = (last: number, code: number): Buffer =>
      frame('goaway', [...uint32(last), ...uint32(code)], { id: 0 });
    const reset = (code: number): Buffer => frame('reset', uint32(code));
    const trailers = frame('headers', [0, 11, ...Buffer.from('grpc-status'), 1, 0x30], { flags: 5 });
    for (const [what, frames, failure] of [
      ['is refused', [settings, reset(7)], /^Stream closed with error code NGHTTP2_REFUSED_STREAM$/],
      ['is reset with an error', [...begun, reset(2)], /^Stream closed with error code NGHTTP2_INTERNAL_ERROR$/],
      ['is reset as cancelled', [...begun, reset(8)], /^the stream ended without an answer$/],
      ['is reset without an error after SERVING', [...begun, reset(0)], /^the answer is malformed$/],
      ['is reset without an error or a response', [settings, reset(0)], /^the stream ended without an answer$/],
      [
        'has a greater id than the last stream in the GOAWAY',
        [settings, goaway(0, 0)],
        /REFUSED_STREAM$|^the stream ended without an answer$/,
      ],
      ['is followed by a GOAWAY with an error', [...begun, goaway(1, 11)], /^GOAWAY with error code 11$/],
      ['has headers after SERVING', [...begun, frame('headers', head, { flags: 4 })], /PROTOCOL_ERROR$|^it ended/],
      [
        'has more headers than HTTP/2 allows by default',
        [settings, frame('headers', many, { flags: 5 })],
        /ENHANCE_YOUR_CALM$/,
      ],
      ['has headers that never end', [settings, ...endless], /CONTINUATION|[Ee]rror/],
      ['has a frame that is too long', [settings, Buffer.alloc(9, 0xff)], /[Ee]rror/],
    ] as const) {
      test(`a gRPC health check fails if the response stream is invalid or incomplete: the stream ${what}`, async (t) => {
        const port = await listen(t, peer(frames));
        const outcome = await ask(port);
        assert.equal(outcome.kind, 'said');
        assert.match(outcome.failure ?? 'it passed', failure);
      });
    }

    test('a gRPC health check passes for a valid response that the test sends as raw HTTP/2 frames', async (t) => {
      const port = await listen(t, peer([...begun, trailers]));
      assert.deepEqual(await ask(port), { kind: 'said', failure: undefined });
    });

    for (const [what, end] of [
      ['ends', (socket) => socket.end()],
      ['is reset', (socket) => socket.resetAndDestroy()],
    ] as readonly (readonly [string, (socket: Socket) => unknown])[]) {
      test(`a gRPC health check fails if its connection ${what} before the response`, async (t) => {
        for (const frames of [[settings], begun]) {
          const outcome = await ask(await listen(t, peer(frames, end)));
          assert.equal(outcome.kind, 'said');
          assert.match(outcome.failure ?? 'it passed', /^the stream ended without an answer$|ECONNRESET$/);
        }
      });
    }

    test('a gRPC health check passes even if the server sends a GOAWAY before the response, because the GOAWAY names the stream of the call as the last stream', async (t) => {
      const outcome = await said(t, (stream) => {
        stream.session?.goaway(constants.NGHTTP2_NO_ERROR, stream.id);
        stream.session?.ping((): void => {
          answer(serving)(stream);
        });
      });
      assert.deepEqual(outcome, { kind: 'said', failure: undefined });
    });
  },
);

void describe('a gRPC health check fails if the server never ends its response', { concurrency: 4 }, () => {
  test('a gRPC health check stops reading after 10 KiB of a response', async (t) => {
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
    'that consists only of 1xx headers': (stream) => {
      const more = setInterval(() => {
        stream.additionalHeaders({ ':status': 103 });
      }, 1);
      stream.on('close', () => {
        clearInterval(more);
      });
    },
  })) {
    test(`a gRPC health check times out if it gets a response ${what}, so that the response never ends`, async (t) => {
      const since = performance.now();
      assert.deepEqual(await said(t, onStream, 300), { kind: 'late' });
      assert.ok(performance.now() - since < 5_000);
    });
  }
});

void describe('a gRPC health check fails if the peer does not speak HTTP/2', { concurrency: 8 }, () => {
  const reason = 'the peer does not speak HTTP/2 without TLS';
  for (const [what, bytes] of Object.entries({
    empty: '',
    'another protocol': 'SSH-2.0-OpenSSH\r\n',
    'an HTTP/1 response': 'HTTP/1.1 200 OK\r\ncontent-type: application/grpc\r\ngrpc-status: 0\r\n\r\n',
    'a TLS alert': Buffer.from([0x15, 3, 1, 0, 2, 2, 0x46]),
    'HTTP/2 frames without the settings frame': Buffer.from([0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]),
  })) {
    test(`a gRPC health check reports a peer without HTTP/2 if the response is not valid HTTP/2: ${what}`, async (t) => {
      const port = await listen(
        t,
        createTcpServer((socket) => socket.resume().end(bytes)),
      );
      assert.deepEqual(await ask(port), { kind: 'unreachable', reason });
    });
  }

  test('a gRPC health check reports an HTTP/1 server as a peer without HTTP/2', async (t) => {
    const port = await listen(
      t,
      createHttpServer((_request, response) => response.end()),
    );
    assert.deepEqual(await ask(port), { kind: 'unreachable', reason });
  });

  test('a gRPC health check reports a TLS port as unreachable', async (t) => {
    const server = createTlsServer({ ...certificate });
    server.on('tlsClientError', () => undefined);
    const outcome = await ask(await listen(t, server));
    assert.equal(outcome.kind, 'unreachable');
  });

  test('a gRPC health check names the error of a connection that is reset, and of a port on which nothing listens', async (t) => {
    const port = await listen(
      t,
      createTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy())),
    );
    assert.deepEqual(await ask(port), { kind: 'unreachable', reason: 'read ECONNRESET' });
    const free = await reservePort();
    const refused = `connect ECONNREFUSED 127.0.0.1:${String(free)}`;
    assert.deepEqual(await ask(free), { kind: 'unreachable', reason: refused });
  });

  test('K-036 a gRPC health check that gets no response times out and closes its connection', async (t) => {
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
