import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { it, test } from 'node:test';
import { describeAdapters, serve, shutdownOf, type Client } from '../../support/serving.ts';
import { eventSource, openEventStream, watching } from '../../support/watching.ts';
import { until } from '../../support/until.ts';

const isWatch = ({ url = '' }: IncomingMessage): boolean => url.startsWith('/watch');

describeAdapters((adapter) => {
  it('A-131, P-034 an event stream gets a retry hint and its final chunk, and its connection stays intact', async (t) => {
    const serving = await serve(t, { adapter, listener: (_, response) => openEventStream(response) });
    const [client] = (await watching(serving, 1)) as [Client];
    const { ended } = shutdownOf(serving);
    const answer = await client.reader.next();
    assert.equal(answer?.status, 200);
    assert.match(answer.body, /data: first\n\n/);
    assert.match(answer.body, /retry: \d+\n\r\n0\r\n\r\n$/);
    const record = await ended;
    assert.deepEqual([record.exitCode, record.longRunningEnded, record.requests.cut], [0, 1, 0]);
  });

  it('A-007, A-112, A-143, P-033 a long-running request is counted separately, and delays the drain no longer than its grace period', async (t) => {
    const serving = await serve(t, {
      adapter,
      functions: { longRunning: isWatch },
      shutdownWatchTerminationGracePeriod: '300ms',
      listener: (_, response) => {
        response.write('[');
      },
    });
    await watching(serving, 2, '/watch');
    assert.deepEqual(serving.traffic.counts, { connections: 2, requestsInFlight: 0, longRunningRequests: 2 });
    const record = await shutdownOf(serving).ended;
    assert.deepEqual([record.longRunningEnded, record.exitCode], [2, 0]);
  });

  it('P-028, P-035 the AbortSignal of a long poll is aborted in the drain, and its handler sends the response', async (t) => {
    const serving = await serve(t, {
      adapter,
      functions: { longRunning: isWatch },
      listener: (request, response) => {
        const signal = serving.handle.abortSignal(request);
        signal.addEventListener('abort', () => response.writeHead(204).end());
      },
    });
    const client = await serving.dial();
    client.get('/watch');
    await until(() => serving.traffic.counts.longRunningRequests === 1);
    const { ended } = shutdownOf(serving);
    const answer = await client.reader.next();
    assert.deepEqual([answer?.status, answer?.isClose], [204, true]);
    assert.equal((await ended).exitCode, 0);
  });

  it('P-035 a long poll whose handler writes nothing gets a response at the end of the grace period for long-running requests, and later writes do not throw', async (t) => {
    const late: unknown[] = [];
    const serving = await serve(t, {
      adapter,
      functions: { longRunning: isWatch },
      shutdownWatchTerminationGracePeriod: '200ms',
      listener: (_, response) => {
        response.setHeader('Content-Encoding', 'gzip');
        response.on('close', () => {
          response.setHeader('X-Late', 'yes');
          late.push(response.write('late', (error) => late.push(error?.message)));
          response.end('later');
        });
      },
    });
    const client = await serving.dial();
    client.get('/watch');
    await until(() => serving.traffic.counts.longRunningRequests === 1);
    const { ended } = shutdownOf(serving);
    const answer = await client.reader.next();
    assert.deepEqual([answer?.status, answer?.isClose], [503, true]);
    assert.match(answer?.head ?? '', /retry-after: 1\r\n/i);
    assert.doesNotMatch(answer?.head ?? '', /gzip/);
    assert.equal((await ended).exitCode, 0);
    assert.deepEqual(late, [
      false,
      'lameduck has already answered this request, so later writes of its handler are dropped',
    ]);
  });

  it('A-156, P-040 an upgraded socket gets a FIN when the drain reaches it, and is destroyed if the client does not answer the FIN', async (t) => {
    const serving = await serve(t, {
      adapter,
      listener: () => undefined,
      prepare: (server) => {
        server.on('upgrade', (_request, socket) => {
          socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
        });
      },
    });
    const client = await serving.dial({ allowHalfOpen: true });
    client.get('/', 'Connection: Upgrade\r\nUpgrade: echo\r\n');
    await until(() => client.reader.received > 0);
    assert.equal(serving.traffic.counts.longRunningRequests, 1);
    const { ended } = shutdownOf(serving);
    await client.ended();
    const record = await ended;
    assert.deepEqual([record.exitCode, record.longRunningEnded], [0, 1]);
  });

  it('P-036, P-037 event streams end one after another, and the drain does not end a stream that has ended by itself', async (t) => {
    const responses: ServerResponse[] = [];
    const ends: number[] = [];
    const serving = await serve(t, {
      adapter,
      listener: (_, response) => {
        openEventStream(response);
        response.on('prefinish', () => ends.push(performance.now()));
        responses.push(response);
      },
    });
    const clients = await Promise.all(Array.from({ length: 40 }, async () => serving.dial()));
    for (const client of clients) client.get('/events', eventSource);
    await until(() => responses.length === 40);
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.notAcceptingNewRequest.signaled;
    responses.at(-1)?.end();
    await serving.handle.signals.httpServerStoppedListening.signaled;
    const since = performance.now();
    for (const { reader } of clients) assert.equal((await reader.next())?.status, 200);
    // The drain ends one stream every 5 ms. From HTTPServerStoppedListening to the end of the last stream, 38 such
    // intervals must pass, even if a busy machine delays the first streams.
    const took = Math.max(...ends) - since;
    assert.ok(took >= 180, `38 intervals of 5 ms took ${took.toFixed(0)} ms`);
    const record = await ended;
    assert.deepEqual([record.exitCode, record.longRunningEnded], [0, 40]);
  });

  it('P-038 an event stream that begins during the drain is served, and the drain ends it like all other event streams', async (t) => {
    let finish: (() => void) | undefined;
    const serving = await serve(t, {
      adapter,
      listener: (request, response) => {
        if (request.url === '/slow') finish = () => response.end('done');
        else openEventStream(response);
      },
    });
    const [slow, late] = [await serving.dial(), await serving.dial()];
    slow.get('/slow');
    await until(() => finish !== undefined);
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.httpServerStoppedListening.signaled;
    late.get('/events', eventSource);
    const answer = await late.reader.next();
    assert.deepEqual([answer?.status, answer?.isClose], [200, true]);
    finish?.();
    assert.equal((await slow.reader.next())?.body, 'done');
    assert.equal((await ended).exitCode, 0);
  });
});

