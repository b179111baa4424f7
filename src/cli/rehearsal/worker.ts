// A probe worker runs one probe of one container in a loop, as the kubelet does.
import { systemClock, type Clock } from '../../clock.ts';
import type { Container } from './container.ts';
import type { EventLog } from './event-log.ts';
import type { Probe } from './pod.ts';
import { runProbe } from './probes/probe.ts';
import { afterExit, afterResult, inNewContainer, newStreak, type Published, type Streak } from './streak.ts';

/** Target is the state of a container that a probe worker of the simulated kubelet reads before each probe. */
export interface Target {
  /** `container` is the running instance of the container, or undefined if no instance is running. */
  readonly container: Container | undefined;
  /** startedAt is the time at which the current run of the container started, in milliseconds of `Clock.now()`. */
  readonly startedAt: number;
  /** isStarted tells whether the startup probe has succeeded. It is true if there is no startup probe. */
  readonly isStarted: boolean;
}

export interface WorkerOptions {
  readonly name: string;
  readonly probe: Probe;
  readonly host: () => string;
  readonly log: EventLog;
  readonly target: () => Target;
  /**
   * onChange is called when the published result of the probe changes, and when a restart of the container resets this
   * result.
   */
  readonly onChange: (published: Published) => void;
  readonly clock?: Clock;
}

// A Node timer may fire early by this number of milliseconds.
const timerSlack = 2;

/**
 * Worker runs one probe of a container from the creation of the worker until the call of `stop`. The worker continues
 * when the container restarts (K-039).
 */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #clock: Clock;
  // The time of the next tick, at which the probe worker may send a probe. The first tick is one period after the
  // creation of the worker, no matter when the container started (K-041).
  #nextTickAt: number;
  #streak: Streak;
  #container: Container | undefined;
  #isStopped = false;
  #isProbing = false;
  #isPoked = false;
  #cancel: () => void = () => undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#nextTickAt = this.#clock.now() + this.#period;
    this.#streak = newStreak(options.probe.type);
    this.#run();
  }

  get published(): Published {
    return this.#streak.published;
  }

  /**
   * `poke()` probes at once and restarts the period of the probe. The rehearsal calls it only for readiness probes, as
   * the kubelet does (K-046).
   */
  poke(): void {
    if (this.#isProbing) this.#isPoked = true;
    else {
      this.#nextTickAt = this.#clock.now() + this.#period;
      this.#run();
    }
  }

  /** noteExit is called when the container has exited. The kubelet then acts as if the probe had failed (K-052). */
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
    void this.#step().finally(() => {
      this.#isProbing = false;
      if (this.#isPoked) {
        this.#isPoked = false;
        this.poke();
      } else if (this.#consumeTicks()) this.#run();
      else this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isStopped) return;
    this.#cancel = this.#clock.after(this.#nextTickAt - this.#clock.now(), () => {
      this.#consumeTicks();
      this.#run();
    });
  }

  // Returns true if at least one period of the probe has passed. If several periods passed during a slow probe, the
  // kubelet makes only one probe for all of them (K-043).
  #consumeTicks(): boolean {
    const now = this.#clock.now() + timerSlack;
    const isDue = this.#nextTickAt <= now;
    while (this.#nextTickAt <= now) this.#nextTickAt += this.#period;
    return isDue;
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
      this.#streak = inNewContainer(this.#streak, probe.type);
      this.#options.onChange(this.#streak.published);
    }
    // The probe worker runs no probe while it waits for a new container (K-054) or during the initial delay (K-045). A
    // startup probe runs only before the container has started. The other probes run only after that (K-044).
    if (this.#streak.isOnHold || isStarted === (probe.type === 'startup')) return;
    if (Math.floor(this.#clock.now() / 1_000) - Math.floor(startedAt / 1_000) < probe.initialDelaySeconds) return;
    const outcome = await runProbe(probe.handler, probe.timeoutSeconds, container, host());
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
