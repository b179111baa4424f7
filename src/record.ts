// The record of a shutdown: kept while it runs, ended once, handed to the observer once.
import type { Clock } from './clock.ts';
import type { Hooks } from './hooks/hooks.ts';
import type { Traffic } from './http/traffic.ts';
import type { SignalName } from './lifecycle/graph.ts';
import type { Observer, ShutdownRecord, UnfinishedRequest } from './observer.ts';

export interface RecorderParts {
  readonly clock: Clock;
  readonly traffic: Traffic;
  readonly hooks: Hooks;
  readonly observer: Observer;
}

/** Recorder notes what happens and when, counted from the moment at which the shutdown began. */
export class Recorder {
  readonly unfinished: UnfinishedRequest[] = [];
  readonly #parts: RecorderParts;
  readonly #phases: Partial<Record<SignalName, number>> = {};
  #reason = '';
  #startedAt: number | undefined;
  #lastSignalAt: number;
  #record: ShutdownRecord | undefined;
  #isReported = false;

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#lastSignalAt = parts.clock.now();
  }

  /** Whether there is a shutdown whose record is open. */
  get isOpen(): boolean {
    return this.#startedAt !== undefined && this.#record === undefined;
  }

  begin(reason: string, startedAt: number): void {
    this.#reason = reason;
    this.#startedAt = startedAt;
  }

  /** noteSignal keeps when a signal fired, and reports it with the length of the phase that it ends (P-101). */
  noteSignal(name: SignalName): void {
    const { clock, observer, traffic } = this.#parts;
    const now = clock.now();
    observer.onSignal({ name, durationMs: Math.round(now - this.#lastSignalAt), ...traffic.counts });
    this.#lastSignalAt = now;
    if (this.#startedAt !== undefined) this.#phases[name] = Math.round(now - this.#startedAt);
  }

  /** noteUnfinished keeps, and reports, the requests that have no answer and will get none. */
  noteUnfinished(): void {
    const { traffic, observer } = this.#parts;
    const unfinished = traffic.unfinished();
    if (unfinished.length > 0) observer.onUnfinished(unfinished);
    this.unfinished.push(...unfinished);
  }

  /** end closes the record with the exit code that the shutdown asks for; `budgetMs` is what it had. */
  end(exitCode: number, budgetMs: number): ShutdownRecord {
    const { clock, traffic, hooks } = this.#parts;
    this.#record ??= {
      schema: 'lameduck/shutdown/v1',
      reason: this.#reason,
      exitCode,
      phases: this.#phases,
      durationMs: Math.round(clock.now() - (this.#startedAt ?? clock.now())),
      budgetMs: Math.round(budgetMs),
      requests: { answered: traffic.requestsAnswered, refused: traffic.requestsRefused, cut: this.unfinished.length },
      unfinished: this.unfinished,
      hookFailures: hooks.failures.map(({ kind, name, error }) => ({ kind, name, error: error.message })),
      heldBy: [],
    };
    return this.#record;
  }

  /**
   * report hands the ended record to the observer. `heldBy` is what kept the process from ending by itself, `exitCode` the
   * one with which it exits, if the program has set its own.
   */
  report(heldBy: readonly string[], exitCode?: number): void {
    if (this.#record === undefined || this.#isReported) return;
    this.#isReported = true;
    this.#parts.observer.onEnd({ ...this.#record, heldBy, exitCode: exitCode ?? this.#record.exitCode });
  }
}
