// Tests the clients of a rehearsal over real sockets, against servers in this process.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, test, type TestContext } from 'node:test';
import { Crowd, shareOf } from '../../../../src/cli/rehearsal/clients/crowd.ts';
import { noOptionalClients, type ClientKind, type LoadPlan, type Loss } from '../../../../src/cli/rehearsal/load.ts';
import type { Destination } from '../../../../src/cli/rehearsal/endpoints.ts';
import { until } from '../../../support/until.ts';

const everywhere = (destination: Destination): Destination[] => [destination, destination, destination];

/**
 * Runs the simulated clients of a load plan until `isEnough` returns true. Returns, for each kind of client, how many
 * of its requests had each result. Adds each lost request to `losses`.
 */
async function counts(
  t: TestContext,
  listener: RequestListener,
  plan: Partial<LoadPlan>,
  isEnough: (crowd: Crowd) => boolean,
  losses: Loss[] = [],
): Promise<Crowd['tallies']> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  t.after(() => server.close().closeAllConnections());
  await once(server, 'listening');
  const crowd = new Crowd(
    {
      host: '127.0.0.1',
      port: (server.address() as AddressInfo).port,
      rate: 200,
      connections: 0,
      seed: 1,
      requests: [{ method: 'GET', path: '/' }],
      ...noOptionalClients,
      ...plan,
    },
    Math.random,
    (loss) => losses.push(loss),
  );
  crowd.routes = everywhere('pod');
  const ended = crowd.run();
  await until(() => isEnough(crowd));
  crowd.stop();
  await ended;
  return crowd.tallies;
}

const http1 = ['newConnection', 'keptConnection', 'retryingConnection', 'longPoll', 'eventStream', 'upload'] as const;

test('if the host of the server changes, each kind of client connects to the new host', async (t) => {
  const plan = { host: '127.0.0.9', connections: 2, retry: true, longPoll: '/', stream: '/', upload: '/' };
  const answered = (crowd: Crowd, kinds: readonly ClientKind[]): boolean =>
    kinds.every((kind) => crowd.tallies[kind].answered > 0);
  const refused = (crowd: Crowd): boolean => http1.every((kind) => crowd.tallies[kind].refused > 0);
  const tallies = await counts(
    t,
    (_, response) => response.end('ok'),
    plan,
    (crowd) => {
      if (refused(crowd)) crowd.host = '127.0.0.1';
      return answered(crowd, http1);
    },
  );
  for (const kind of http1) assert.equal(tallies[kind].lost, 0, kind);
});

/**
 * This server responds to the first request on each connection. At the second request, it ends the connection without a
 * response.
 */
const endsAtSecond: RequestListener = ({ socket }, response) => {
  if (socket.listenerCount('served') > 0) {
    socket.destroy();
    return;
  }
  socket.on('served', () => undefined);
  response.end('done');
};

const answeredOf =
  (kind: ClientKind, least: number) =>
  ({ tallies }: Crowd): boolean =>
    tallies[kind].answered >= least;

describe('a retrying client of a rehearsal', () => {
  it('a retrying client retries a GET once if a keep-alive connection ends without a response', async (t) => {
    const plan = { retry: true, connections: 5 };
    const { retryingConnection, keptConnection } = await counts(t, endsAtSecond, plan, ({ tallies }) => {
      return tallies.retryingConnection.answered >= 20 && tallies.keptConnection.lost >= 5;
    });
    assert.equal(retryingConnection.lost, 0);
    assert.equal(retryingConnection.answered, retryingConnection.sent);
    assert.notEqual(keptConnection.lost, 0);
  });

  it('a retrying client does not retry a POST', async (t) => {
    const plan = { retry: true, connections: 5, requests: [{ method: 'POST', path: '/' }] };
    const isEnough = ({ tallies }: Crowd): boolean => tallies.retryingConnection.lost >= 5;
    assert.notEqual((await counts(t, endsAtSecond, plan, isEnough)).retryingConnection.lost, 0);
  });

  it('a client that retries refused requests does not retry a request if a part of its response has arrived', async (t) => {
    const cut: RequestListener = ({ socket }, response) => {
      response.writeHead(200, { 'Content-Length': 100 });
      response.write('begun', () => socket.destroy());
    };
    const plan = { retry: true, connections: 5 };
    const isEnough = ({ tallies }: Crowd): boolean => tallies.retryingConnection.lost >= 5;
    const { retryingConnection } = await counts(t, cut, plan, isEnough);
    assert.equal(retryingConnection.answered, 0);
  });

  it('the retry of a client reaches another pod if the Service sends new connections to that pod', async (t) => {
    const plan = { retry: true, connections: 5 };
    let isLeft = false;
    const { retryingConnection } = await counts(t, endsAtSecond, plan, (crowd) => {
      if (!isLeft && crowd.tallies.retryingConnection.answered >= 5) {
        crowd.routes = everywhere('others');
        isLeft = true;
      }
      // When the last request in flight to this pod has ended, no client uses the pod any longer. Each client has then
      // repeated its request on another pod, or has closed its connection to this pod.
      return isLeft && crowd.inFlight === 0;
    });
    assert.equal(retryingConnection.lost + retryingConnection.refused, 0);
  });
});

