// The scenarios: what is done to the pod, and when. Pure.
import type { Kill } from './termination.ts';

/** Deed is one thing done to the pod. */
export type Deed =
  | { readonly kind: 'delete'; readonly gracePeriodSeconds?: number }
  | { readonly kind: 'evict'; readonly kill: Kill }
  /** The event loop stops: every process of the container is suspended, as if it were blocked. */
  | { readonly kind: 'block' }
  | { readonly kind: 'unblock' }
  /** The main process ends as in a crash. */
  | { readonly kind: 'crash' }
  /** A second stop signal, as from an impatient operator. */
  | { readonly kind: 'signalAgain' }
  /** The load is multiplied. */
  | { readonly kind: 'overload' };

/** Step is a deed at a time. */
export interface Step {
  /** In milliseconds since the pod became ready; in a scenario with `isWhileStarting` since its start. */
  readonly at: number;
  readonly do: Deed;
}

/** Scenario is one story of a pod. */
export interface Scenario {
  readonly title: string;
  readonly steps: readonly Step[];
  /** Whether the Service has other pods. Default: true. */
  readonly hasOthers?: boolean;
  /** The steps begin at the start of the pod and not when it is ready. */
  readonly isWhileStarting?: boolean;
  /** The scenario ends this long after its last step, in milliseconds; default: when the pod has stopped. */
  readonly endsAfter?: number;
  /** Waits of the back-off are divided by this. */
  readonly backoffScale?: number;
}

// The load runs for this long before anything is done to the pod.
const warmUp = 3_000;

const crashes = 5;

/** scenarios has every scenario by its name. */
export const scenarios = {
  rollout: {
    title: 'rolling update: the pod is deleted while the Service has others',
    steps: [{ at: warmUp, do: { kind: 'delete' } }],
  },
  'scale-down': {
    title: 'the only pod is deleted',
    steps: [{ at: warmUp, do: { kind: 'delete' } }],
    hasOthers: false,
  },
  eviction: {
    title: 'hard eviction: one second of grace',
    steps: [{ at: warmUp, do: { kind: 'evict', kill: { cause: 'hardEviction' } } }],
  },
  'node-shutdown': {
    title: 'graceful node shutdown: 15 seconds, and the endpoint stays ready',
    steps: [{ at: warmUp, do: { kind: 'evict', kill: { cause: 'nodeShutdown', shutdownGracePeriodSeconds: 15 } } }],
  },
  'delete-starting': {
    title: 'the pod is deleted while it starts',
    steps: [{ at: 300, do: { kind: 'delete' } }],
    isWhileStarting: true,
  },
  overload: {
    title: 'the pod is deleted under ten times the load',
    steps: [
      { at: warmUp, do: { kind: 'overload' } },
      { at: 2 * warmUp, do: { kind: 'delete' } },
    ],
  },
  'second-signal': {
    title: 'a second stop signal comes one second after the first',
    steps: [
      { at: warmUp, do: { kind: 'delete' } },
      { at: warmUp + 1_000, do: { kind: 'signalAgain' } },
    ],
  },
  'blocked-loop': {
    title: 'the server is blocked for 40 seconds',
    steps: [
      { at: warmUp, do: { kind: 'block' } },
      { at: warmUp + 40_000, do: { kind: 'unblock' } },
    ],
    endsAfter: 5_000,
  },
  'crash-loop': {
    title: 'the main process crashes again and again; waits are a tenth of the real ones',
    steps: Array.from({ length: crashes }, (_, index) => ({
      at: warmUp + index * 8_000,
      do: { kind: 'crash' } as const,
    })),
    endsAfter: 8_000,
    backoffScale: 10,
  },
} as const satisfies Record<string, Scenario>;

/** ScenarioName is the name of a scenario. */
export type ScenarioName = keyof typeof scenarios;
