// The kubelet's probe thresholds: after how many equal results in a row the kubelet changes the state of a probe. No
// side effects.

/** ProbeType is one of the three probes of a container. */
export type ProbeType = 'startup' | 'readiness' | 'liveness';

/**
 * Result is the result of one run of a probe. The result `error` means that the run could not be completed. The kubelet
 * ignores such a run (K-007).
 */
export type Result = 'success' | 'failure' | 'error';

/**
 * Published is the result of a probe on which the kubelet acts. It changes only when the number of equal results in a
 * row reaches successThreshold or failureThreshold. For a startup probe, Published is `unknown` until a threshold is
 * reached for the first time.
 */
export type Published = 'success' | 'failure' | 'unknown';

/** Thresholds are `successThreshold` and `failureThreshold` of a probe. */
export interface Thresholds {
  readonly success: number;
  readonly failure: number;
}

/**
 * Streak contains the recent results of one probe of one container. A restart of the container resets only the fields
 * `published` and `isOnHold`: the other fields keep their values (K-050).
 */
export interface Streak {
  readonly published: Published;
  readonly last: 'success' | 'failure' | undefined;
  readonly run: number;
  /**
   * isOnHold is true if the kubelet sends no more probes of this kind to the container. It becomes false when the
   * container has restarted (K-056).
   */
  readonly isOnHold: boolean;
}

// For each type of probe, the result on which the kubelet acts before the probe has run for the first time (K-048).
const initial: Readonly<Record<ProbeType, Published>> = {
  startup: 'unknown',
  readiness: 'failure',
  liveness: 'success',
};

/** newStreak returns the initial state of a probe, from which the kubelet has no result yet. */
export function newStreak(type: ProbeType): Streak {
  return { published: initial[type], last: undefined, run: 0, isOnHold: false };
}

/** afterResult returns the state of a probe worker after one result (K-049, K-056). */
export function afterResult(streak: Streak, type: ProbeType, result: Result, thresholds: Thresholds): Streak {
  if (result === 'error') return streak;
  const run = result === streak.last ? streak.run + 1 : 1;
  if (run < thresholds[result]) return { ...streak, last: result, run };
  const isOnHold = type === 'startup' || (type === 'liveness' && result === 'failure');
  return { published: result, last: result, run: isOnHold ? 0 : run, isOnHold };
}

/**
 * inNewContainer returns the state of a probe after a restart of its container. The number of equal results in a row
 * stays. The result on which the kubelet acts becomes the initial result again.
 */
export function inNewContainer(streak: Streak, type: ProbeType): Streak {
  return { ...streak, published: initial[type], isOnHold: false };
}

/**
 * afterExit returns the state of a probe worker whose container has exited. The probe counts as failed until the next
 * container runs (K-052).
 */
export function afterExit(streak: Streak): Streak {
  return { ...streak, published: 'failure' };
}
