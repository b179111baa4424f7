import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setImmediate as nextImmediate } from 'node:timers/promises';
import { createUnderTest, ServerUnderTest, type LifecycleUnderTest } from './support/lifecycle-under-test.ts';
import { disposed } from './support/disposed.ts';
import { settled } from './support/fake-clock.ts';

function isSignaled({ handle }: LifecycleUnderTest): { complete: boolean; ready: boolean } {
  const { muxAndDiscoveryComplete, hasBeenReady } = handle.signals;
  return { complete: muxAndDiscoveryComplete.hasSignaled, ready: hasBeenReady.hasSignaled };
}

test('A-016 at its start, the lifecycle first calls its observer, then fires MuxAndDiscoveryComplete, and then runs the post-start hooks', async () => {
  const order: string[] = [];
  const parts = createUnderTest();
  const note = (what: string): void => {
    order.push(`${what}, complete: ${String(isSignaled(parts).complete)}`);
  };
  parts.starts.push = () => {
    note('start');
    return 1;
  };
  parts.handle.addPostStartHook('warm-up', () => {
    note('hook');
  });
  parts.startup.begin();
  await settled();
  assert.deepEqual(order, ['start, complete: false', 'hook, complete: true']);
});

test('the lifecycle of a program without a server starts at once', async () => {
  const parts = createUnderTest();
  await settled();
  assert.deepEqual(isSignaled(parts), { complete: false, ready: false });
  parts.startup.begin();
  await settled();
  assert.deepEqual(isSignaled(parts), { complete: true, ready: true });
  assert.deepEqual(parts.starts, [[]]);
});

test('A-014, P-020 the start of the lifecycle waits until the last of several servers listens', async (context) => {
  const first = disposed(context, new ServerUnderTest());
  const second = disposed(context, new ServerUnderTest());
  const parts = createUnderTest({}, [first.server, second.server]);
  parts.startup.begin();
  await first.listen();
  await settled();
  assert.equal(isSignaled(parts).complete, false);
  await second.listen();
  assert.equal(isSignaled(parts).complete, true);
  assert.equal(parts.starts.length, 1);
  for (const address of parts.starts[0] ?? []) assert.match(address, /^127\.0\.0\.1:\d+$/);
  assert.equal(parts.starts[0]?.length, 2);
});

test('P-053 the lifecycle of a server that already listens starts at once', async (context) => {
  const serving = disposed(context, new ServerUnderTest());
  await serving.listen();
  const parts = createUnderTest({}, [serving.server]);
  parts.startup.begin();
  await settled();
  assert.equal(isSignaled(parts).complete, true);
  assert.equal(parts.starts.length, 1);
});

test('P-088 HasBeenReady fires when the checks first pass, even without a probe', async () => {
  const parts = createUnderTest();
  let isUp = false;
  parts.handle.addReadyzCheck('database', () => isUp);
  parts.startup.begin();
  await parts.clock.advance(10_000);
  assert.deepEqual(isSignaled(parts), { complete: true, ready: false });
  isUp = true;
  await parts.clock.advance(250);
  assert.equal(isSignaled(parts).ready, true);
  assert.equal(parts.clock.pending.all, 0);
});

test('P-073 while lameduck waits until the program is ready, its timers do not keep the process alive', async () => {
  const parts = createUnderTest();
  parts.handle.addReadyzCheck('database', () => false);
  parts.startup.begin();
  await parts.clock.advance(1_000);
  assert.equal(parts.clock.pending.holding, 0);
});

test('A-042, A-043 /readyz and /healthz have a check for each post-start hook, which fails until the hook has ended; /livez has no such check', async (context) => {
  const serving = disposed(context, new ServerUnderTest());
  const parts = createUnderTest({}, [serving.server]);
  const warmUp = Promise.withResolvers<undefined>();
  parts.handle.addPostStartHook('warm-up', () => warmUp.promise);
  await serving.listen();
  assert.equal((await serving.ask('/readyz/poststarthook/warm-up')).status, 500);
  assert.equal(
    (await serving.ask('/readyz')).body,
    '[+]ping ok\n[+]log ok\n[-]poststarthook/warm-up failed: reason withheld\n[+]shutdown ok\nreadyz check failed\n',
  );
  assert.equal((await serving.ask('/healthz')).status, 500);
  assert.equal((await serving.ask('/livez')).body, 'ok');
  assert.equal(isSignaled(parts).ready, false);
  warmUp.resolve(undefined);
  await parts.clock.advance(250);
  assert.equal(isSignaled(parts).ready, true);
  assert.equal((await serving.ask('/readyz/poststarthook/warm-up')).body, 'ok');
  assert.equal((await serving.ask('/healthz')).body, 'ok');
});

test('A-013 a passing probe of /readyz makes the process ready (HasBeenReady), but a probe that excludes checks does not', async (context) => {
  const serving = disposed(context, new ServerUnderTest());
  const parts = createUnderTest({}, [serving.server]);
  let isReady = false;
  parts.handle.addReadyzCheck('cache', () => isReady);
  await serving.listen();
  await parts.clock.advance(0);
  assert.equal((await serving.ask('/readyz?exclude=cache')).status, 200);
  assert.equal(isSignaled(parts).ready, false);
  isReady = true;
  assert.equal((await serving.ask('/readyz')).status, 200);
  assert.equal(
    isSignaled(parts).ready,
    true,
    'the process must be ready before lameduck runs the checks on its own again',
  );
});

