// Tests requests that lameduck delays by up to 30 ms while the listening socket closes.
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { it } from 'node:test';
import { describeAdapters, serve } from '../../support/serving.ts';
import { until } from '../../support/until.ts';

describeAdapters((adapter) => {
  it('P-112 if lameduck delays a request while the listening socket closes, the handler still runs in the async context that another library has set in its own replacement of `emit`', async (t) => {
    const context = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const serving = await serve(t, {
      adapter,
      listener: (_, response) => {
        seen.push(context.getStore());
        response.end('ok');
      },
      prepare: (server) => {
        const emit = server.emit.bind(server) as (...args: unknown[]) => boolean;
        server.emit = ((...args: unknown[]) => context.run('its own', emit, ...args)) as typeof server.emit;
      },
    });
    const { hold } = serving.traffic;
    const client = await serving.dial();
    // lameduck delays requests only during a shutdown.
    await serving.traffic.beginShutdown({ since: performance.now(), window: 60_000 });
    hold.begin();
    client.get('/');
    await until(() => serving.traffic.counts.requestsInFlight === 1);
    context.run('the async context of the shutdown', () => {
      hold.end();
    });
    assert.equal((await client.reader.next())?.body, 'ok');
    assert.deepEqual(seen, ['its own']);
  });

  it('server.setTimeout() does not end a connection whose request lameduck delays, and applies again as soon as the delay has ended', async (t) => {
    const serving = await serve(t, {
      adapter,
      listener: ({ url }, response) => {
        if (url === '/answered') response.end('ok');
      },
      prepare: (server) => server.setTimeout(100),
    });
    const { hold } = serving.traffic;
    await serving.traffic.beginShutdown({ since: performance.now(), window: 60_000 });
    hold.begin();
    const [answered, unanswered] = await Promise.all([serving.dial(), serving.dial()]);
    answered.get('/answered');
    unanswered.get('/unanswered');
    await until(() => serving.traffic.counts.requestsInFlight === 2);
    // The connection `idle` begins after both requests have arrived. So when its timeout has ended `idle`, the timeouts
    // of the other two connections have passed too.
    const idle = await serving.dial();
    await idle.ended();
    hold.end();
    assert.equal((await answered.reader.next())?.body, 'ok');
    await unanswered.ended();
  });
});
