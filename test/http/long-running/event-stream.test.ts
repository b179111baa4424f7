import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, it, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { describeAdapters, serve, shutdownOf, type Client } from '../../support/serving.ts';
import { eventSource, openEventStream, watching } from '../../support/watching.ts';
import { until } from '../../support/until.ts';

describe('the drain ends event streams, by default after a retry field', { concurrency: 4 }, () => {
  test('P-034 with eventStreamRetry 0, the drain ends an event stream with its final chunk, and adds no retry field before this chunk', async (t) => {
    const serving = await serve(t, { eventStreamRetry: 0, listener: (_, response) => openEventStream(response) });
    const [client] = (await watching(serving, 1)) as [Client];
    const { ended } = shutdownOf(serving);
    assert.equal((await client.reader.next())?.body, 'd\r\ndata: first\n\n\r\n0\r\n\r\n');
    await ended;
  });

  test('A-130, P-034 an event stream ends after the event that is being written', async (t) => {
    let response: ServerResponse | undefined;
    const serving = await serve(t, {
      shutdownDelayDuration: '100ms',
      listener: (_, given) => {
        openEventStream(given);
        response = given;
      },
    });
    const [client] = (await watching(serving, 1)) as [Client];
    const { ended } = shutdownOf(serving);
    response?.write('data: half ');
    await serving.handle.signals.httpServerStoppedListening.signaled;
    await until(() => serving.traffic.requests.inFlight.counts.ending === 1);
    response?.write('and half\n\n');
    const body = (await client.reader.next())?.body.replaceAll(/\r\n[0-9a-f]+\r\n/g, '') ?? '';
    assert.match(body, /data: half and half\n\nretry: \d+\n\n/);
    assert.equal((await ended).exitCode, 0);
  });

  test('P-034 if the program has written only a part of an event, lameduck adds the retry field without completing this event', async (t) => {
    const serving = await serve(t, {
      listener: (_, response) => {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        response.write('data: half');
      },
    });
    const [client] = (await watching(serving, 1)) as [Client];
    const { ended } = shutdownOf(serving);
    const body = (await client.reader.next())?.body ?? '';
    assert.doesNotMatch(body, /\n\n/, 'an event ends with an empty line');
    assert.equal((await ended).exitCode, 0);
  });

  test('P-034 if the program has just written a keep-alive comment to an event stream, the drain ends this event stream at once, without waiting for the end of an event', async (t) => {
    let response: ServerResponse | undefined;
    const serving = await serve(t, {
      shutdownDelayDuration: '50ms',
      listener: (_, given) => {
        openEventStream(given);
        response = given;
      },
    });
    const [client] = (await watching(serving, 1)) as [Client];
    const since = performance.now();
    const { ended } = shutdownOf(serving);
    response?.write('data: whole\n\n:\n');
    await client.reader.next();
    assert.ok(
      performance.now() - since < 5_000,
      'the drain must not wait until the end of the grace period for long-running requests',
    );
    assert.equal((await ended).exitCode, 0);
  });

  test('P-034 an event stream that its handler compresses gets no retry hint', async (t) => {
    const serving = await serve(t, {
      listener: (_, response) => {
        response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Content-Encoding': 'x-own' });
        response.write('first');
      },
    });
    const [client] = (await watching(serving, 1)) as [Client];
    const { ended } = shutdownOf(serving);
    assert.equal((await client.reader.next())?.body, '5\r\nfirst\r\n0\r\n\r\n');
    await ended;
  });

  for (const coding of ['none', 'identity']) {
    test(`P-034 an event stream with Content-Encoding ${coding} gets the retry hint`, async (t) => {
      const serving = await serve(t, {
        listener: (_, response) => {
          response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Content-Encoding': coding });
          response.write('data: whole\n\n');
        },
      });
      const [client] = (await watching(serving, 1)) as [Client];
      const { ended } = shutdownOf(serving);
      assert.match((await client.reader.next())?.body ?? '', /retry: \d+\n/);
      await ended;
    });
  }

  test('P-034 an event stream whose handler uses the AbortSignal gets the retry hint, and the handler ends the stream', async (t) => {
    const serving = await serve(t, {
      listener: (request, response) => {
        openEventStream(response);
        serving.handle.abortSignal(request).addEventListener('abort', () => response.end('event: bye\ndata:\n\n'));
      },
    });
    const [client] = (await watching(serving, 1)) as [Client];
    const { ended } = shutdownOf(serving);
    assert.match((await client.reader.next())?.body ?? '', /retry: \d+\n[^]*event: bye\ndata:\n\n\r\n0\r\n\r\n$/);
    assert.equal((await ended).exitCode, 0);
  });

  test('P-034 an event stream that has ended, or that has a Content-Length, gets no retry hint', async (t) => {
    const serving = await serve(t, {
      listener: ({ url }, response) => {
        if (url === '/length') {
          response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Content-Length': 9 });
          response.write('data: ');
          void setTimeout(200).then(() => response.end('1\n\n'));
        } else {
          openEventStream(response);
          response.end(`data: ${'x'.repeat(8_000_000)}\n\n`);
        }
      },
    });
    const slow = await serving.dial();
    slow.get('/ended', eventSource);
    slow.socket.pause();
    const [length] = (await watching(serving, 1, '/length')) as [Client];
    const { ended } = shutdownOf(serving);
    assert.equal((await length.reader.next())?.body, 'data: 1\n\n');
    slow.socket.resume();
    assert.doesNotMatch((await slow.reader.next())?.body.slice(-100) ?? '', /retry/);
    assert.equal((await ended).exitCode, 0);
  });
});

