// What the core reports, and to whom: the one interface between it and logs, metrics or whatever else watches.
import type { SignalName } from './lifecycle/graph.ts';
import type { Request, RequestIdentifiers, Response } from './message.ts';

/** TrafficCounts is what a server is doing at a moment. */
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
  /** What still held the process a second after the drain, so that it had to be ended. */
  readonly heldBy: readonly string[];
  /** Events that the audit log does not have: dropped, or not written when the line was. There only with an audit log. */
  readonly auditEventsMissing?: number;
}

/** PreviousRun is what the checkpoint says of the run before this one, in the same container or before a restart. */
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

/** Observer is told what happens. It must not throw; nothing it returns is used. */
export interface Observer {
  /** `details` are about the request of the warning, if it is about one. */
  onWarning(message: string, details?: object): void;
  onSignal(event: SignalEvent): void;
  onHookEnd(end: HookEnd): void;
  /** Called behind onHookEnd, for a hook that did not end well. */
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
 * RequestObserver is told of each request that reached the program and has ended. It stands apart from the Observer, since
 * every request pays for it.
 */
export interface RequestObserver {
  /** `durationMs` is counted from the request's headers. The answer is incomplete unless it is `writableFinished`. */
  onRequestEnd(response: Response, durationMs: number): void;
  /** Called instead for an event stream, an upgraded socket or another long-running request. */
  onLongRunningEnd(): void;
}

/**
 * AuditLog is told of each of the program's requests, stage by stage, and writes in the background. Without an audit log, no
 * request pays for it. `key` stands for the request.
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