test('A-013 the process is ready as soon as its last post-start hook has ended', async () => {
  const parts = createUnderTest();
  parts.handle.addPostStartHook('at-once', async () => undefined);
  parts.startup.begin();
  await parts.clock.advance(0);
  assert.equal(isSignaled(parts).ready, true);
});

test('A-044 after a post-start hook has failed, /readyz keeps failing, the observer of the lifecycle is notified, and the other hooks continue', async () => {
  const parts = createUnderTest();
  const calls: string[] = [];
  parts.handle.addPostStartHook('bad', () => Promise.reject(new Error('no cache')));
  parts.handle.addPostStartHook('good', () => calls.push('good'));
  parts.startup.begin();
  await parts.clock.advance(60_000);
  assert.equal(isSignaled(parts).ready, false);
  assert.deepEqual(calls, ['good']);
  assert.deepEqual(
    parts.observer.hookFailures.map(({ name, error }) => [name, error.message]),
    [['bad', 'post-start hook "bad" failed: no cache']],
  );
});

test('A-045 the AbortSignal of a post-start hook is aborted at NotAcceptingNewRequest, not at ShutdownInitiated', async () => {
  const parts = createUnderTest({ shutdownDelayDuration: '1s' });
  let signal: AbortSignal | undefined;
  parts.handle.addPostStartHook('poller', (context) => {
    ({ signal } = context);
  });
  parts.startup.begin();
  await parts.clock.advanceUntil('HasBeenReady', parts.handle.signals.hasBeenReady.signaled);
  void parts.handle.shutdown('test');
  await parts.clock.advance(999);
  assert.equal(parts.handle.signals.shutdownInitiated.hasSignaled, true);
  assert.equal(signal?.aborted, false);
  await parts.clock.advance(1);
  assert.equal(parts.handle.signals.notAcceptingNewRequest.hasSignaled, true);
  assert.equal(signal.aborted, true);
});

test('P-054 a server that listens after the beginning of the shutdown is closed, and starts no lifecycle', async (context) => {
  const serving = disposed(context, new ServerUnderTest());
  const parts = createUnderTest({}, [serving.server]);
  let hasRun = false;
  parts.handle.addPostStartHook('warm-up', () => (hasRun = true));
  void parts.handle.shutdown('test');
  let address: unknown;
  serving.server.on('listening', () => (address = serving.server.address()));
  const closed = once(serving.server, 'close');
  await serving.listen();
  assert.notEqual(address, null, "the program's own listeners must see that the server listens");
  await closed;
  await parts.clock.advanceUntil('the end', parts.handle.ended);
  assert.deepEqual(parts.starts, []);
  assert.equal(hasRun, false);
  assert.equal(isSignaled(parts).complete, false);
});

test('P-053 if a server begins to listen and a shutdown begins in the same turn of the event loop, the server stays open until the drain', async (context) => {
  const serving = disposed(context, new ServerUnderTest());
  await serving.listen();
  const parts = createUnderTest({}, [serving.server]);
  parts.startup.begin();
  void parts.handle.shutdown('test');
  await nextImmediate();
  await nextImmediate();
  const { httpServerStoppedListening } = parts.handle.signals;
  assert.equal(serving.server.listening, !httpServerStoppedListening.hasSignaled);
  await parts.clock.advanceUntil('the end', parts.handle.ended);
  assert.equal(serving.server.listening, false);
});

test('P-054, P-067 if the shutdown begins before the lifecycle has notified its observer of the start, the shutdown ends at once, and the observer is never notified of the start', async () => {
  const parts = createUnderTest({ shutdownDelayDuration: '10s' });
  const startedAt = parts.clock.now();
  parts.startup.begin();
  void parts.handle.shutdown('test');
  await parts.handle.ended;
  assert.equal(parts.clock.now(), startedAt);
  await settled();
  assert.deepEqual(parts.starts, []);
  assert.equal(parts.observer.order[0], 'ShutdownInitiated');
});

test('/readyz of a program with several servers fails until the last of them listens', async (context) => {
  const [first, second] = [new ServerUnderTest(), new ServerUnderTest()].map((one) => disposed(context, one));
  const parts = createUnderTest({}, [first?.server, second?.server] as Server[]);
  await first?.listen();
  const { port } = first?.server.address() as AddressInfo;
  const status = async (): Promise<number> => (await fetch(`http://127.0.0.1:${String(port)}/readyz`)).status;
  assert.equal(await status(), 500);
  await second?.listen();
  assert.equal(await status(), 200);
  void parts.handle.shutdown('test');
  assert.equal(await status(), 500);
});

test('A-003 /readyz fails from the beginning of the shutdown on, even if some servers never listened', async (context) => {
  const serving = disposed(context, new ServerUnderTest());
  const parts = createUnderTest({}, [serving.server, createServer()]);
  await serving.listen();
  const { port } = serving.server.address() as AddressInfo;
  void parts.handle.shutdown('test');
  const response = await fetch(`http://127.0.0.1:${String(port)}/readyz`);
  assert.match(await response.text(), /^\[-\]shutdown failed: reason withheld$/m);
});
