// Tests that a client sees an error if lameduck breaks off a response. The client must never mistake the received part
// for the whole response.
import assert from 'node:assert/strict';
import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps } from 'node:https';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { it } from 'node:test';
import { Agent, fetch, H2CClient, type Dispatcher } from 'undici';
import { isSecure } from '../../support/adapters.ts';
import { describeAdapters, serve as serveHttp1 } from '../../support/serving.ts';
import { describeKinds, serve as serveHttp2 } from '../../support/serving-http2.ts';
import { until } from '../../support/until.ts';

const ends = ['requestTimeout', 'the end of the budget'] as const;
const readers = ['for await', 'pipeline', 'fetch'] as const;
type Reader = (typeof readers)[number];

// The length of a response in bytes. It is longer than the buffers between the server and a client that does not read.
const size = 4_000_000;

/**
 * `read()` reads a response to its end. It resolves with `whole`, or with the reader's error if the response was cut.
 */
async function read(reader: Reader, response: Readable): Promise<unknown> {
  try {
    if (reader === 'pipeline') await pipeline(response, new PassThrough().resume());
    else for await (const _ of response) continue;
    return 'whole';
  } catch (error) {
    return error;
  }
}

async function readFetched(url: string, dispatcher: Dispatcher): Promise<unknown> {
  try {
    await (await fetch(url, { dispatcher })).text();
    return 'whole';
  } catch (error) {
    return error;
  }
}

describeKinds((kind) => {
  for (const end of ends) {
    for (const reader of readers) {
      it(`A-172, P-025 if ${end} cuts an HTTP/2 response, a client that reads this response with ${reader} gets an error`, async (t) => {
        let hasBegun = false;
        const serving = await serveHttp2(t, kind, {
          ...(end === 'requestTimeout' && { requestTimeout: '100ms' }),
          listener: (_, answer) => {
            answer.respond(200);
            answer.write('half');
            hasBegun = true;
          },
        });
        const scheme = kind.isSecure ? 'https' : 'http';
        const origin = `${scheme}://127.0.0.1:${String(serving.port)}`;
        let outcome: Promise<unknown>;
        if (reader === 'fetch') {
          const dispatcher = kind.isSecure
            ? new Agent({ allowH2: true, connect: { rejectUnauthorized: false } })
            : new H2CClient(origin);
          t.after(() => dispatcher.destroy());
          outcome = readFetched(origin, dispatcher);
        } else {
          const client = await serving.dial();
          outcome = read(reader, client.session.request({ ':path': '/' }));
        }
        await until(() => hasBegun);
        if (end !== 'requestTimeout') void serving.handle.shutdown('test', { budget: 300 });
        assert.ok((await outcome) instanceof Error);
      });
    }
  }

  it('P-025 if a response is cut at the deadline of the drain, an HTTP/2 client that reads this response slowly gets an error', async (t) => {
    const serving = await serveHttp2(t, kind, {
      listener: (_, answer) => {
        answer.respond(200);
        answer.end('x'.repeat(size));
      },
    });
    const client = await serving.dial();
    const stream = client.session.request({ ':path': '/' });
    await once(stream, 'response');
    const record = await serving.handle.shutdown('test', { budget: 1 });
    assert.equal(record.exitCode, 80);
    await assert.rejects(text(stream), { code: 'ERR_HTTP2_STREAM_ERROR', message: /INTERNAL_ERROR/ });
  });

  it('P-021, P-025 if the server cuts an upload after the HTTP/2 client has received the whole response, the client gets no error', async (t) => {
    const serving = await serveHttp2(t, kind, {
      listener: (_path, answer, request) => {
        (request as Readable).resume();
        answer.respond(413);
        answer.end('too much');
      },
    });
    const client = await serving.dial();
    const stream = client.session.request({ ':path': '/', ':method': 'POST' }, { endStream: false });
    const body = text(stream);
    await once(stream, 'response');
    await serving.handle.shutdown('test', { budget: 1 });
    assert.equal(await body, 'too much');
    assert.equal(stream.rstCode, 0);
  });
});

/** readHttp1 reads an HTTP/1.1 response with Node's client. */
async function readHttp1(reader: Reader, url: string): Promise<unknown> {
  const get = url.startsWith('https:') ? getHttps : getHttp;
  const request = get(url, { rejectUnauthorized: false, agent: false });
  // In this test, a response without a length ends when its connection ends. If the connection is reset, Node emits
  // `error` on the `ClientRequest`, and then ends the response.
  let failure: unknown;
  request.on('error', (error) => (failure = error));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const outcome = await read(reader, response);
  return failure ?? outcome;
}

interface Framing {
  readonly title: string;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The HTTP clients of this test that must report an error if the response is cut. `fetch` is left out if only the end
   * of the connection marks the end of the response. In this case, undici does not report a reset.
   */
  readonly readers: readonly Reader[];
}

const framings: readonly Framing[] = [
  { title: 'in chunks', headers: { 'Transfer-Encoding': 'chunked' }, readers },
  { title: 'of a known length', headers: { 'Content-Length': '8' }, readers },
  { title: 'that the end of the connection delimits', headers: {}, readers: ['for await', 'pipeline'] },
];

describeAdapters((adapter) => {
  for (const end of ends) {
    for (const framing of framings) {
      const isReset = !framing.readers.includes('fetch');
      it(`A-172, P-025 if ${end} cuts a response ${framing.title}, the client gets an error`, async (t) => {
        let begun = 0;
        const serving = await serveHttp1(t, {
          adapter,
          ...(end === 'requestTimeout' && { requestTimeout: '300ms' }),
          listener: (_, response) => {
            response.removeHeader('Transfer-Encoding');
            response.writeHead(200, framing.headers).write('half');
            begun++;
          },
        });
        const url = `${isSecure(adapter) ? 'https' : 'http'}://127.0.0.1:${String(serving.port)}/`;
        const dispatcher = new Agent({ allowH2: false, connect: { rejectUnauthorized: false } });
        t.after(() => dispatcher.destroy());
        const outcomes = framing.readers.map(async (reader) =>
          reader === 'fetch' ? readFetched(url, dispatcher) : readHttp1(reader, url),
        );
        const raw = await serving.dial();
        raw.get('/');
        await until(() => begun === outcomes.length + 1 && raw.reader.received > 0);
        if (end !== 'requestTimeout') void serving.handle.shutdown('test', { budget: 300 });
        for (const outcome of await Promise.all(outcomes)) assert.ok(outcome instanceof Error, String(outcome));
        await raw.ended();
        assert.equal(raw.reader.error, isReset ? 'ECONNRESET' : undefined);
      });
    }
  }
});
