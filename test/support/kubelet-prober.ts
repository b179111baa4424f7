// The kubelet's loop around a probe: results in a row, and what it publishes of them.
import { setTimeout as pause } from 'node:timers/promises';
import { runProbe, type HttpGet, type Verdict } from './kubelet-probe.ts';

/** ProberOptions has the names of the pod's specification, but for the period, which is in milliseconds. */
export interface ProberOptions {
  readonly kind: 'liveness' | 'readiness';
  readonly action: HttpGet;
  readonly period: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
}

/** Prober probes from `start` to `stop`, one probe at a time. */
export class Prober {
  readonly verdicts: Verdict[] = [];
  /** What the kubelet acts on: a container that fails its liveness is restarted, one that is not ready gets no traffic. */
  published: boolean;
  /** How often `published` has changed. */
  changes = 0;
  readonly #options: ProberOptions;
  #streak = { result: '', length: 0 };
  #isStopped = false;
  #done: Promise<void> | undefined;

  constructor(options: ProberOptions) {
    this.#options = options;
    this.published = options.kind === 'liveness';
  }

  start(): this {
    this.#done = this.#run();
    return this;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#done;
  }

  note(verdict: Verdict): void {
    this.verdicts.push(verdict);
    const { result } = verdict;
    if (result === 'unknown') return;
    this.#streak = { result, length: result === this.#streak.result ? this.#streak.length + 1 : 1 };
    const { successThreshold = 1, failureThreshold = 3 } = this.#options;
    if (this.#streak.length < (result === 'success' ? successThreshold : failureThreshold)) return;
    if (this.published !== (result === 'success')) this.changes++;
    this.published = result === 'success';
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      this.note(await runProbe(this.#options.action));
      await pause(this.#options.period);
    }
  }
}
