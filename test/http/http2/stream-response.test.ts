// Tests which HTTP/2 responses are complete and which are incomplete, in cases that look the same in Node's events.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { frame, preface, question, secured, settings, uint32 } from '../../support/http2-by-rote.ts';
import { describeKinds, serve, streamOf } from '../../support/serving-http2.ts';
import { until } from '../../support/until.ts';

// How long a test waits for more frames, in milliseconds. The server waits for a shorter time than this after a
// complete response.
const longer = 1_200;

// The length of each response, in bytes. If the client does not read, such a response does not fit into the buffers
// between the server and the client.
const size = 500_000;

// INTERNAL_ERROR of RFC 9113, section 7. Every client treats this code as an error: see broken-off.test.ts.
const internalError = 2;

describeKinds((kind) => {
  for (const isLongRunning of [false, true]) {
    const what = isLongRunning ? 'a long-running' : 'an ordinary';
    it(`P-025 a file that its client reads slowly arrives complete as the response to ${what} request`, async (t) => {
      const folder = await mkdtemp(join(tmpdir(), 'lameduck-'));
      t.after(() => rm(folder, { recursive: true }));
      const file = join(folder, 'file');
      await writeFile(file, 'x'.repeat(size));
      const serving = await serve(t, kind, {
        shutdownWatchTerminationGracePeriod: '300ms',
        functions: { longRunning: () => isLongRunning },
        listener: (_path, _answer, request) => {
          streamOf(request).respondWithFile(file);
        },
      });
      const client = await serving.dial();
      const stream = client.session.request({ ':path': '/' });
      await once(stream, 'response');
      const ended = serving.handle.shutdown('test');
      await serving.handle.signals.httpServerStoppedListening.signaled;
      await setTimeout(longer);
      assert.equal((await text(stream)).length, size);
      const { exitCode, requests, longRunningEnded } = await ended;
      assert.deepEqual([exitCode, requests.answered, longRunningEnded], isLongRunning ? [0, 0, 1] : [0, 1, 0]);
    });
  }

  const skip = kind.isCompatible && 'the compatibility API sends its trailers at once';
  it(
    'P-025 trailers that the program sends during the drain still reach the client at the end of the response',
    { skip },
    async (t) => {
      let send: (() => void) | undefined;
      const serving = await serve(t, kind, {
        listener: (_path, _answer, request) => {
          const stream = streamOf(request);
          stream.respond({ ':status': 200 }, { waitForTrailers: true });
          stream.on('wantTrailers', () => {
            send = () => {
              stream.sendTrailers({ checksum: '1' });
            };
          });
          stream.end('body');
        },
      });
      const client = await serving.dial();
      const stream = client.session.request({ ':path': '/' });
      const body = text(stream);
      const trailers = once(stream, 'trailers') as Promise<[{ checksum?: string }]>;
      await until(() => send !== undefined);
      const ended = serving.handle.shutdown('test');
      await serving.handle.signals.httpServerStoppedListening.signaled;
      await setTimeout(longer);
      send?.();
      assert.equal((await trailers)[0].checksum, '1');
      assert.equal(await body, 'body');
      assert.equal((await ended).exitCode, 0);
    },
  );

  it('P-032 the drain waits for the response to a HEAD request', async (t) => {
    let answerIt: (() => void) | undefined;
    const serving = await serve(t, kind, {
      listener: (_, answer) => {
        answerIt = () => {
          answer.respond(200);
          if (kind.isCompatible) answer.end();
        };
      },
    });
    const client = await serving.dial();
    const outcome = client.request('/', { ':method': 'HEAD' });
    await until(() => answerIt !== undefined);
    const ended = serving.handle.shutdown('test');
    await serving.handle.signals.httpServerStoppedListening.signaled;
    await setTimeout(longer);
    answerIt?.();
    assert.equal((await outcome).status, 200);
    const { exitCode, requests } = await ended;
    assert.deepEqual([exitCode, requests.answered], [0, 1]);
  });

  it('A-171, P-035 a HEAD request gets a response from lameduck if its handler sends none', async (t) => {
    const serving = await serve(t, kind, {
      requestTimeout: '100ms',
      shutdownWatchTerminationGracePeriod: '100ms',
      functions: { longRunning: ({ url }) => url === '/watch' },
      listener: () => undefined,
    });
    const client = await serving.dial();
    assert.equal((await client.request('/', { ':method': 'HEAD' })).status, 504);
    const watch = client.request('/watch', { ':method': 'HEAD' });
    await until(() => serving.traffic.counts.longRunningRequests === 1);
    const ended = serving.handle.shutdown('test');
    assert.equal((await watch).status, 503);
    assert.equal((await ended).exitCode, 0);
  });

  for (const end of ['requestTimeout', 'the end of the budget'] as const) {
    it(`A-172, P-025 if ${end} cuts an HTTP/2 response, its stream ends with INTERNAL_ERROR, so that the client knows that the response is incomplete`, async (t) => {
      const serving = await serve(t, kind, {
        ...(end === 'requestTimeout' && { requestTimeout: '100ms' }),
        listener: (_, answer) => {
          answer.respond(200);
          answer.write('half');
        },
      });
      const client = await serving.dial();
      let hasBegun = false;
      const outcome = client.request('/', {}, () => (hasBegun = true));
      await until(() => hasBegun);
      if (end === 'the end of the budget') await serving.handle.shutdown('test', { budget: 1 });
      const { body, code } = await outcome;
      assert.deepEqual([body, code], ['half', internalError]);
    });
  }

  for (const phase of ['before', 'in the middle of'] as const) {
    it(`P-021, P-028 a request does not count as answered if its client closes the stream with NO_ERROR ${phase} the response`, async (t) => {
      let signal: AbortSignal | undefined;
      const serving = await serve(t, kind, {
        shutdownDelayDuration: '300ms',
        listener: (_path, answer, request) => {
          if (phase !== 'before') {
            answer.respond(200);
            answer.write('half');
          }
          signal = serving.handle.abortSignal(request as never);
        },
      });
      const client = await serving.dial();
      const ended = serving.handle.shutdown('test');
      const stream = client.session.request({ ':path': '/' }).resume();
      await until(() => signal !== undefined);
      stream.close();
      await until(() => serving.traffic.counts.requestsInFlight === 0);
      assert.equal(signal?.aborted, true);
      const { exitCode, requests } = await ended;
      assert.deepEqual([exitCode, requests.answered, requests.cut], [0, 0, 0]);
    });
  }

  it('P-021 a client that cancels a response before it has read the rest does not delay the drain', async (t) => {
    const serving = await serve(t, kind, {
      listener: (_, answer) => {
        answer.respond(200);
        answer.end('x'.repeat(size));
      },
    });
    const client = await serving.dial();
    const stream = client.session.request({ ':path': '/' });
    await once(stream, 'response');
    stream.close();
    const { exitCode, requests, durationMs } = await serving.handle.shutdown('test');
    // This HTTP/2 client cancels a response that it has not read to the end. A server in Node 26 then ends the HTTP/2
    // stream as if the client had read the whole response. lameduck counts this request as answered.
    const [major = 0] = process.versions.node.split('.').map(Number);
    assert.deepEqual([exitCode, requests.answered, requests.cut], [0, major < 26 ? 0 : 1, 0]);
    assert.ok(durationMs < 3_000, String(durationMs));
  });

  it('P-021, P-028 if a client has received the complete response and then cancels its upload, the request counts as answered', async (t) => {
    let signal: AbortSignal | undefined;
    const serving = await serve(t, kind, {
      shutdownDelayDuration: '300ms',
      listener: (_path, answer, request) => {
        signal = serving.handle.abortSignal(request as never);
        streamOf(request).on('error', () => undefined);
        (request as Readable).resume();
        answer.respond(413);
        answer.end('too much');
      },
    });
    const raw = connect(serving.port, '127.0.0.1');
    const socket = kind.isSecure ? secured(raw) : raw;
    t.after(() => socket.destroy());
    let received = '';
    socket.setEncoding('latin1').on('data', (data: string) => (received += data));
    await once(socket, kind.isSecure ? 'secureConnect' : 'connect');
    const ended = serving.handle.shutdown('test');
    socket.write(Buffer.concat([preface, settings, frame('headers', question, { flags: 4 })]));
    await until(() => received.includes('too much'));
    assert.equal(serving.traffic.counts.requestsInFlight, 1);
    const cancel = 8;
    socket.write(frame('reset', uint32(cancel)));
    await until(() => serving.traffic.counts.requestsInFlight === 0);
    assert.equal(signal?.aborted, false);
    assert.equal((await ended).requests.answered, 1);
  });

  for (const end of ['ends', 'goes on'] as const) {
    it(`P-026 if the handler responds before it has read the whole upload, and the upload then ${end}, this upload delays the drain by less than five seconds`, async (t) => {
      const serving = await serve(t, kind, {
        listener: (_, answer, request) => {
          const readable = request as Readable;
          readable.once('data', () => {
            readable.pause();
            answer.respond(413);
            answer.end('too much');
          });
        },
      });
      const client = await serving.dial();
      const stream = client.session.request({ ':path': '/', ':method': 'POST' }, { endStream: false });
      const body = text(stream);
      stream.write(Buffer.alloc(20_000));
      await once(stream, 'response');
      if (end === 'ends') stream.end(Buffer.alloc(20_000));
      const record = await serving.handle.shutdown('test');
      assert.deepEqual([record.exitCode, record.requests.cut], [0, 0]);
      assert.ok(record.durationMs < 5_000, String(record.durationMs));
      assert.equal(await body, 'too much');
    });
  }

  it('P-021, P-025 a request with a complete response does not count as cut, even if its client continues to upload', async (t) => {
    const serving = await serve(t, kind, {
      listener: (_path, answer, request) => {
        (request as Readable).resume();
        answer.respond(413);
        answer.end('too much');
      },
    });
    const client = await serving.dial();
    const stream = client.session.request({ ':path': '/', ':method': 'POST' }, { endStream: false });
    stream.on('error', () => undefined);
    let body = '';
    stream.on('data', (data: Buffer) => (body += String(data)));
    await until(() => body === 'too much');
    const { exitCode, requests } = await serving.handle.shutdown('test', { budget: 1 });
    assert.deepEqual([exitCode, requests.answered, requests.cut], [0, 1, 0]);
  });

  for (const what of ['reads', 'does not read'] as const) {
    it(`A-171, A-174 if the handler ${what} an endless upload, the upload no longer counts against maxRequestsInflight after the server has sent 504`, async (t) => {
      const serving = await serve(t, kind, {
        maxRequestsInflight: 1,
        requestTimeout: '100ms',
        listener: (path, answer, request) => {
          const readable = request as Readable;
          if (path === '/upload') {
            readable.on('data', () => what === 'does not read' && readable.pause());
            return;
          }
          answer.respond(200);
          answer.end();
        },
      });
      const client = await serving.dial();
      const stream = client.session.request({ ':path': '/upload', ':method': 'POST' }, { endStream: false });
      stream.write(Buffer.alloc(50_000));
      const [headers] = (await once(stream, 'response')) as [{ ':status'?: number }];
      assert.equal(headers[':status'], 504);
      assert.match(await text(stream), /in time/);
      assert.equal(stream.rstCode, 0);
      await until(() => serving.traffic.counts.requestsInFlight === 0);
      assert.equal((await client.request('/')).status, 200);
    });
  }
}, 4);
