// Computes times as the kubelet does when it ends a container. One budget in whole seconds covers the preStop hook, the
// wait for other containers, and the time between the stop signal and SIGKILL. No side effects.

/** minimumStopTimeout is the shortest time between the stop signal and SIGKILL, in seconds (K-084). */
export const minimumStopTimeout = 2;

/** Kill says why the kubelet ends a container. */
export type Kill =
  | { readonly cause: 'deletion'; readonly gracePeriodSeconds?: number | undefined }
  | { readonly cause: 'probe'; readonly type: 'liveness' | 'startup'; readonly gracePeriodSeconds?: number | undefined }
  | { readonly cause: 'hardEviction' }
  | { readonly cause: 'softEviction'; readonly maxPodGracePeriodSeconds: number }
  | { readonly cause: 'nodeShutdown'; readonly shutdownGracePeriodSeconds: number };

/**
 * effectiveGrace returns the grace period with which the kubelet ends a pod or a container, in seconds. It is at least
 * 1 (K-071, K-125, K-174, K-175).
 */
export function effectiveGrace(kill: Kill, terminationGracePeriodSeconds: number): number {
  return Math.max(1, graceOf(kill, terminationGracePeriodSeconds));
}

function graceOf(kill: Kill, pod: number): number {
  switch (kill.cause) {
    case 'deletion':
    case 'probe':
      return kill.gracePeriodSeconds ?? pod;
    case 'hardEviction':
      return 1;
    case 'softEviction':
      return Math.min(kill.maxPodGracePeriodSeconds, pod);
    case 'nodeShutdown':
      return Math.min(kill.shutdownGracePeriodSeconds, pod);
    default:
      return kill satisfies never;
  }
}

/**
 * `remaining()` returns how many seconds of the grace period remain after a step of the shutdown, such as the preStop
 * hook. The kubelet rounds the duration of such a step down to whole seconds (K-083).
 */
export function remaining(budgetSeconds: number, stepMilliseconds: number): number {
  return budgetSeconds - Math.floor(stepMilliseconds / 1_000);
}

/** stopTimeout returns the seconds from the stop signal to SIGKILL (K-084). */
export function stopTimeout(remainingSeconds: number): number {
  return Math.max(minimumStopTimeout, remainingSeconds);
}
