// Tests how often the main thread sends heartbeats to the probe thread.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heartbeat } from '../../src/probe-worker/heartbeat.ts';
import { SharedState } from '../../src/probe-worker/shared-state.ts';
import { FakeClock } from '../support/fake-clock.ts';

class HeartbeatUnderTest {
  readonly clock = new FakeClock();
  readonly state = new SharedState();
  readonly #heartbeat = new Heartbeat(this.state, this.clock, () => undefined);

  constructor() {
    this.#heartbeat.begin();
  }

  /** beatsIn returns the number of heartbeats in `milliseconds`. */
  async beatsIn(milliseconds: number): Promise<number> {
    const before = this.state.get('beats');
    await this.clock.advance(milliseconds);
    return this.state.get('beats') - before;
  }
}

test('a process sends ten heartbeats per second; if no event has occurred on its servers for five seconds, it sends only two heartbeats per second', async () => {
  const under = new HeartbeatUnderTest();
  assert.equal(await under.beatsIn(5_000), 50);
  assert.equal(under.state.get('beatInterval'), 500);
  assert.equal(await under.beatsIn(10_000), 20);
});

test('after an event of a server, an idle process sends ten heartbeats per second again, instead of two', async () => {
  const under = new HeartbeatUnderTest();
  await under.beatsIn(10_000);
  under.state.add('beats', 1);
  await under.beatsIn(500);
  assert.equal(under.state.get('beatInterval'), 100);
  assert.equal(await under.beatsIn(4_000), 40);
  under.state.add('beats', 1);
  await under.beatsIn(100);
  assert.equal(await under.beatsIn(4_000), 40);
});

test('during a shutdown, a process sends ten heartbeats per second', async () => {
  const under = new HeartbeatUnderTest();
  under.state.set('isShuttingDown', 1);
  assert.equal(await under.beatsIn(10_000), 100);
});
