// The types of the debug socket: the document that `GET /` returns, and the actions of the other requests.
import type { SignalName } from './lifecycle/graph.ts';
import type { ElectorCounts, HookKind, PreviousRun, UnfinishedRequest } from './observer.ts';

/** MainThreadFacts is the state of the main thread. Durations are in milliseconds. */
export interface MainThreadFacts {
  readonly pid: number;
  /** The version of lameduck. */
  readonly version: string;
  /** The signals that have fired, in their order; `at` is in ISO 8601. */
  readonly signals: readonly { readonly name: SignalName; readonly at: string; readonly durationMs: number }[];
  /** Undefined before ShutdownInitiated. */
  readonly shutdown?: {
    readonly reason: string;
    readonly elapsedMs: number;
    readonly budgetMs: number;
    readonly remainingMs: number;
  };
  /** Whether `POST /ready?state=unready` makes /readyz fail. */
  readonly isHeldUnready: boolean;
  readonly requestsInFlight: number;
  readonly longRunningRequests: number;
  /** The oldest requests without a complete answer, twenty at most. */
  readonly oldestRequests: readonly UnfinishedRequest[];
  /** The hooks that run now. */
  readonly runningHooks: readonly { readonly kind: HookKind; readonly name: string; readonly ageMs: number }[];
  readonly connections: { readonly http1: number; readonly http2: number; readonly upgraded: number };
  /** Each setting as text, with its source. */
  readonly settings: Readonly<Record<string, { readonly value: string; readonly source: string }>>;
  readonly leadership: readonly ElectorCounts[];
  /** Undefined without a checkpoint. */
  readonly previousRun?: PreviousRun;
}

/** Inspection is the document of `GET /`. */
export interface Inspection extends MainThreadFacts {
  /** Changes when a field changes its meaning or goes; a new field does not change it. */
  readonly schema: 'lameduck/inspect/v1';
  /** How old the facts of the main thread are. */
  readonly ageMs: number;
  readonly eventLoop: {
    /** Whether the main thread did not answer in time. */
    readonly isBlocked: boolean;
    readonly blockedMs: number;
    /** The call stack of the main thread, innermost call first. Present only with `GET /?stack` while the event loop is blocked. */
    readonly stack?: readonly string[];
    /** Why there is no stack although one was requested. */
    readonly stackProblem?: string;
  };
}

/** Action is what a request on the debug socket changes. */
export type Action = 'shutdown' | 'ready' | 'unready';

/** usualDebugSocketPath is the path that the chart sets, and that `lameduck inspect` connects to by default. */
export const usualDebugSocketPath = '/run/lameduck/lameduck.sock';
