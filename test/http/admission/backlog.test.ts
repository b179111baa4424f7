// Tests requests that arrive while lameduck delays all requests, if the setting `maxRequestsInflight` is set.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { it, test } from 'node:test';
import { systemClock, type Clock } from '../../../src/clock.ts';
import { describeAdapters, serve } from '../../support/serving.ts';
import { describeKinds, serve as serveHttp2 } from '../../support/serving-http2.ts';
import { until } from '../../support/until.ts';

/** Responses collects the responses that the handler has not ended yet. */
class Responses {
  readonly open: ServerResponse[] = [];
  most = 0;
  readonly listener = (_: unknown, response: ServerResponse): void => {
    this.most = Math.max(this.most, this.open.push(response));
  };

  /** `next()` waits until the handler executes a request, and ends its response. */
  async next(): Promise<void> {
    await until(() => this.open.length > 0);
    this.open.shift()?.end('ok');
  }
}

/** `openBacklog()` serves with a limit of one request, and delays three requests while the program executes none. */
async function openBacklog(t: Parameters<typeof serve>[0], options: Partial<Parameters<typeof serve>[1]> = {}) {
  const responses = new Responses();
  const serving = await serve(t, { maxRequestsInflight: 1, ...options, listener: responses.listener });
  const { traffic } = serving;
  await traffic.beginShutdown({ since: performance.now(), window: 60_000 });
  traffic.hold.begin();
  const clients = [await serving.dial(), await serving.dial(), await serving.dial()];
  for (const client of clients) client.get('/');
  await until(() => traffic.counts.requestsInFlight === 3);
  return { responses, serving, traffic, clients };
}

describeAdapters((adapter) => {
  it('A-174, P-018 after a delay, the program executes the delayed requests and those that arrive meanwhile, at most maxRequestsInflight at the same time', async (t) => {
    const { responses, serving, traffic, clients } = await openBacklog(t, { adapter });
    traffic.hold.end();
    await until(() => responses.open.length === 1);
    const last = await serving.dial();
    last.get('/');
    await until(() => traffic.counts.requestsInFlight === 4);
    for (const client of [...clients, last]) {
      await responses.next();
      assert.equal((await client.reader.next())?.status, 200);
    }
    assert.equal(responses.most, 1);
    assert.equal(traffic.requests.inFlight.totals.rejected, 0);
  });
});

test('A-174 if the client of a delayed request disconnects, the request takes no place in maxRequestsInflight', async (t) => {
  const { responses, traffic, clients } = await openBacklog(t);
  const [first, second, third] = clients;
  traffic.hold.end();
  await until(() => responses.open.length === 1);
  second?.reset();
  await until(() => traffic.counts.requestsInFlight === 2);
  await responses.next();
  assert.equal((await first?.reader.next())?.status, 200);
  await responses.next();
  assert.equal((await third?.reader.next())?.status, 200);
});

test('A-174 a request that arrives while lameduck delays an earlier request gets a 429 if the program executes maxRequestsInflight requests for another second', async (t) => {
  const waits: (() => void)[] = [];
  // The test itself ends the wait of one second, which is the only timer of this length.
  const clock: Clock = {
    ...systemClock,
    after(milliseconds, callback) {
      if (milliseconds !== 1_000) return systemClock.after(milliseconds, callback);
      waits.push(callback);
      return () => undefined;
    },
  };
  const { responses, traffic, clients } = await openBacklog(t, { clock });
  const [first, second, third] = clients;
  traffic.hold.end();
  await until(() => responses.open.length === 1);
  await until(() => waits.length === 1);
  waits[0]?.();
  for (const client of [second, third]) assert.equal((await client?.reader.next())?.status, 429);
  assert.equal(responses.most, 1);
  await responses.next();
  assert.equal((await first?.reader.next())?.status, 200);
});

describeKinds((kind) => {
  it('A-174, P-043 streams that lameduck delays until the GOAWAY get no 429 because of maxRequestsInflight', async (t) => {
    const serving = await serveHttp2(t, kind, {
      maxRequestsInflight: 1,
      shutdownDelayDuration: '0s',
      listener: (_, answer) => {
        setImmediate(() => {
          answer.respond(200);
          answer.end('ok');
        });
      },
    });
    const client = await serving.dial();
    const { hold } = serving.traffic;
    hold.begin();
    const answers = Array.from({ length: 20 }, () => client.request('/'));
    await until(() => serving.traffic.counts.requestsInFlight === 20);
    hold.end();
    assert.deepEqual(new Set((await Promise.all(answers)).map(({ status }) => status)), new Set([200]));
  });
});
