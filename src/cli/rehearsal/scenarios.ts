// The scenarios of a rehearsal: what happens to the pod, and when. No side effects.
import type { Kill } from './termination.ts';

/** Deed is something that a scenario does to the pod. */
export type Deed =
  | { readonly kind: 'delete'; readonly gracePeriodSeconds?: number }
  | { readonly kind: 'evict'; readonly kill: Kill }
  /** `block` suspends every process of the container, as if the event loop were blocked. */
  | { readonly kind: 'block' }
  | { readonly kind: 'unblock' }
  /** `failLiveness` makes the kubelet act as if the liveness probe of the main container had failed. */
  | { readonly kind: 'failLiveness' }
  /** `crash` kills the main process with SIGKILL. */
  | { readonly kind: 'crash' }
  /** `signalAgain` sends a second stop signal, as an impatient operator may do. */
  | { readonly kind: 'signalAgain' }
  /** `overload` multiplies the load by ten. */
  | { readonly kind: 'overload' };

/** Step is one action on the pod, with the time of the action. */
export interface Step {
  /**
   * `at` is the time of the action, in milliseconds since the pod became ready. If the scenario has `isWhileStarting`,
   * the time counts from the start of the pod.
   */
  readonly at: number;
  readonly do: Deed;
}

/** Scenario describes one run of a rehearsal: what is done to the pod, and when. */
export interface Scenario {
  readonly title: string;
  readonly steps: readonly Step[];
  /** hasOthers tells whether the Service has other pods. The default is true. */
  readonly hasOthers?: boolean;
  /** needsSidecar is true if the scenario adds a sidecar to a pod that has none. */
  readonly needsSidecar?: boolean;
  /**
   * isWhileStarting is true if the steps begin before the pod is ready. The time of each step then counts from the
   * start of the pod instead of its readiness.
   */
  readonly isWhileStarting?: boolean;
  /**
   * endsAfter is how long the scenario continues after its last step, in milliseconds. If the last step ends the pod or
   * a container, this time begins with the exit. By default, the scenario ends when the pod has stopped.
   */
  readonly endsAfter?: number;
  /** backoffScale is the number by which the back-off delays are divided. */
  readonly backoffScale?: number;
}

// The load runs for this many milliseconds before the first action on the pod.
const warmUp = 3_000;

const crashes = 5;

/** `scenarios` maps the name of each scenario to its description. */
export const scenarios = {
  rollout: {
    title: 'rolling update: the pod is deleted while the Service has other pods',
    steps: [{ at: warmUp, do: { kind: 'delete' } }],
  },
  'scale-down': {
    title: 'the only pod of the Service is deleted',
    steps: [{ at: warmUp, do: { kind: 'delete' } }],
    hasOthers: false,
  },
  eviction: {
    title: 'hard eviction: the pod gets a grace period of one second',
    steps: [{ at: warmUp, do: { kind: 'evict', kill: { cause: 'hardEviction' } } }],
  },
  'node-shutdown': {
    title: 'graceful node shutdown: the grace period is 15 seconds, and the endpoint stays ready',
    steps: [{ at: warmUp, do: { kind: 'evict', kill: { cause: 'nodeShutdown', shutdownGracePeriodSeconds: 15 } } }],
  },
  'delete-starting': {
    title: 'the pod is deleted while it starts',
    steps: [{ at: 300, do: { kind: 'delete' } }],
    isWhileStarting: true,
  },
  overload: {
    title: 'the pod is deleted while it gets ten times the usual number of requests',
    steps: [
      { at: warmUp, do: { kind: 'overload' } },
      { at: 2 * warmUp, do: { kind: 'delete' } },
    ],
  },
  'second-signal': {
    title: 'a second stop signal is sent one second after the first',
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
  'failing-liveness': {
    title: 'the liveness probe fails, and the container is restarted in place',
    steps: [{ at: warmUp, do: { kind: 'failLiveness' } }],
    endsAfter: 5_000,
  },
  'crash-loop': {
    title: 'the main process crashes five times; back-off delays are a tenth of the real delays',
    steps: Array.from({ length: crashes }, (_, index) => ({
      at: warmUp + index * 8_000,
      do: { kind: 'crash' } as const,
    })),
    endsAfter: 8_000,
    backoffScale: 10,
  },
  sidecars: {
    title: 'the pod is deleted, and the kubelet ends its sidecars after its other containers',
    steps: [{ at: warmUp, do: { kind: 'delete' } }],
    needsSidecar: true,
  },
} as const satisfies Record<string, Scenario>;

/** ScenarioName is the name of a scenario, such as `rollout`. */
export type ScenarioName = keyof typeof scenarios;
