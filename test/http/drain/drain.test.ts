// Tests when the drain ends each connection, and when the drain itself is complete.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { it } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
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
    'P-077 /readyz fails at once after the signal, while /livez and /healthz pass until the listener closes',
    { skip },
    async (t) => {
      const serving = await serve(t, { adapter, listener: () => undefined, shutdownDelayDuration: 300 });
      const client = await serving.dial();
      const { notAcceptingNewRequest } = serving.handle.signals;
      // The listener may close after this test has found it open and before the client connects.
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

it('a silent connection stays open while a request on another connection is in flight', async (t) => {
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