test('A-135, P-035 if shutdownWatchTerminationGracePeriod is 0, the handler of a long-running request still has time to respond after its AbortSignal is aborted', async (t) => {
  const serving = await serve(t, {
    functions: { longRunning: isWatch },
    shutdownWatchTerminationGracePeriod: 0,
    listener: (request, response) => {
      serving.handle.abortSignal(request).addEventListener('abort', () => {
        setTimeout(() => response.writeHead(204).end(), 50);
      });
    },
  });
  const client = await serving.dial();
  client.get('/watch');
  await until(() => serving.traffic.counts.longRunningRequests === 1);
  const { ended } = shutdownOf(serving);
  assert.equal((await client.reader.next())?.status, 204);
  await ended;
});

test('P-041 an upgrade on an open connection is rejected after the server has stopped listening', async (t) => {
  let finish: (() => void) | undefined;
  const serving = await serve(t, {
    listener: (_, response) => {
      finish = () => response.end('done');
    },
    prepare: (server) => {
      server.on('upgrade', () => {
        assert.fail('the rejected upgrade must never reach the program');
      });
    },
  });
  const [slow, kept] = [await serving.dial(), await serving.dial()];
  slow.get('/');
  await until(() => finish !== undefined);
  const { ended } = shutdownOf(serving);
  await serving.handle.signals.httpServerStoppedListening.signaled;
  kept.get('/', 'Connection: Upgrade\r\nUpgrade: echo\r\n');
  const answer = await kept.reader.next();
  assert.deepEqual([answer?.status, answer?.isClose], [503, true]);
  finish?.();
  assert.equal((await ended).exitCode, 0);
});

test('P-021 a stream whose client disconnects during the shutdown counts as ended', async (t) => {
  const serving = await serve(t, {
    shutdownDelayDuration: '200ms',
    listener: (_, response) => {
      openEventStream(response);
    },
  });
  const [client] = (await watching(serving, 2)) as [Client];
  const { ended } = shutdownOf(serving);
  client.reset();
  assert.equal((await ended).longRunningEnded, 2);
});

test('A-140, A-141 long-running requests end one after another, 200 per second', async (t) => {
  const ends: number[] = [];
  const serving = await serve(t, {
    listener: (_, response) => {
      openEventStream(response);
      response.on('prefinish', () => ends.push(performance.now()));
    },
  });
  const clients = await watching(serving, 41);
  const { ended } = shutdownOf(serving);
  await serving.handle.signals.httpServerStoppedListening.signaled;
  const since = performance.now();
  for (const { reader } of clients) await reader.next();
  const took = Math.max(...ends) - since;
  assert.ok(took >= 190, `40 intervals of 5 ms took ${took.toFixed(0)} ms`);
  assert.equal((await ended).longRunningEnded, 41);
});

test('P-025 a long-running download with a Content-Length ends when it is complete, not before', async (t) => {
  let response: ServerResponse | undefined;
  const serving = await serve(t, {
    functions: { longRunning: isWatch },
    shutdownWatchTerminationGracePeriod: '50ms',
    listener: (_, given) => {
      response = given;
      given.writeHead(200, { 'Content-Length': 10 });
      given.write('01234');
    },
  });
  const [client] = (await watching(serving, 1, '/watch')) as [Client];
  const { ended } = shutdownOf(serving);
  await until(() => serving.traffic.requests.inFlight.counts.ending === 1);
  await serving.handle.signals.httpServerStoppedListening.signaled;
  response?.end('56789');
  assert.equal((await client.reader.next())?.body, '0123456789');
  assert.equal((await ended).exitCode, 0);
});

test('an error in the longRunning or route function is ignored, and the request is served', async (t) => {
  const fail = (): never => {
    throw new Error('oops');
  };
  const serving = await serve(t, {
    functions: { longRunning: fail, route: fail },
    listener: (_, response) => response.end('done'),
  });
  const client = await serving.dial();
  client.get('/');
  assert.equal((await client.reader.next())?.status, 200);
  assert.deepEqual(serving.traffic.unfinished(), []);
});
