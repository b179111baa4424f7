import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedState } from '../../src/probe-worker/shared-state.ts';
import { StallWatch } from '../../src/probe-worker/stall-watch.ts';
import { FakeClock } from '../support/fake-clock.ts';

class WatchUnderTest {
  readonly clock = new FakeClock();
  readonly state = new SharedState();
  readonly told: string[] = [];
  isAttached = false;
  readonly watch: StallWatch;

  constructor(threshold = 5_000) {
    this.watch = new StallWatch({
      clock: this.clock,
      state: this.state,
      threshold,
      isAttached: () => this.isAttached,
      onStall: (stalledMs) => this.told.push(`stalled ${String(stalledMs)}`),
      onStallEnd: (stalledMs) => this.told.push(`ended ${String(stalledMs)}`),
    });
  }

  /**
   * `pass()` lets the timer of the probe thread tick `ticks` times, with `milliseconds` between two ticks. If `beats`
   * is true, the main thread sends a heartbeat before each tick.
   */
  async pass(ticks: number, milliseconds: number, { beats = false } = {}): Promise<void> {
    for (let tick = 0; tick < ticks; tick++) {
      await this.clock.advance(milliseconds);
      if (beats) this.state.add('beats', 1);
      this.watch.tick();
    }
  }
}

test('P-090 the probe thread measures how long the event loop is blocked: it adds up the intervals between its own ticks in which it received no heartbeat of the event loop', async () => {
  const under = new WatchUnderTest();
  await under.pass(30, 100);
  assert.equal(under.watch.stalledMs, 3_000);
  await under.pass(1, 100, { beats: true });
  assert.equal(under.watch.stalledMs, 0);
});

test('P-090 a stall is reported once when it reaches the stall limit, and once when it ends, with its duration', async () => {
  const under = new WatchUnderTest();
  await under.pass(49, 100);
  assert.deepEqual(under.told, []);
  await under.pass(71, 100);
  assert.deepEqual(under.told, ['stalled 5000']);
  await under.pass(3, 100, { beats: true });
  assert.deepEqual(under.told, ['stalled 5000', 'ended 12000']);
  assert.deepEqual([under.state.get('stalls'), under.state.get('stalledMs')], [1, 12_000]);
});

test('if an idle process, which sends heartbeats rarely, has sent no new heartbeat when a probe arrives, only the last 100 ms count as a stall', async () => {
  const under = new WatchUnderTest();
  await under.clock.advance(600);
  under.watch.tick(100);
  assert.equal(under.watch.stalledMs, 100);
});

test('a stall of the event loop that is shorter than the stall limit is not reported', async () => {
  const under = new WatchUnderTest();
  await under.pass(49, 100);
  await under.pass(1, 100, { beats: true });
  assert.deepEqual(under.told, []);
  assert.deepEqual([under.state.get('stalls'), under.state.get('stalledMs')], [0, 0]);
});

test('P-090 if the machine is suspended for an hour, the hour does not count as a stall', async () => {
  // When a suspended machine resumes, the probe thread may run before the main thread. Even with the shortest valid
  // stall limit, 1 s, the probe thread must not count the suspension as a stall.
  const under = new WatchUnderTest(1_000);
  await under.pass(1, 3_600_000);
  assert.equal(under.watch.stalledMs, 0);
  await under.pass(1, 100, { beats: true });
  assert.deepEqual(under.told, []);
});

test('P-090 if the machine is suspended for an hour while the event loop is blocked, the counted duration of the stall grows by only one second', async () => {
  const under = new WatchUnderTest();
  await under.pass(48, 100);
  await under.pass(1, 3_600_000);
  assert.deepEqual([under.watch.stalledMs, under.told], [4_800, []]);
  await under.pass(2, 100);
  assert.deepEqual([under.watch.stalledMs, under.told], [6_000, ['stalled 5900']]);
  await under.pass(1, 3_600_000);
  await under.pass(1, 100);
  assert.equal(under.watch.stalledMs, 7_100);
  await under.pass(1, 100, { beats: true });
  assert.deepEqual(under.told, ['stalled 5900', 'ended 7100']);
  assert.deepEqual([under.state.get('stalls'), under.state.get('stalledMs')], [1, 7_100]);
  await under.pass(1, 100);
  assert.equal(under.watch.stalledMs, 100);
});

test('P-090 the time for which a debugger is attached does not count towards the duration of a stall', async () => {
  const under = new WatchUnderTest();
  await under.pass(20, 100);
  under.isAttached = true;
  await under.pass(600, 100);
  assert.equal(under.watch.stalledMs, 2_000);
  under.isAttached = false;
  await under.pass(5, 100);
  assert.equal(under.watch.stalledMs, 2_500);
});

test('P-090 the time before the probe thread begins to watch the event loop does not count as part of a stall', async () => {
  const clock = new FakeClock();
  const state = new SharedState();
  await clock.advance(60_000);
  const ignore = (): void => undefined;
  const told = { onStall: ignore, onStallEnd: ignore };
  const watch = new StallWatch({ clock, state, isAttached: () => false, threshold: 1_000, ...told });
  watch.tick();
  assert.equal(watch.stalledMs, 0);
});
