// The interfaces through which the core reports to the log, the metrics and the audit log.
import type { SignalName } from './lifecycle/graph.ts';
import type { Request, RequestIdentifiers, Response } from './message.ts';

/** TrafficCounts are the connections and requests of the servers at one moment. */
export interface TrafficCounts {
  readonly connections: number;
  /** Without the long-running ones and without probes. */
  readonly requestsInFlight: number;
  readonly longRunningRequests: number;
}

/** UnfinishedRequest is a request that had no answer when the budget ran out or the process was ended. */
export interface UnfinishedRequest extends RequestIdentifiers {
  readonly method: string;
  readonly route: string;
  readonly ageMs: number;
  readonly peer: string;
  /** How many bytes of a response the peer has not acknowledged; only where that is all that is missing. */
  readonly unacknowledgedBytes?: number;
  /** Whether its response is an event stream, for which the drain has waited as for any response. */
  readonly isEventStream?: true;
}

/** HookKind says when a hook runs: once the server listens, beside the delay, or after the last request. */
export type HookKind = 'post-start' | 'pre-shutdown' | 'destroy';

/** HookFailure is a hook that threw, rejected, or had not ended at its limit. */
export interface HookFailure {
  readonly kind: HookKind;
  readonly name: string;
  readonly error: Error;
}

/** StepFailure is a step of the shutdown that threw, rejected, or had not ended when its time was up. */
export interface StepFailure {
  readonly step: string;
  readonly error: Error;
}

/** HookEnd is a hook that has ended, failed or reached its limit. */
export interface HookEnd {
  readonly kind: HookKind;
  readonly name: string;
  readonly durationMs: number;
}

/** SignalEvent is one signal that fired: how long the phase before it took, and what was going on. */
export interface SignalEvent extends TrafficCounts {
  readonly name: SignalName;
  /** Since the signal before it, or since the start of the lifecycle for the first. */
  readonly durationMs: number;
}

/** ShutdownRecord is the final line: all that remains of a process after a rollout. */
export interface ShutdownRecord {
  /** Changes when a field changes its meaning or goes; a new field does not change it. */
  readonly schema: 'lameduck/shutdown/v1';
  readonly reason: string;
  readonly exitCode: number;
  /** Milliseconds from ShutdownInitiated to each signal that fired after it. */
  readonly phases: Readonly<Partial<Record<SignalName, number>>>;
  readonly durationMs: number;
  readonly budgetMs: number;
  /** Requests since ShutdownInitiated. */
  readonly requests: {
    readonly answered: number;
    /** Refused with 429. */
    readonly refused: number;
    /**
     * Requests whose response the process itself destroyed before it was complete: the program, or `requestTimeout` after
     * the headers. Requests of clients that left are in none of the four.
     */
    readonly aborted: number;
    /** Destroyed without a complete response at the end of the budget. */
    readonly cut: number;
  };
  /** How many long-running requests have ended since ShutdownInitiated, told to or by themselves. */
  readonly longRunningEnded: number;
  readonly unfinished: readonly UnfinishedRequest[];
  readonly hookFailures: readonly { readonly kind: HookKind; readonly name: string; readonly error: string }[];
  /** The first failure of each step of the shutdown; the steps after it ran all the same. */
  readonly stepFailures: readonly { readonly step: string; readonly error: string }[];
  /** The resources that kept the event loop alive one second after the drain, so that the process had to exit by itself. */
  readonly heldBy: readonly string[];
  /** The workers of node:cluster that have exited during the shutdown. There only in a primary with workers. */
  readonly workers?: readonly WorkerEnd[];
  /** Audit events that were dropped, or not yet written when the record was made. Undefined without an audit log. */
  readonly auditEventsMissing?: number;
}

/** WorkerEnd is how a worker of node:cluster has ended during the shutdown of its primary. */
export interface WorkerEnd {
  readonly pid: number;
  readonly exitCode: number | null;
  /** The signal that has ended it. */
  readonly signal: NodeJS.Signals | null;
  /** The worker's own final line, if it has a lifecycle. */
  readonly record?: ShutdownRecord;
}

