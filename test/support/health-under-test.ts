// The health endpoints of one lifecycle on a fake clock. Tests call these endpoints directly, without a server.
import assert from 'node:assert/strict';
import { Health, type HealthOptions } from '../../src/health/health.ts';
import { createLifecycle, type Lifecycle } from '../../src/lifecycle/signals.ts';
import type { Answer } from '../../src/message.ts';
import { FakeClock } from './fake-clock.ts';
import { RecordingObserver } from './recording-observer.ts';

export class HealthUnderTest {
  readonly clock = new FakeClock();
  readonly observer = new RecordingObserver();
  /** The messages of all warnings that the lifecycle has logged. */
  readonly warnings: string[] = [];
  readonly lifecycle: Lifecycle = createLifecycle(false);
  readonly health: Health;

  constructor(options: Partial<HealthOptions> = {}) {
    this.observer.onWarning = (message) => {
      this.warnings.push(message);
    };
    this.health = new Health(this.lifecycle.signals, {
      clock: this.clock,
      checkTimeout: 900,
      livezGracePeriod: 0,
      observer: this.observer,
      ...options,
    });
  }

  /** `ask()` returns the response to a probe. It fails if a check of the probed endpoint is asynchronous. */
  ask(url: string): Answer {
    const answer = this.health.answer(url);
    assert.ok(answer !== undefined && !(answer instanceof Promise), `${url} must be answered at once`);
    return answer;
  }

  /** `probe()` resolves with the response to a probe. */
  async probe(url: string): Promise<Answer> {
    const answer = await this.health.answer(url);
    assert.ok(answer !== undefined, `${url} must be a probe path`);
    return answer;
  }

  /** bodyOf returns the body of the response to a probe. It fails if a check of the probed endpoint is asynchronous. */
  bodyOf(url: string): string {
    return this.ask(url).body;
  }

  statusOf(url: string): number {
    return this.ask(url).status;
  }
}

/** `fails()` is a check that fails. No response may contain the message of its error. */
export const fails = (): never => {
  throw new Error('secret reason');
};

export const passes = (): boolean => true;

/** `hangs()` is a check that never finishes. */
export const hangs = (): Promise<never> => new Promise(() => undefined);
