// Tests which event streams the drain ends, and which it waits for.
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, it, test } from 'node:test';
import { formatDuration } from '../../../src/settings/duration.ts';
import { describeAdapters, serve, shutdownOf } from '../../support/serving.ts';
import { describeKinds, serve as serveHttp2 } from '../../support/serving-http2.ts';
import { until } from '../../support/until.ts';
import { eventSource, openEventStream, watching } from '../../support/watching.ts';

/** A POST request by which a client of an LLM or of an MCP server opens an event stream. */
const post =
  'POST /chat HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\nContent-Length: 0\r\n\r\n';

/** `streaming()` returns a listener whose event streams end when the test ends them. */
function streaming() {
  const responses: ServerResponse[] = [];
  return {
    responses,
    listener: (_: IncomingMessage, response: ServerResponse) => {
      openEventStream(response);
      responses.push(response);
    },
  };
}

describeAdapters((adapter) => {
  it('P-033, P-034 the drain waits for an event stream over POST, and its client gets the whole response', async (t) => {
    const { listener, responses } = streaming();
    const serving = await serve(t, { adapter, shutdownWatchTerminationGracePeriod: '0s', listener });
    const client = await serving.dial();
    client.send(post);
    await until(() => client.reader.received > 0);
    assert.deepEqual(serving.traffic.counts, { connections: 1, requestsInFlight: 1, longRunningRequests: 0 });
    const { ended } = shutdownOf(serving);
    await serving.handle.signals.httpServerStoppedListening.signaled;
    responses[0]?.write('data: second\n\n');
    responses[0]?.end('data: [DONE]\n\n');
    const body = (await client.reader.next())?.body ?? '';
    assert.match(body, /data: first\n\n[^]*data: second\n\n[^]*data: \[DONE\]\n\n\r\n0\r\n\r\n$/);
    assert.doesNotMatch(body, /retry/);
    const { exitCode, requests, longRunningEnded } = await ended;
    assert.deepEqual([exitCode, requests.answered, longRunningEnded], [0, 1, 0]);
  });

  it('P-025, P-027 if the drain waits for an event stream that never ends, the stream is cut at the deadline of the drain, and the log names the setting eventStreams', async (t) => {
    const { listener } = streaming();
    const serving = await serve(t, { adapter, listener });
    const client = await serving.dial();
    client.send(post);
    await until(() => client.reader.received > 0);
    const { exitCode } = await serving.handle.shutdown('test', { budget: 100 });
    assert.equal(exitCode, 80);
    assert.equal(await client.reader.next(), undefined, 'the cut response must not have a last chunk');
    const [{ method, route, isEventStream } = {}] = serving.unfinished;
    assert.deepEqual([method, route, isEventStream], ['POST', '/chat', true]);
  });
});

interface Case {
  readonly what: string;
  readonly request: string;
  /**
   * The values of the option `eventStreams` with which the drain ends the event stream of `request`. With all other
   * values, the drain waits until the program ends this event stream.
   */
  readonly watchedBy: readonly string[];
}

const get = 'GET /events HTTP/1.1\r\nHost: localhost\r\n';
const cases: readonly Case[] = [
  { what: 'a GET of an EventSource', request: `${get}${eventSource}\r\n`, watchedBy: ['reconnecting', 'all'] },
  {
    what: 'a GET whose Accept has capital letters',
    request: `${get}accept: Text/Event-Stream \r\n\r\n`,
    watchedBy: ['reconnecting', 'all'],
  },
  { what: 'a GET without Accept', request: `${get}\r\n`, watchedBy: ['all'] },
  { what: 'a GET that accepts anything', request: `${get}Accept: */*\r\n\r\n`, watchedBy: ['all'] },
  {
    what: 'a GET that accepts JSON, too',
    request: `${get}Accept: text/event-stream, application/json\r\n\r\n`,
    watchedBy: ['all'],
  },
  { what: 'a POST', request: post, watchedBy: ['all'] },
];

describe('the value of eventStreams says which event streams the drain ends', { concurrency: true }, () => {
  for (const eventStreams of ['reconnecting', 'all', 'none'] as const) {
    for (const { what, request, watchedBy } of cases) {
      const isWatch = watchedBy.includes(eventStreams);
      test(`P-033 with eventStreams ${eventStreams} the drain ${isWatch ? 'ends' : 'waits for'} the event stream of ${what}`, async (t) => {
        const { listener, responses } = streaming();
        const serving = await serve(t, { eventStreams, listener });
        const client = await serving.dial();
        client.send(request);
        await until(() => client.reader.received > 0);
        const { ended } = shutdownOf(serving);
        await until(() => serving.traffic.counts.longRunningRequests === (isWatch ? 1 : 0));
        if (!isWatch) {
          await serving.handle.signals.httpServerStoppedListening.signaled;
          responses[0]?.end();
        }
        const body = (await client.reader.next())?.body ?? '';
        assert.equal(/retry: \d+/.test(body), isWatch);
        assert.deepEqual([(await ended).exitCode, (await ended).longRunningEnded], [0, isWatch ? 1 : 0]);
      });
    }
  }

  test('P-033, P-034 the drain ends an event stream that the longRunning function names, whatever the value of eventStreams', async (t) => {
    const { listener } = streaming();
    const serving = await serve(t, { eventStreams: 'none', functions: { longRunning: () => true }, listener });
    const [client] = await watching(serving, 1);
    const { ended } = shutdownOf(serving);
    assert.match((await client?.reader.next())?.body ?? '', /retry: \d+/);
    assert.deepEqual([(await ended).exitCode, (await ended).longRunningEnded], [0, 1]);
  });

  test('A-172, A-174 an event stream that the drain waits for counts against maxRequestsInflight and is limited by requestTimeout', async (t) => {
    const { listener } = streaming();
    const timeout = 300;
    const serving = await serve(t, { maxRequestsInflight: 1, requestTimeout: formatDuration(timeout), listener });
    const [client, second] = [await serving.dial(), await serving.dial()];
    client.send(post);
    await until(() => client.reader.received > 0);
    second.send(post);
    assert.equal((await second.reader.next())?.status, 429);
    assert.equal(await client.reader.next(), undefined);
    assert.equal(serving.traffic.requests.inFlight.totals.timedOut, 1);
  });
});

describeKinds((kind) => {
  it('P-033, P-034 the drain waits for an event stream over POST on HTTP/2', async (t) => {
    let finish: (() => void) | undefined;
    const serving = await serveHttp2(t, kind, {
      shutdownWatchTerminationGracePeriod: '0s',
      listener: (_, answer) => {
        answer.respond(200, 'text/event-stream');
        answer.write('data: first\n\n');
        finish = () => {
          answer.end('data: [DONE]\n\n');
        };
      },
    });
    const client = await serving.dial();
    const outcome = client.request('/chat', { ':method': 'POST', accept: 'text/event-stream' });
    await until(() => finish !== undefined);
    const ended = serving.handle.shutdown('test');
    await serving.handle.signals.httpServerStoppedListening.signaled;
    finish?.();
    const { isWhole, body } = await outcome;
    assert.deepEqual([isWhole, body], [true, 'data: first\n\ndata: [DONE]\n\n']);
    const { exitCode, requests, longRunningEnded } = await ended;
    assert.deepEqual([exitCode, requests.answered, longRunningEnded], [0, 1, 0]);
  });
});
