// Tests when the drain ends each connection, and when the drain itself ends.
import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import { it } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import { Deadline } from '../../../src/deadline.ts';
import { Drain } from '../../../src/http/drain/drain.ts';
import type { SocketRow } from '../../../src/http/drain/socket-table.ts';
import type { Traffic } from '../../../src/http/traffic.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { listen } from '../../support/listening.ts';
import { describeAdapters, noProbes, serve, shutdownOf } from '../../support/serving.ts';
import { until } from '../../support/until.ts';

describeAdapters((adapter) => {
  it('P-049 a connection that is opened during the shutdown delay is served, with Connection: close', async (t) => {
    const serving = await serve(t, {
      adapter,
      listener: (_, response) => response.end('ok'),
      shutdownDelayDuration: '1s',
    });
    const { ended } = shutdownOf(serving);
    let last;
    do {
      const client = await serving.dial();
      client.get('/');
      last = await client.reader.next();
      assert.equal(last?.status, 200);
    } while (!last.isClose);
    assert.equal((await ended).exitCode, 0);
  });

  const skip = noProbes(adapter);
  it(
    'P-078 a probe whose checks are still running is not counted as in flight, and gets its response before its connection ends',
    { skip },
    async (t) => {
      let pass: (() => void) | undefined;
      const serving = await serve(t, {
        adapter,
        listener: () => undefined,
        prepare: (_, { handle }) => {
          let isFirst = true;
          handle.addReadyzCheck('slow', () => {
            if (isFirst) {
              isFirst = false;
              return true;
            }
            return new Promise<void>((resolve) => (pass = resolve));
          });
        },
      });
      const probe = await serving.dial();
      probe.get('/readyz');
      await until(() => pass !== undefined);
      assert.deepEqual(serving.traffic.counts, { connections: 1, requestsInFlight: 0, longRunningRequests: 0 });
      const { ended } = shutdownOf(serving);
      await serving.handle.signals.httpServerStoppedListening.signaled;
      pass?.();
      const answer = await probe.reader.next();
      assert.equal(answer?.status, 500, 'the check "shutdown" must run last');
      assert.equal(answer.isClose, true);
      assert.equal((await ended).requests.answered, 0);
    },
  );

  it(
    'P-077 /readyz fails at once after the process signal, while /livez and /healthz pass until the listening socket closes',
    { skip },
    async (t) => {
      const serving = await serve(t, { adapter, listener: () => undefined, shutdownDelayDuration: 300 });
      const client = await serving.dial();
      const { notAcceptingNewRequest } = serving.handle.signals;
      // If the server stops listening before a probe has connected, the test accepts that the connection of the probe
      // is refused.
      const statusOf = async (path: string, expected: number): Promise<void> => {
        const probe = await serving.dial().catch((error: unknown) => {
          if (!notAcceptingNewRequest.hasSignaled) throw error;
        });
        probe?.get(path, 'Connection: close\r\n');
        const status = (await probe?.reader.next())?.status;
        if (status !== undefined || !notAcceptingNewRequest.hasSignaled) assert.equal(status, expected, path);
      };
      client.get('/readyz');
      assert.equal((await client.reader.next())?.status, 200);
      const { ended } = shutdownOf(serving);
      client.get('/readyz');
      const red = await client.reader.next();
      assert.equal(red?.status, 500);
      assert.match(
        red.body,
        /^\[\+\]ping ok\n\[\+\]log ok\n\[-\]shutdown failed: reason withheld\nreadyz check failed\n$/,
      );
      while (!notAcceptingNewRequest.hasSignaled) {
        await statusOf('/livez', 200);
        await statusOf('/healthz', 200);
        await statusOf('/readyz', 500);
      }
      assert.equal((await ended).exitCode, 0);
    },
  );
});

it('during the drain, while a request is in flight, another connection stays open even if nothing has been sent on it for more than a second', async (t) => {
  const held: ServerResponse[] = [];
  const serving = await serve(t, {
    listener: (request, response) => (request.url === '/hold' ? held.push(response) : response.end('ok')),
  });
  const busy = await serving.dial();
  const silentOne = await serving.dial();
  busy.get('/hold');
  await until(() => held.length === 1);
  const { since, ended } = shutdownOf(serving);
  await new Promise((resolve) => systemClock.after(1_300, () => resolve(undefined)));
  assert.ok(performance.now() - since > 1_000);
  silentOne.get('/after-the-silence');
  assert.equal((await silentOne.reader.next())?.body, 'ok');
  held[0]?.end();
  assert.equal((await ended).requests.answered, 2);
});

for (const [title, isHurried, expected] of [
  ['the pause between two reads of the socket table is ten times as long as a read', false, 8 + 80 + 8],
  ['P-107 in development, the pause between two reads of the socket table is 10 ms', true, 8 + 10 + 8],
] as const) {
  it(title, async (t) => {
    const clock = new FakeClock();
    const server = createServer();
    const row: SocketRow = {
      localPort: await listen(t, server),
      remotePort: 1,
      remoteAddress: '10.0.0.2',
      bytes: 0,
      unanswered: 0,
      isOrphan: true,
    };
    const tables = [[row], []];
    const readSocketTable = async (): Promise<SocketRow[]> => {
      await new Promise<void>((resolve) => clock.after(8, resolve));
      return tables.shift() ?? [];
    };
    const traffic = {
      connections: new Set(),
      requests: { longRunning: { stop: () => undefined } },
    } as unknown as Traffic;
    const drain = new Drain(traffic, clock, assert.ifError, { isHurried, readSocketTable });
    drain.startChecks([server]);
    drain.stopChecks();
    const since = clock.now();
    const took: number[] = [];
    void drain.empty(new Deadline(clock, since + 60_000)).then(() => took.push(clock.now() - since));
    for (let i = 0; i < 200; i += 1) await clock.advance(1);
    assert.deepEqual(took, [expected]);
  });
}