describeAdapters((adapter) => {
  for (const kind of ['a generator', 'a stream'] as const) {
    it(`P-034 if ${kind} is piped into an event stream, and the drain ends the event stream, the pipeline fails with ERR_STREAM_PREMATURE_CLOSE, and the client gets the final chunk`, async (t) => {
      const events: string[] = [];
      async function* ticks(): AsyncGenerator<string> {
        try {
          for (;;) {
            yield 'data: tick\n\n';
            await setTimeout(10);
          }
        } finally {
          events.push('ended');
        }
      }
      const serving = await serve(t, {
        adapter,
        listener: (_, response) => {
          response.writeHead(200, { 'Content-Type': 'text/event-stream' });
          const source = kind === 'a stream' ? Readable.from(ticks()) : ticks();
          pipeline(source, response).catch((error: unknown) =>
            events.push((error as NodeJS.ErrnoException).code ?? ''),
          );
        },
      });
      const [client] = (await watching(serving, 1)) as [Client];
      const { ended } = shutdownOf(serving);
      const body = (await client.reader.next())?.body ?? '';
      assert.match(body, /retry: \d+\n[^]*\r\n0\r\n\r\n$/);
      await until(() => events.length === 2);
      assert.deepEqual(events.sort(), ['ERR_STREAM_PREMATURE_CLOSE', 'ended'].sort());
      assert.equal(client.reader.error, undefined);
      assert.equal((await ended).exitCode, 0);
    });
  }
});

test('P-034 an event stream that is fed by pipe() gets its retry hint and its final chunk, and nothing throws', async (t) => {
  const source = new PassThrough();
  const serving = await serve(t, {
    listener: (_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      source.pipe(response);
    },
  });
  const writing = setInterval(() => source.write('data: tick\n\n'), 10);
  t.after(() => {
    clearInterval(writing);
  });
  const [client] = (await watching(serving, 1)) as [Client];
  const { ended } = shutdownOf(serving);
  assert.match((await client.reader.next())?.body ?? '', /retry: \d+\n[^]*\r\n0\r\n\r\n$/);
  assert.equal((await ended).exitCode, 0);
});

test('P-034 a slow client receives the end of an event stream, even if the program pipes an endless source into the stream', async (t) => {
  async function* loud(): AsyncGenerator<string> {
    for (;;) {
      yield `data: ${'x'.repeat(4_000_000)}\n\n`;
      await setTimeout(10);
    }
  }
  const codes: unknown[] = [];
  const serving = await serve(t, {
    listener: (_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      pipeline(loud(), response).catch((error: unknown) => codes.push((error as NodeJS.ErrnoException).code));
    },
  });
  const client = await serving.dial();
  let [tail, wholeLength] = ['', 0];
  client.socket.removeAllListeners('data').on('data', (text: string) => {
    wholeLength += text.length;
    tail = (tail + text).slice(-100);
  });
  client.get('/events', eventSource);
  await until(() => wholeLength > 0);
  client.socket.pause();
  const { ended } = shutdownOf(serving);
  await until(() => codes.length === 1);
  client.socket.resume();
  await until(() => tail.endsWith('\r\n0\r\n\r\n'));
  assert.equal((await ended).exitCode, 0);
});