describe('a rehearsal counts how many of its long polls get a response, and how many are lost', () => {
  it('if the server responds late to a long poll of a rehearsal, the client polls again on the same connection', async (t) => {
    const sockets = new Set<object>();
    const late: RequestListener = ({ url, socket }, response) => {
      if (url !== '/poll') response.end();
      else {
        sockets.add(socket);
        setTimeout(() => response.end('news'), 50);
      }
    };
    const { longPoll } = await counts(t, late, { longPoll: '/poll' }, answeredOf('longPoll', 40));
    assert.deepEqual([longPoll.lost, longPoll.refused], [0, 0]);
    assert.equal(sockets.size, 10);
  });

  it('a long poll of a rehearsal is lost if its connection ends before the response', async (t) => {
    const never: RequestListener = ({ url, socket }, response) => {
      if (url === '/poll') setImmediate(() => socket.destroy());
      else response.end();
    };
    const isEnough = ({ tallies }: Crowd): boolean => tallies.longPoll.lost >= 10;
    assert.equal((await counts(t, never, { longPoll: '/poll' }, isEnough)).longPoll.answered, 0);
  });
});

describe('for each lost event stream, a rehearsal records whether its response had begun', () => {
  for (const [when, isUnanswered] of [
    ['before its response has begun', true],
    ['after its response has begun', undefined],
  ] as const) {
    it(`the loss of an event stream whose connection ends ${when} is recorded as ${isUnanswered === true ? 'unanswered' : 'answered'}`, async (t) => {
      const cut: RequestListener = ({ url, socket }, response) => {
        if (url !== '/events') response.end();
        else if (isUnanswered === true) socket.destroy();
        else response.write('data: 1\n\n', () => socket.destroy());
      };
      const losses: Loss[] = [];
      const isEnough = ({ tallies }: Crowd): boolean => tallies.eventStream.lost >= 10;
      await counts(t, cut, { stream: '/events' }, isEnough, losses);
      const streams = losses.filter(({ client }) => client === 'eventStream');
      assert.deepEqual([...new Set(streams.map((loss) => loss.isUnanswered))], [isUnanswered]);
    });
  }
});

describe('the clients of a rehearsal send the configured number of requests per second', () => {
  // Between two requests on a keep-alive connection, the client pauses for half of `gap` on average. The transfer of
  // the request takes another 10.5 ms, and the transfer of the response takes 10.5 ms more.
  for (const [rate, connections, gap] of [
    [200, 40, 800],
    [600, 40, 800 / 3],
    [6_000, 40, 80 / 3],
  ] as const) {
    it(`with ${String(connections)} keep-alive connections, the clients of a rehearsal send ${String(rate)} requests per second in total, new connections included`, () => {
      const share = shareOf({ rate, connections });
      assert.ok(Math.abs(share.gap - gap) < 1, String(share.gap));
      const kept = connections / ((share.gap / 2 + 21) / 1_000);
      const sum = share.newPerSecond + kept;
      assert.ok(share.newPerSecond >= rate / 2 && Math.abs(sum - rate) < rate * 0.05, String(sum));
    });
  }

  it('half of the requests of a rehearsal use new connections, no matter how many keep-alive connections there are', () => {
    assert.deepEqual(shareOf({ rate: 200, connections: 1_000 }), { gap: 1_000, newPerSecond: 100 });
  });
});
