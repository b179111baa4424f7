// Sends httpGet probes as the kubelet does, once or periodically, and applies the success and failure thresholds to the
// results.
import { setTimeout as pause } from 'node:timers/promises';
import { probeHttp, type HttpGet } from '../../src/cli/rehearsal/probes/http.ts';
import { runAttempts, type Outcome } from '../../src/cli/rehearsal/probes/outcome.ts';
import { afterResult, newStreak, type Streak } from '../../src/cli/rehearsal/streak.ts';

export type { HttpGet, Outcome };

/** runProbe sends one probe, with the kubelet's retries. It never rejects. */
export function runProbe(action: HttpGet): Promise<Outcome> {
  return runAttempts(() => probeHttp(action));
}

/** ProberOptions uses the field names of a probe in a pod. The period is in milliseconds. */
export interface ProberOptions {
  readonly kind: 'liveness' | 'readiness';
  readonly action: HttpGet;
  readonly period: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
}

/**
 * Prober sends one probe after another from `start()` to `stop()`. When a liveness probe has reached its failure
 * threshold, a kubelet sends no probe until the container has been restarted, but Prober continues.
 */
export class Prober {
  readonly outcomes: Outcome[] = [];
  /**
   * How many times the probe has changed from passing to failing or back, as a kubelet counts it with the thresholds of
   * the probe.
   */
  changes = 0;
  readonly #options: ProberOptions;
  #streak: Streak;
  #isStopped = false;
  #done: Promise<void> | undefined;

  constructor(options: ProberOptions) {
    this.#options = options;
    this.#streak = newStreak(options.kind);
  }

  /**
   * True if the probe counts as passing, according to its success and failure thresholds. If a liveness probe does not
   * pass, a kubelet restarts the container. If a readiness probe does not pass, the pod is removed from its Services.
   */
  get published(): boolean {
    return this.#streak.published === 'success';
  }

  start(): this {
    this.#done = this.#run();
    return this;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#done;
  }

  async #run(): Promise<void> {
    const { action, kind, period, successThreshold: success = 1, failureThreshold: failure = 3 } = this.#options;
    while (!this.#isStopped) {
      const outcome = await runProbe(action);
      this.outcomes.push(outcome);
      const before = this.published;
      this.#streak = afterResult(this.#streak, kind, outcome.result, { success, failure });
      if (this.published !== before) this.changes++;
      await pause(period);
    }
  }
}
