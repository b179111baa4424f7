import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Container } from '../../../src/cli/rehearsal/container.ts';
import { EventLog, type RehearsalEvent } from '../../../src/cli/rehearsal/event-log.ts';
import type { Probe } from '../../../src/cli/rehearsal/pod.ts';
import { Worker } from '../../../src/cli/rehearsal/worker.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { isolation, nodeProgram, probeSpec } from '../../support/pod-under-test.ts';
import { until } from '../../support/until.ts';

const waits = nodeProgram(`console.log('up'); setInterval(() => undefined, 1_000);`);

class WorkerUnderTest {
  readonly clock = new FakeClock();
  readonly log = new EventLog(() => this.clock.now());
  readonly worker: Worker;
  container: Container | undefined;
  startedAt = 0;
  isStarted = true;
  /**
   * How often the probe worker has read the state of its container. The worker reads the state at the beginning and at
   * the end of each probe.
   */
  looks = 0;

  constructor(t: TestContext, probe: Probe) {
    this.worker = new Worker({
      name: 'app',
      probe,
      host: () => '127.0.0.1',
      log: this.log,
      clock: this.clock,
      target: () => {
        this.looks++;
        return { container: this.container, startedAt: this.startedAt, isStarted: this.isStarted };
      },
      onChange: () => undefined,
    });
    t.after(async () => {
      this.worker.stop();
      this.container?.killAll();
      await this.container?.exited;
    });
  }

  /** `start()` resolves when the program of the container is running. */
  async start(): Promise<void> {
    const container = new Container({ command: waits, env: process.env, isolation });
    await until(() => container.output.includes('up'));
    this.container = container;
    this.startedAt = this.clock.now();
  }

  get probes(): readonly RehearsalEvent[] {
    return this.log.of('probe');
  }

  /** `probed()` resolves when the probe worker has run `count` probes. */
  async probed(count: number): Promise<void> {
    await until(() => this.probes.length >= count);
  }
}

const passing = (given: Partial<Probe> = {}): Probe =>
  probeSpec({ type: 'liveness', handler: { kind: 'exec', command: ['true'] }, periodSeconds: 10, ...given });

test('K-039, K-041, K-044, K-217 the periods of a probe worker count from the creation of the worker; if its container starts later, the first probe runs when the next period begins', async (t) => {
  const one = new WorkerUnderTest(t, passing());
  await one.clock.advance(2_400);
  await one.start();
  await one.clock.advance(7_599);
  assert.equal(one.probes.length, 0);
  await one.clock.advance(1);
  await one.probed(1);
});

test('K-045 the first probe runs at the first tick after initialDelaySeconds from the start of the container', async (t) => {
  const one = new WorkerUnderTest(t, passing({ initialDelaySeconds: 12 }));
  await one.clock.advance(2_400);
  await one.start();
  await one.clock.advance(17_500);
  assert.equal(one.probes.length, 0);
  await one.clock.advance(100);
  await one.probed(1);
});

test('K-046 a call of `poke()` between two ticks makes a probe worker probe immediately', async (t) => {
  const one = new WorkerUnderTest(t, passing({ type: 'readiness' }));
  await one.clock.advance(1_000);
  await one.start();
  one.worker.poke();
  await one.probed(1);
  assert.equal(one.worker.published, 'success');
});

test('K-046 if `poke()` makes a probe worker probe between two ticks, the next probe runs one full period after this probe', async (t) => {
  const one = new WorkerUnderTest(t, passing({ type: 'readiness' }));
  await one.clock.advance(4_000);
  await one.start();
  one.worker.poke();
  await one.probed(1);
  const { looks } = one;
  await one.clock.advance(9_900);
  assert.equal(one.looks, looks, 'the probe worker must not probe at the tick that was due at 10 s');
  await one.clock.advance(100);
  await one.probed(2);
});

test('K-054 readiness and liveness probes wait until the startup probe has succeeded', async (t) => {
  const one = new WorkerUnderTest(t, passing());
  await one.start();
  one.isStarted = false;
  await one.clock.advance(10_000);
  one.isStarted = true;
  assert.equal(one.probes.length, 0);
  await one.clock.advance(10_000);
  await one.probed(1);
});

test('K-043 after a probe that lasts for several probe periods, a probe worker sends only one probe immediately, and does not make up for the other periods', async (t) => {
  const handler = { kind: 'exec', command: ['sleep', '0.3'] } as const;
  const one = new WorkerUnderTest(t, passing({ handler, timeoutSeconds: 10 }));
  await one.start();
  one.worker.poke();
  // The command of the probe takes real time. Meanwhile, the test advances the fake clock by three ticks.
  await one.clock.advance(35_000);
  await one.probed(2);
  await one.clock.advance(4_000);
  assert.equal(one.probes.length, 2);
});
