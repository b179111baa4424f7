// One probe worker: a loop per container and probe type, as in the kubelet's prober.
import { systemClock, type Clock } from '../../clock.ts';
import type { Container } from './container.ts';
import type { EventLog } from './event-log.ts';
import type { Probe } from './pod.ts';
import { runProbe } from './probes/probe.ts';
import { afterExit, afterResult, inNewContainer, newStreak, type Published, type Streak } from './streak.ts';

/** Target is what a worker sees of its container before each probe. */
export interface Target {
  /** The running instance; undefined if there is none. */
  readonly container: Container | undefined;
  /** When that instance was started, in milliseconds of the clock. */
  readonly startedAt: number;
  /** Whether its startup probe, if it has one, has succeeded. */
  readonly isStarted: boolean;
}

/** WorkerOptions is what a worker probes, and who is told of a published change. */
export interface WorkerOptions {
  readonly name: string;
  readonly probe: Probe;
  readonly host: string;
  readonly log: EventLog;
  readonly target: () => Target;
  readonly onChange: (published: Published) => void;
  readonly clock?: Clock;
}

/** Worker probes from its creation until `stop`, whatever becomes of the container in the meantime (K-039). */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #clock: Clock;
  readonly #createdAt: number;
  #streak: Streak;
  #container: Container | undefined;
  #isStopped = false;
  #isProbing = false;
  #isPoked = false;
  #cancel: () => void = () => undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#createdAt = this.#clock.now();
    this.#streak = newStreak(options.probe.type);
    this.#run();
  }

  get published(): Published {
    return this.#streak.published;
  }

  /** poke probes now instead of at the next tick. The kubelet does so for readiness alone (K-046). */
  poke(): void {
    if (this.#isProbing) this.#isPoked = true;
    else this.#run();
  }

  /** noteExit publishes that the container does not run (K-052). */
  noteExit(): void {
    this.#publish(afterExit(this.#streak));
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  #run(): void {
    this.#cancel();
    if (this.#isStopped || this.#isProbing) return;
    this.#isProbing = true;
    const tick = this.#tick();
    void this.#step().finally(() => {
      this.#isProbing = false;
      // Of the ticks that came during a slow run, one is made up for (K-043).
      const isLate = this.#tick() > tick;
      if (this.#isPoked || isLate) {
        this.#isPoked = false;
        this.#run();
      } else this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isStopped) return;
    this.#cancel = this.#clock.after(this.#createdAt + (this.#tick() + 1) * this.#period - this.#clock.now(), () => {
      this.#run();
    });
  }

  // Ticks are counted from the creation of the worker, not from the start of the container (K-041).
  #tick(): number {
    return Math.floor((this.#clock.now() - this.#createdAt) / this.#period);
  }

  get #period(): number {
    return this.#options.probe.periodSeconds * 1_000;
  }

  async #step(): Promise<void> {
    const { probe, host, log, name } = this.#options;
    const { container, startedAt, isStarted } = this.#options.target();
    if (container === undefined) return;
    if (container !== this.#container) {
      this.#container = container;
      this.#publish(inNewContainer(this.#streak, probe.type));
    }
    // K-044, K-045, K-054.
    if (this.#streak.isOnHold || isStarted === (probe.type === 'startup')) return;
    if (Math.floor(this.#clock.now() / 1_000) - Math.floor(startedAt / 1_000) < probe.initialDelaySeconds) return;
    const outcome = await runProbe(probe.handler, probe.timeoutSeconds, container, host);
    if (this.#isStopped || this.#options.target().container !== container) return;
    const { result, output, attempts, isWarning, tookMs } = outcome;
    const thresholds = { success: probe.successThreshold, failure: probe.failureThreshold };
    const next = afterResult(this.#streak, probe.type, result, thresholds);
    const detail = {
      container: name,
      type: probe.type,
      result,
      output: output.slice(0, 200),
      attempts,
      tookMs,
      isWarning,
    };
    log.add('probe', { ...detail, run: next.run, published: next.published });
    this.#publish(next);
  }

  #publish(next: Streak): void {
    const hasChanged = next.published !== this.#streak.published;
    this.#streak = next;
    if (hasChanged) this.#options.onChange(next.published);
  }
}
