// The kubelet's thresholds: which results in a row change what it publishes of a container. Pure.

/** ProbeType is one of the three probes of a container. */
export type ProbeType = 'startup' | 'readiness' | 'liveness';

/** Result is what one probe run found. An `error` is a run that could not be completed: the kubelet discards it (K-007). */
export type Result = 'success' | 'failure' | 'error';

/** Published is what the kubelet acts on. `unknown` is the startup probe's value before its first published result. */
export type Published = 'success' | 'failure' | 'unknown';

/** Thresholds are `successThreshold` and `failureThreshold` of the pod's specification. */
export interface Thresholds {
  readonly success: number;
  readonly failure: number;
}

/** Streak is the state of one probe worker. It survives the container, except for `published` and `isOnHold` (K-050). */
export interface Streak {
  readonly published: Published;
  readonly last: 'success' | 'failure' | undefined;
  readonly run: number;
  /** A worker on hold does not probe until it sees a new container (K-056). */
  readonly isOnHold: boolean;
}

// K-048.
const initial: Readonly<Record<ProbeType, Published>> = {
  startup: 'unknown',
  readiness: 'failure',
  liveness: 'success',
};

/** newStreak returns the state of a worker before its first probe. */
export function newStreak(type: ProbeType): Streak {
  return { published: initial[type], last: undefined, run: 0, isOnHold: false };
}

/** afterResult returns the state after one probe run (K-049, K-056). */
export function afterResult(streak: Streak, type: ProbeType, result: Result, thresholds: Thresholds): Streak {
  if (result === 'error') return streak;
  const run = result === streak.last ? streak.run + 1 : 1;
  if (run < thresholds[result]) return { ...streak, last: result, run };
  const isOnHold = type === 'startup' || (type === 'liveness' && result === 'failure');
  return { published: result, last: result, run: isOnHold ? 0 : run, isOnHold };
}

/** inNewContainer returns the state when the worker sees a new container: the streak goes on, the published result does not. */
export function inNewContainer(streak: Streak, type: ProbeType): Streak {
  return { ...streak, published: initial[type], isOnHold: false };
}

/** afterExit returns the state when the container has exited: it counts as failed until the next one runs (K-052). */
export function afterExit(streak: Streak): Streak {
  return { ...streak, published: 'failure' };
}
