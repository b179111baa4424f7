// The interfaces with which a lifecycle reports its events to the log, the metrics and the audit log.
import type { SignalName } from './lifecycle/graph.ts';
import type { HttpRequest, RequestIdentifiers, HttpResponse } from './message.ts';

/** TrafficCounts is the number of open connections and of requests, over all servers, at one moment. */
export interface TrafficCounts {
  readonly connections: number;
  /**
   * requestsInFlight is the number of requests without a complete response. It excludes long-running requests and
   * probes.
   */
  readonly requestsInFlight: number;
  readonly longRunningRequests: number;
}

/**
 * UnfinishedRequest is a request that had no complete response when the shutdown budget ran out or the process ended.
 */
export interface UnfinishedRequest extends RequestIdentifiers {
  readonly method: string;
  readonly route: string;
  readonly ageMs: number;
  readonly peer: string;
  /**
   * unacknowledgedBytes is set if the process has sent the whole response but the client has not acknowledged all its
   * bytes.
   */
  readonly unacknowledgedBytes?: number;
  /**
   * isEventStream is set if the response is an event stream for whose end the drain waits. The drain does not end such
   * a stream itself: the handler or the client must end it.
   */
  readonly isEventStream?: true;
}

/**
 * HookKind says when a hook runs. `post-start`: when the server listens. `pre-shutdown`: during the shutdown delay.
 * `destroy`: after the last request.
 */
export type HookKind = 'post-start' | 'pre-shutdown' | 'destroy';

/** HookFailure describes a hook that threw, rejected or exceeded its time limit. */
export interface HookFailure {
  readonly kind: HookKind;
  readonly name: string;
  readonly error: Error;
}

/** StepFailure describes a step of the shutdown that threw, rejected or exceeded its deadline. */
export interface StepFailure {
  readonly step: string;
  readonly error: Error;
}

/** HookEnd describes a hook that has succeeded, failed or reached its time limit. */
export interface HookEnd {
  readonly kind: HookKind;
  readonly name: string;
  readonly durationMs: number;
}

/**
 * SignalEvent is a lifecycle signal that has fired. It also contains the numbers of connections and of requests in
 * flight at the time when the signal fired.
 */
export interface SignalEvent extends TrafficCounts {
  readonly name: SignalName;
  /**
   * durationMs is the time since the previous signal. For the first signal, it is the time since the lifecycle was
   * created.
   */
  readonly durationMs: number;
}

/**
 * ShutdownRecord is what lameduck logs in the final line of a shutdown. After a rollout, this line is the only record
 * of the process.
 */
export interface ShutdownRecord {
  /**
   * `schema` is the version of the format of this record. It changes if a field is removed or changes its meaning, but
   * not if a field is added.
   */
  readonly schema: 'lameduck/shutdown/v1';
  readonly reason: string;
  readonly exitCode: number;
  /**
   * `phases` contains each lifecycle signal that has fired since ShutdownInitiated. Its value is the time from
   * ShutdownInitiated to this signal, in milliseconds.
   */
  readonly phases: Readonly<Partial<Record<SignalName, number>>>;
  readonly durationMs: number;
  readonly budgetMs: number;
  /**
   * `requests` contains the numbers of requests that have ended since ShutdownInitiated, one number for each outcome.
   * It does not count a request whose client disconnected.
   */
  readonly requests: {
    readonly answered: number;
    /** `refused` is the number of requests that got a 429. */
    readonly refused: number;
    /**
     * `aborted` is the number of requests whose response this process destroyed before it was complete. The program may
     * destroy a response. lameduck destroys a response if `requestTimeout` passes after the headers have been sent.
     */
    readonly aborted: number;
    /**
     * `cut` is the number of requests that lameduck destroyed before their response was complete. lameduck destroys a
     * request when the time limit of the drain or of the whole shutdown is reached.
     */
    readonly cut: number;
  };
  /**
   * longRunningEnded is the number of long-running requests that have ended since ShutdownInitiated, because of the
   * drain, the handler or the client.
   */
  readonly longRunningEnded: number;
  readonly unfinished: readonly UnfinishedRequest[];
  readonly hookFailures: readonly { readonly kind: HookKind; readonly name: string; readonly error: string }[];
  /**
   * stepFailures lists the steps of the shutdown that failed, each with its first error. The other steps run
   * nevertheless.
   */
  readonly stepFailures: readonly { readonly step: string; readonly error: string }[];
  /**
   * heldBy lists the resources that kept the event loop alive one second after the shutdown. If the list is not empty,
   * lameduck exits the process.
   */
  readonly heldBy: readonly string[];
  /**
   * `workers` lists the workers of node:cluster that have exited during the shutdown. Only the record of a primary has
   * this list.
   */
  readonly workers?: readonly WorkerEnd[];
  /**
   * `threads` lists the worker threads with a lifecycle that have ended during the shutdown. Only the record of a main
   * thread contains this list, and only if the main thread has worker threads with a lifecycle.
   */
  readonly threads?: readonly ThreadEnd[];
  /**
   * auditEventsMissing is the number of audit events that are not in the audit log when the record is made. These
   * events were dropped, or are still in the queue. It is undefined if there is no audit log.
   */
  readonly auditEventsMissing?: number;
}

/** WorkerEnd says how a worker of node:cluster exited during the shutdown of its primary. */
export interface WorkerEnd {
  readonly pid: number;
  readonly exitCode: number | null;
  /** `signal` is the process signal that killed the worker, or null. */
  readonly signal: NodeJS.Signals | null;
  /** `record` is the shutdown record of the worker's own lifecycle. It is undefined if the worker has no lifecycle. */
  readonly record?: ShutdownRecord;
}

