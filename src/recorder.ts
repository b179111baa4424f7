// Collects the shutdown record during the shutdown. Passes the complete record to the observer once.
import { hostAndPort } from './address.ts';
import type { Clock } from './clock.ts';
import type { Deadline } from './deadline.ts';
import { messageOf } from './errors.ts';
import { exitCodes } from './exit-codes.ts';
import type { Hooks } from './hooks/hooks.ts';
import type { SocketRow } from './http/drain/socket-table.ts';
import type { Traffic } from './http/traffic.ts';
import type { SignalName } from './lifecycle/graph.ts';
import type {
  AuditLog,
  Observer,
  ShutdownRecord,
  StepFailure,
  ThreadEnd,
  UnfinishedRequest,
  WorkerEnd,
} from './observer.ts';

/**
 * RecorderParts contains the sources from which Recorder reads the counts for the shutdown record, and the observer
 * that receives the record.
 */
export interface RecorderParts {
  readonly clock: Clock;
  readonly traffic: Pick<Traffic, 'counts' | 'requests' | 'unfinished'>;
  readonly hooks: Pick<Hooks, 'failures'>;
  readonly observer: Observer;
  readonly audit?: Pick<AuditLog, 'missing'> | undefined;
  readonly group?:
    | {
        /**
         * `ends` lists the workers of node:cluster that have exited. It is undefined in a process that is not a
         * primary.
         */
        readonly ends: readonly WorkerEnd[] | undefined;
        /** `threads` lists the worker threads that have ended. */
        readonly threads: readonly ThreadEnd[];
      }
    | undefined;
}

/**
 * Recorder collects the contents of the shutdown record, which the final log line shows. All times in it are
 * milliseconds since the beginning of the shutdown.
 */