/** PreviousRun is the checkpoint's record of the previous run, in this container or before a restart of it. */
export interface PreviousRun {
  /**
   * `clean`: the process exited with code 0. `failed`: it exited with another code. `killed`: it had been ready, and did not
   * end itself. `never_ready`: it did not end itself before it was ready. `none`: there was no checkpoint. `unknown`: the
   * checkpoint was invalid.
   */
  readonly outcome: 'clean' | 'failed' | 'killed' | 'never_ready' | 'none' | 'unknown';
  /** The last lifecycle signal that fired; `Started` before the first one, `Exited` for `clean` and `failed`, else empty. */
  readonly phase: string;
  /** When it started, in ISO 8601. This and the next two are undefined for `none` and `unknown`. */
  readonly startedAt?: string;
  /** Its version of lameduck. */
  readonly version?: string;
  /** Whether the machine has been started again since then. */
  readonly hasNodeRestarted?: boolean;
}

/** ElectorCounts is what metrics read of an elector. */
export interface ElectorCounts {
  /** The name of its Lease. */
  readonly name: string;
  readonly isLeader: boolean;
  /** Renewals that met a conflict and needed a GET. */
  readonly slowpaths: number;
  /** How long the last request took, in milliseconds; undefined before the first. */
  readonly attemptMs: number | undefined;
  /** How long ago the last acknowledged renewal was sent, in milliseconds; undefined unless a term runs. */
  readonly renewalAgeMs: number | undefined;
}

/** Observer receives the events of a lifecycle. It must not throw. Its return values are ignored. */
export interface Observer {
  /** `details` are about the request of the warning, if it is about one. */
  onWarning(message: string, details?: object): void;
  onSignal(event: SignalEvent): void;
  onHookEnd(end: HookEnd): void;
  /** Called after onHookEnd for a hook that has failed or timed out. */
  onHookFailure(failure: HookFailure): void;
  /** Called for the first failure of each step. */
  onStepFailure(failure: StepFailure): void;
  /** Called when a check's result changes; `reason` is why it fails now. */
  onCheckChange(endpoint: string, check: string, reason: Error | undefined): void;
  /**
   * Called for each check that a probe of a whole endpoint has run, or whose run it has shared, when the probe is answered
   * (A-181).
   */
  onCheckResult(endpoint: string, check: string, passed: boolean): void;
  /** Called when the budget has run out with requests unanswered, before they are destroyed. */
  onUnfinished(requests: readonly UnfinishedRequest[]): void;
  /** Called once, last, also on a forced end; must have written everything when it returns. */
  onEnd(record: ShutdownRecord): void;
}

/**
 * RequestObserver is called for each request that reached the program and has ended. It is separate from Observer, because
 * its calls cost time in every request.
 */
export interface RequestObserver {
  /** `durationMs` is counted from the request's headers. The answer is incomplete unless it is `writableFinished`. */
  onRequestEnd(response: Response, durationMs: number): void;
  /** Called instead for an event stream, an upgraded socket or another long-running request. */
  onLongRunningEnd(): void;
}

/**
 * AuditLog receives each stage of the program's requests, and writes in the background. It is separate, so that a process
 * without an audit log spends no time on it. `key` identifies the request.
 */
export interface AuditLog {
  /** Called just before the program gets the request. */
  onReceived(key: object, request: Request): void;
  /** Called when the headers of the response to a long-running request have been sent. */
  onStarted(key: object, status: number): void;
  /** Called when the listener of the program that got the request has thrown. */
  onPanic(key: object): void;
  /** Called when the request has ended. An upgraded socket has no response. */
  onComplete(key: object, response?: Response): void;
  /** flush resolves when every event has been written, or when no event can be written. */
  flush(): Promise<void>;
  /** How many events are not in the log: those that were dropped, and those that wait to be written. */
  readonly missing: number;
}
