import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { serve, shutdownOf, type Client } from '../support/serving.ts';
import { openEventStream, watching } from '../support/watching.ts';
import { until } from '../support/until.ts';

test('P-034 without eventStreamRetry a stream ends with its final chunk alone', async (t) => {
  const serving = await serve(t, { eventStreamRetry: 0, listener: (_, response) => openEventStream(response) });
  const [client] = (await watching(serving, 1)) as [Client];
  const { ended } = shutdownOf(serving);
  assert.equal((await client.reader.next())?.body, 'd\r\ndata: first\n\n\r\n0\r\n\r\n');
  await ended;
});

test('A-130, P-034 an event stream ends behind the event that is being written', async (t) => {
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
  await until(() => response?.req !== undefined && serving.traffic.requests.longRunning.isTold(response));
  response?.write('and half\n\n');
  const body = (await client.reader.next())?.body.replaceAll(/\r\n[0-9a-f]+\r\n/g, '') ?? '';
  assert.match(body, /data: half and half\n\nretry: \d+\n\n/);
  assert.equal((await ended).exitCode, 0);
});

test('P-034 a hint never makes an event of what was half written before the shutdown', async (t) => {
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

test('P-034 a comment that keeps a stream alive is no half event, and the stream ends in its turn', async (t) => {
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
  assert.ok(performance.now() - since < 5_000, 'not at the end of the grace period');
  assert.equal((await ended).exitCode, 0);
});

test('P-034 a stream that is encoded by its handler gets no hint', async (t) => {
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

test('P-034 an event stream whose handler asked for its signal gets the hint, and ends as the handler wants', async (t) => {
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

test('P-034 a stream that its handler has ended, or has promised the length of, gets no hint', async (t) => {
  const serving = await serve(t, {
    listener: ({ url }, response) => {
      if (url === '/length') {
        response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Content-Length': 9 });
        response.write('data: ');
        setTimeout(() => response.end('1\n\n'), 200);
      } else {
        openEventStream(response);
        response.end(`data: ${'x'.repeat(20_000_000)}\n\n`);
      }
    },
  });
  const slow = await serving.dial();
  slow.get('/ended');
  slow.socket.pause();
  const [length] = (await watching(serving, 1, '/length')) as [Client];
  const { ended } = shutdownOf(serving);
  assert.equal((await length.reader.next())?.body, 'data: 1\n\n');
  slow.socket.resume();
  assert.doesNotMatch((await slow.reader.next())?.body.slice(-100) ?? '', /retry/);
  assert.equal((await ended).exitCode, 0);
});
