// The types of what the debug socket sends and receives: the document that `GET /` returns, and the actions of a POST.
import type { SignalName } from './lifecycle/graph.ts';
import type { ElectorCounts, HookKind, PreviousRun, UnfinishedRequest } from './observer.ts';

/** MainThreadFacts is the state of the main thread. Durations are in milliseconds. */
export interface MainThreadFacts {
  readonly pid: number;
  /** `version` is the version of lameduck. */
  readonly version: string;
  /**
   * `signals` lists the lifecycle signals that have fired, in order. `at` is a time in ISO 8601. `durationMs` is the
   * time since the previous signal.
   */
  readonly signals: readonly { readonly name: SignalName; readonly at: string; readonly durationMs: number }[];
  /** `shutdown` describes the shutdown in progress. It is undefined before ShutdownInitiated. */
  readonly shutdown?: {
    readonly reason: string;
    readonly elapsedMs: number;
    readonly budgetMs: number;
    readonly remainingMs: number;
  };
  /** isHeldUnready is true while /readyz fails because of `POST /ready?state=unready`. */
  readonly isHeldUnready: boolean;
  readonly requestsInFlight: number;
  readonly longRunningRequests: number;
  /** oldestRequests lists the oldest requests without a complete response, at most twenty. */
  readonly oldestRequests: readonly UnfinishedRequest[];
  /** runningHooks lists the hooks that are running. */
  readonly runningHooks: readonly { readonly kind: HookKind; readonly name: string; readonly ageMs: number }[];
  readonly connections: { readonly http1: number; readonly http2: number; readonly upgraded: number };
  /** `settings` contains each setting with its value as text and the source of the value. */
  readonly settings: Readonly<Record<string, { readonly value: string; readonly source: string }>>;
  readonly leadership: readonly ElectorCounts[];
  /** previousRun says how the previous run of the process ended. It is undefined without a checkpoint. */
  readonly previousRun?: PreviousRun;
}

/** Inspection is the JSON document that `GET /` on the debug socket returns. */
export interface Inspection extends MainThreadFacts {
  /**
   * `schema` is the name and the version of this format. The version rises if a field is removed or changes its
   * meaning. It stays the same if a field is added.
   */
  readonly schema: 'lameduck/inspect/v1';
  /** ageMs is the age of the main thread's state in this document, in milliseconds. */
  readonly ageMs: number;
  readonly eventLoop: {
    /** isBlocked tells whether the main thread did not answer in time. */
    readonly isBlocked: boolean;
    readonly blockedMs: number;
    /**
     * `stack` is the call stack of the main thread, innermost call first. It is present only after `GET /?stack` while
     * the event loop is blocked.
     */
    readonly stack?: readonly string[];
    /** stackProblem says why the document has no `stack`. It is set only in the response to `GET /?stack`. */
    readonly stackProblem?: string;
  };
}

/** Action is what a POST request on the debug socket requests: a shutdown, or a change of readiness. */
export type Action = 'shutdown' | 'ready' | 'unready';

/**
 * usualDebugSocketPath is the path of the debug socket that the chart sets. `lameduck inspect` connects to it by
 * default.
 */
export const usualDebugSocketPath = '/run/lameduck/lameduck.sock';
