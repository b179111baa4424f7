// Tests the counters of requests in flight. The tests count the requests of all connections again, and compare the
// result with lameduck's counters.
import assert from 'node:assert/strict';
import { it, test, type TestContext } from 'node:test';
import { noted, ours, released, serving as servingState, type Exchange } from '../../../src/http/exchange.ts';
import { InFlight, type Counts } from '../../../src/http/in-flight/in-flight.ts';
import type { Parts } from '../../../src/parts.ts';
import { describeAdapters, noProbes, serve, shutdownOf } from '../../support/serving.ts';
import { describeKinds, serve as serveHttp2 } from '../../support/serving-http2.ts';
import { until } from '../../support/until.ts';

type Watched = Pick<Parts, 'traffic'>;

function recount({ traffic }: Watched): Counts {
  const counts: Counts = { serving: 0, ours: 0, 'long-running': 0, ending: 0 };
  const count = ({ state: { is } }: Exchange): void => {
    assert.ok(is !== 'noted' && is !== 'released', `no connection may have an exchange that is ${is}`);
    counts[is]++;
  };
  for (const { exchanges, upgraded } of traffic.connections) {
    exchanges.forEach(count);
    if (upgraded !== undefined && upgraded.state.is !== 'released') count(upgraded);
  }
  return counts;
}

/**
 * recountEachTurn counts the requests of all connections after each event of the server and in each turn of the event
 * loop. It compares the result with the counters. The function that it returns stops the comparison, and returns every
 * state that a request has had.
 */
function recountEachTurn(
  t: TestContext,
  { traffic, server }: Watched & { readonly server: object },
): () => ReadonlySet<string> {
  const seen = new Set<string>();
  const check = (): void => {
    const counts = recount({ traffic });
    assert.deepEqual({ ...traffic.requests.inFlight.counts }, counts);
    for (const [state, count] of Object.entries(counts)) if (count > 0) seen.add(state);
  };
  const emitter = server as { emit(...args: unknown[]): boolean };
  const emit = emitter.emit.bind(emitter);
  emitter.emit = (...args) => {
    const hadListeners = emit(...args);
    check();
    return hadListeners;
  };
  let isStopped = false;
  const turn = (): void => {
    check();
    if (!isStopped) setImmediate(turn);
  };
  turn();
  t.after(() => (isStopped = true));
  return () => {
    isStopped = true;
    check();
    return seen;
  };
}

function exchange(): Exchange {
  return { state: noted } as Exchange;
}

test('at each moment, a request in flight is counted in exactly one request state, such as serving or long-running', () => {
  const inFlight = new InFlight();
  const [one, other] = [exchange(), exchange()];
  inFlight.move(one, servingState);
  inFlight.move(other, ours);
  assert.deepEqual(inFlight.counts, { serving: 1, ours: 1, 'long-running': 0, ending: 0 });
  assert.equal(inFlight.isIdle, false);
  const ending = { begin: () => undefined, end: () => undefined };
  inFlight.move(one, { is: 'long-running', ending });
  assert.deepEqual([inFlight.serving, inFlight.longRunning], [0, 1]);
  inFlight.move(one, { is: 'ending', ending });
  assert.deepEqual([inFlight.serving, inFlight.longRunning, inFlight.isIdle], [0, 1, false]);
  inFlight.move(one, released);
  inFlight.move(other, released);
  assert.deepEqual(inFlight.counts, { serving: 0, ours: 0, 'long-running': 0, ending: 0 });
  assert.equal(inFlight.isIdle, true);
});

describeAdapters((adapter) => {
  it('after every HTTP/1.1 event, the counter of each request state, such as long-running, equals the number of requests that are in this state on all connections', async (t) => {
    const serving = await serve(t, {
      adapter,
      maxRequestsInflight: 2,
      shutdownWatchTerminationGracePeriod: 500,
      functions: { longRunning: ({ url }) => url === '/watch' },
      listener: ({ url }, response) => {
        if (url === '/stream') {
          response.writeHead(200, { 'Content-Type': 'text/event-stream' });
          response.write('data: 1\n\n');
        } else if (url === '/answered') response.end('done');
      },
    });
    const stop = recountEachTurn(t, serving);
    const { inFlight } = serving.traffic.requests;
    const [piped, stream, watching, waiting, reset] = await Promise.all(
      Array.from({ length: 5 }, () => serving.dial()),
    );
    piped?.send('GET /answered HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3));
    assert.equal((await piped?.reader.next())?.status, 200);
    if (noProbes(adapter) === false) {
      piped?.get('/readyz');
      await until(() => inFlight.serving === 0);
    }
    stream?.get('/stream', 'Accept: text/event-stream\r\n');
    watching?.get('/watch');
    await until(() => inFlight.longRunning === 2);
    waiting?.get('/waits');
    reset?.get('/waits');
    await until(() => inFlight.serving === 2);
    const late = await serving.dial();
    late.get('/too-many');
    assert.equal((await late.reader.next())?.status, 429);
    reset?.reset();
    await until(() => inFlight.serving === 1);
    const { ended } = shutdownOf(serving);
    await until(() => inFlight.counts.ending > 0);
    waiting?.reset();
    await ended;
    const seen = stop();
    assert.deepEqual([...seen].sort(), ['ending', 'long-running', 'ours', 'serving']);
    assert.deepEqual({ ...inFlight.counts }, { serving: 0, ours: 0, 'long-running': 0, ending: 0 });
  });
});

describeKinds((kind) => {
  it("after every HTTP/2 event, lameduck's counters of connections and requests equal the numbers that the test itself has counted", async (t) => {
    const serving = await serveHttp2(t, kind, {
      functions: { longRunning: ({ url }) => url === '/watch' },
      listener: (path, answer) => {
        if (path === '/answered') {
          answer.respond(200);
          answer.end('done');
        }
      },
    });
    const stop = recountEachTurn(t, serving);
    const { inFlight } = serving.traffic.requests;
    const client = await serving.dial();
    await Promise.all([client.request('/answered'), client.request('/answered')]);
    const hanging = ['/watch', '/waits', '/waits'].map((path) => client.session.request({ ':path': path }));
    for (const stream of hanging) stream.on('error', () => undefined);
    await until(() => inFlight.serving === 2 && inFlight.longRunning === 1);
    hanging[1]?.close(8);
    await until(() => inFlight.serving === 1);
    const ended = serving.handle.shutdown('test', { budget: '4s' });
    await until(() => inFlight.longRunning === 0 || inFlight.counts.ending === 1);
    hanging[2]?.close(8);
    await ended;
    assert.ok(stop().has('serving'));
    assert.deepEqual({ ...inFlight.counts }, { serving: 0, ours: 0, 'long-running': 0, ending: 0 });
  });
});
