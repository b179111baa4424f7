// The scenarios of a rehearsal: what happens to the pod, and when. No side effects.
import type { Kill } from './termination.ts';

/** Deed is an action of a scenario on the pod, such as the deletion of the pod. */
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
  /** `signalAgain` sends a second stop signal to the main process, as an impatient operator may do. */
  | { readonly kind: 'signalAgain' }
  /** `overload` makes the clients send ten times as many requests per second. */
  | { readonly kind: 'overload' };

/** Step is one action of a scenario, such as the deletion of the pod, with the time of the action. */
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
  /**
   * hasOthers is false if the rehearsed pod is the only pod of the Service. By default, the Service also has other
   * pods.
   */
  readonly hasOthers?: boolean;
  /** needsSidecar is true if the scenario adds a sidecar to a pod that has none. */
  readonly needsSidecar?: boolean;
  /**
   * isWhileStarting is true if the scenario does not wait with its steps until the pod is ready. The time of each step
   * then counts from the start of the pod.
   */
  readonly isWhileStarting?: boolean;
  /**
   * endsAfter is how long the scenario continues after its last step, in milliseconds. If the last step ends the pod or
   * a container, this time begins when the pod or the container has ended. By default, the scenario ends when every
   * node knows that the pod has ended.
   */
  readonly endsAfter?: number;
  /**
   * The scenario divides the kubelet's back-off delays by backoffScale. If it is 10, each delay is a tenth of the real
   * delay.
   */
  readonly backoffScale?: number;
}

// The clients send requests for this many milliseconds before the first action of the scenario on the pod.
const warmUp = 3_000;

const crashes = 5;

/** `scenarios` maps the name of each scenario to its description. */
export const scenarios = {
  rollout: {
    title: 'the pod is deleted as in a rolling update: the Service also has other pods',
    steps: [{ at: warmUp, do: { kind: 'delete' } }],
  },
  'scale-down': {
    title: 'the Service has only one pod, and this pod is deleted',
    steps: [{ at: warmUp, do: { kind: 'delete' } }],
    hasOthers: false,
  },
  eviction: {
    title: 'hard eviction: the pod gets a grace period of one second',
    steps: [{ at: warmUp, do: { kind: 'evict', kill: { cause: 'hardEviction' } } }],
  },
  'node-shutdown': {
    title: 'graceful node shutdown: the pod gets a grace period of at most 15 seconds, and its endpoint stays ready',
    steps: [{ at: warmUp, do: { kind: 'evict', kill: { cause: 'nodeShutdown', shutdownGracePeriodSeconds: 15 } } }],
  },
  'delete-starting': {
    title: 'the pod is deleted 0.3 s after its start',
    steps: [{ at: 300, do: { kind: 'delete' } }],
    isWhileStarting: true,
  },
  overload: {
    title: 'the pod is deleted while the clients send ten times the usual number of requests per second',
    steps: [
      { at: warmUp, do: { kind: 'overload' } },
      { at: 2 * warmUp, do: { kind: 'delete' } },
    ],
  },
  'second-signal': {
    title: 'the process receives a second stop signal one second after the first',
    steps: [
      { at: warmUp, do: { kind: 'delete' } },
      { at: warmUp + 1_000, do: { kind: 'signalAgain' } },
    ],
  },
  'blocked-loop': {
    title: 'all processes of the container are suspended for 40 seconds',
    steps: [
      { at: warmUp, do: { kind: 'block' } },
      { at: warmUp + 40_000, do: { kind: 'unblock' } },
    ],
    endsAfter: 5_000,
  },
  'failing-liveness': {
    title: 'the liveness probe fails, so the kubelet restarts the container in the same pod',
    steps: [{ at: warmUp, do: { kind: 'failLiveness' } }],
    endsAfter: 5_000,
  },
  'crash-loop': {
    title:
      'the main process crashes five times; the kubelet restarts the container each time, after a tenth of the real back-off delay',
    steps: Array.from({ length: crashes }, (_, index) => ({
      at: warmUp + index * 8_000,
      do: { kind: 'crash' } as const,
    })),
    endsAfter: 8_000,
    backoffScale: 10,
  },
  sidecars: {
    title: 'a pod with a sidecar is deleted: the kubelet ends the sidecar after the other containers',
    steps: [{ at: warmUp, do: { kind: 'delete' } }],
    needsSidecar: true,
  },
} as const satisfies Record<string, Scenario>;

/** ScenarioName is the name of a scenario, such as `rollout`. */
export type ScenarioName = keyof typeof scenarios;