export class Recorder {
  readonly unfinished: UnfinishedRequest[] = [];
  readonly stepFailures: StepFailure[] = [];
  readonly #parts: RecorderParts;
  readonly #phases: Partial<Record<SignalName, number>> = {};
  #reason = '';
  #startedAt: number | undefined;
  #endBy: Deadline | undefined;
  #lastSignalAt: number;
  #record: ShutdownRecord | undefined;
  #uncaughtError: string | undefined;
  #causeCode: number = exitCodes.clean;
  #isReported = false;

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#lastSignalAt = parts.clock.now();
  }

  /**
   * `begin()` is called when the shutdown begins, and starts the shutdown record. `endBy` is the end of the shutdown
   * budget.
   */
  begin(reason: string, startedAt: number, endBy: Deadline): void {
    this.#reason = reason;
    this.#startedAt = startedAt;
    this.#endBy = endBy;
  }

  /**
   * noteStepFailure adds the failure of a step of the shutdown to the shutdown record, and passes it to the observer.
   * It ignores every further failure of the same step.
   */
  noteStepFailure(step: string, cause: unknown): void {
    if (this.stepFailures.some((failure) => failure.step === step)) return;
    const failure = { step, error: cause instanceof Error ? cause : new Error(messageOf(cause)) };
    this.stepFailures.push(failure);
    this.#parts.observer.onStepFailure(failure);
  }

  /**
   * noteSignal records when a lifecycle signal fired, and reports the signal with the length of the phase before it
   * (P-101).
   */
  noteSignal(name: SignalName): void {
    const { clock, observer, traffic } = this.#parts;
    const now = clock.now();
    if (this.#startedAt !== undefined) this.#phases[name] = Math.round(now - this.#startedAt);
    const durationMs = Math.round(now - this.#lastSignalAt);
    this.#lastSignalAt = now;
    try {
      observer.onSignal({ name, durationMs, ...traffic.counts });
    } catch (error) {
      this.noteStepFailure(`report ${name}`, error);
    }
  }

  /**
   * noteUnfinished records and reports the requests that will get no response. For each transport in `transports`, such
   * as gRPC, it adds a single entry, because the number of the transport's unfinished requests is unknown.
   */
  noteUnfinished(transports: readonly string[] = []): void {
    const others = transports.map((method) => ({ method, route: '*', ageMs: this.#ageMs, peer: '*' }));
    this.#keepUnfinished([...this.#parts.traffic.unfinished(), ...others]);
  }

  /** noteUnacknowledged records and reports the peers that have not acknowledged their whole response. */
  noteUnacknowledged(sockets: readonly SocketRow[]): void {
    this.#keepUnfinished(
      sockets.map(({ remoteAddress, remotePort, bytes }) => ({
        method: '*',
        route: '*',
        ageMs: this.#ageMs,
        peer: hostAndPort(remoteAddress, remotePort),
        unacknowledgedBytes: bytes,
      })),
    );
  }

  #keepUnfinished(unfinished: readonly UnfinishedRequest[]): void {
    if (unfinished.length > 0) this.#parts.observer.onUnfinished(unfinished);
    this.unfinished.push(...unfinished);
  }

  // The age that the shutdown record states for a request whose start is unknown. It is the time since the shutdown
  // began.
  get #ageMs(): number {
    return Math.round(this.#parts.clock.now() - (this.#startedAt ?? 0));
  }

  /**
   * uncaughtError is the text of the first uncaught error. It is not in the shutdown record, because the log has a
   * separate line for it.
   */
  get uncaughtError(): string | undefined {
    return this.#uncaughtError;
  }

  noteUncaughtError(text: string): void {
    this.#uncaughtError ??= text;
  }

  /**
   * noteCause records the exit code of an event, such as an uncaught error, that began the shutdown or happened during
   * the shutdown. The process exits with the highest recorded exit code.
   */
  noteCause(exitCode: number): void {
    this.#causeCode = Math.max(this.#causeCode, exitCode);
  }

  /**
   * `end()` returns the complete shutdown record. The first call creates the record with `exitCode`. By default, this
   * exit code follows from the causes and failures of the shutdown. A later call returns the same record.
   */
  end(exitCode = this.#exitCode()): ShutdownRecord {
    this.#record ??= this.#recordNow(exitCode);
    return this.#record;
  }

  /**
   * If the process exits before the shutdown has ended, cutShort completes the shutdown record with the progress so
   * far. It returns the exit code in the record, or 0 if no shutdown has begun.
   */
  cutShort(): number {
    if (this.#startedAt === undefined) return exitCodes.clean;
    if (this.#record === undefined) this.noteUnfinished();
    return this.end().exitCode;
  }

  #exitCode(): number {
    if (this.#causeCode !== exitCodes.clean) return this.#causeCode;
    if (this.unfinished.length > 0) return exitCodes.budgetRanOut;
    const hasFailed = this.#parts.hooks.failures.length > 0 || this.stepFailures.length > 0;
    return hasFailed ? exitCodes.hookFailed : exitCodes.clean;
  }

  /** soFar returns the record of a shutdown in progress. It counts requests without a response as cut. */
  soFar(): ShutdownRecord {
    if (this.#record !== undefined) return this.#record;
    const record = this.#recordNow(exitCodes.clean);
    const { requestsInFlight } = this.#parts.traffic.counts;
    return { ...record, requests: { ...record.requests, cut: record.requests.cut + requestsInFlight } };
  }

  #recordNow(exitCode: number): ShutdownRecord {
    const { clock, traffic, hooks, audit, group } = this.#parts;
    const { ends: workers = [], threads = [] } = group ?? {};
    const now = clock.now();
    const startedAt = this.#startedAt ?? now;
    const { answered, refused, aborted, longRunningEnded } = traffic.requests.inFlight.totals;
    return {
      schema: 'lameduck/shutdown/v1',
      reason: this.#reason,
      exitCode,
      phases: this.#phases,
      durationMs: Math.round(now - startedAt),
      budgetMs: Math.round((this.#endBy?.at ?? startedAt) - startedAt),
      requests: { answered, refused, aborted, cut: this.unfinished.length },
      longRunningEnded,
      unfinished: this.unfinished,
      hookFailures: hooks.failures.map(({ kind, name, error }) => ({ kind, name, error: error.message })),
      stepFailures: this.stepFailures.map(({ step, error }) => ({ step, error: error.message })),
      heldBy: [],
      ...(workers.length > 0 && { workers }),
      ...(threads.length > 0 && { threads }),
      ...(audit !== undefined && { auditEventsMissing: audit.missing }),
    };
  }

  /**
   * `report()` passes the shutdown record to the observer and returns it. If the shutdown has not begun, or if the
   * record has already been reported, `report()` does nothing and returns undefined. If the shutdown is still running,
   * the record shows its progress so far. `heldBy` lists the resources that kept the event loop alive. `exitCode` is
   * the exit code of the process, or undefined if the process continues.
   */
  report(heldBy: readonly string[] = [], exitCode?: number): ShutdownRecord | undefined {
    if (this.#startedAt === undefined || this.#isReported) return undefined;
    if (this.#record === undefined) this.noteUnfinished();
    const record = this.#record ?? this.end(exitCode ?? exitCodes.clean);
    this.#isReported = true;
    const reported = { ...record, heldBy, exitCode: exitCode ?? record.exitCode };
    this.#parts.observer.onEnd(reported);
    return reported;
  }
}