/** ThreadEnd says how a worker thread ended during the shutdown of the main thread. */
export interface ThreadEnd {
  readonly threadId: number;
  readonly exitCode: number;
  /** `record` is the shutdown record of the worker thread's own lifecycle. */
  readonly record?: ShutdownRecord;
}

/** PreviousRun describes the previous run of this process, as the checkpoint file has recorded it. */
export interface PreviousRun {
  /**
   * `outcome` says how the previous run ended. `clean`: with exit code 0. `failed`: with another exit code. `killed`:
   * the process was killed after it had been ready. `never_ready`: the process was killed before it was ready. `none`:
   * there was no checkpoint. `unknown`: the checkpoint was invalid.
   */
  readonly outcome: 'clean' | 'failed' | 'killed' | 'never_ready' | 'none' | 'unknown';
  /**
   * `phase` is the last lifecycle signal of the previous run. It is `Started` if no signal had fired, and `Exited` if
   * `outcome` is `clean` or `failed`. It is empty if `outcome` is `none` or `unknown`.
   */
  readonly phase: string;
  /**
   * startedAt is the time at which the previous run started, in ISO 8601. It is undefined if the `outcome` of the
   * previous run is `none` or `unknown`.
   */
  readonly startedAt?: string;
  /**
   * `version` is the version of lameduck in the previous run. It is undefined if the `outcome` of the previous run is
   * `none` or `unknown`.
   */
  readonly version?: string;
  /**
   * hasNodeRestarted tells whether the Kubernetes node has been rebooted since the previous run of the program. It is
   * undefined if the `outcome` of the previous run is `none` or `unknown`.
   */
  readonly hasNodeRestarted?: boolean;
}

/** ElectorCounts is the state of one elector, for the metrics and the debug socket. */
export interface ElectorCounts {
  /**
   * `name` is the name of the elector's Lease. It has the form `namespace/name` if an earlier elector of the same
   * lifecycle uses a Lease of the same name in another namespace.
   */
  readonly name: string;
  readonly isLeader: boolean;
  /**
   * `slowpaths` is the number of renewals that failed with a conflict (409), so that the elector had to read the Lease
   * again.
   */
  readonly slowpaths: number;
  /**
   * attemptMs is the duration of the elector's last request, in milliseconds. It is undefined before the first request.
   */
  readonly attemptMs: number | undefined;
  /**
   * renewalAgeMs is the time since the elector sent the last renewal that the API server has acknowledged, in
   * milliseconds. It is undefined while this process does not lead.
   */
  readonly renewalAgeMs: number | undefined;
}

/** Observer receives the events of a lifecycle. The methods must not throw. lameduck ignores what they return. */
export interface Observer {
  /** onWarning receives a warning. If the warning is about one request, `details` describes that request. */
  onWarning(message: string, details?: object): void;
  onSignal(event: SignalEvent): void;
  onHookEnd(end: HookEnd): void;
  /** onHookFailure is called after `onHookEnd` if a hook has failed or timed out. */
  onHookFailure(failure: HookFailure): void;
  /** onStepFailure is called for the first failure of each step of the shutdown. */
  onStepFailure(failure: StepFailure): void;
  /**
   * onCheckChange is called when the result of a health check changes. `reason` is the error if the check fails now.
   */
  onCheckChange(endpoint: string, check: string, reason: Error | undefined): void;
  /**
   * onCheckResult is called when lameduck answers a probe that runs all checks of an endpoint, such as a probe of
   * /readyz. It is called once for each of these checks.
   */
  onCheckResult(endpoint: string, check: string, passed: boolean): void;
  /**
   * onUnfinished is called when the shutdown budget has run out. `requests` contains the requests without a complete
   * response, whose connections lameduck destroys after this call.
   */
  onUnfinished(requests: readonly UnfinishedRequest[]): void;
  /**
   * onEnd receives the record of the shutdown. It is called once, as the last method of the observer, even if the
   * process is forced to exit. onEnd must write the record synchronously.
   */
  onEnd(record: ShutdownRecord): void;
}

/**
 * RequestObserver is called when a request of the program has ended. It is separate from Observer, so that a process
 * without metrics and audit log spends no time on these calls.
 */
export interface RequestObserver {
  /**
   * onRequestEnd is called for each request that is not long-running. `durationMs` counts from the arrival of the
   * request's headers. The response is complete only if its `writableFinished` is true.
   */
  onRequestEnd(response: HttpResponse, durationMs: number): void;
  /** onLongRunningEnd is called when an event stream, an upgraded socket or another long-running request has ended. */
  onLongRunningEnd(): void;
}

/**
 * AuditLog receives each stage of the program's requests, and writes events in the background. It is separate from
 * Observer, so that a process without an audit log spends no time on these calls. `key` identifies the request.
 */
export interface AuditLog {
  /** onReceived is called for each request, just before the program receives the request. */
  onReceived(key: object, request: HttpRequest): void;
  /** onStarted is called for a long-running request when the headers of its response have been sent. */
  onStarted(key: object, status: number): void;
  /** onPanic is called when the program's handler of the request has thrown. */
  onPanic(key: object): void;
  /** onComplete is called when the request has ended. `response` is undefined for an upgraded socket. */
  onComplete(key: object, response?: HttpResponse): void;
  /** `flush()` resolves when every event has been written, or when no event can be written. */
  flush(): Promise<void>;
  /**
   * `missing` is the number of audit events that are not in the audit log: they were dropped, or have not been written
   * yet.
   */
  readonly missing: number;
}
