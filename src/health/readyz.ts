// Contains lameduck's own checks of /readyz, each with the condition under which the check fails. In addition, /readyz
// runs the checks that the program adds with `addReadyzCheck`.
import type { LifecycleSignals } from '../lifecycle/signals.ts';
import type { CheckFunction } from './check.ts';
import type { LastCheck } from './endpoint.ts';
import type { LogCheck } from './log-check.ts';

/** OwnCheck is a check that lameduck itself adds to /readyz. */
export interface OwnCheck {
  readonly name: string;
  readonly run: CheckFunction;
  /**
   * isPresent tells whether /readyz currently has this check. If isPresent is undefined, /readyz always has the check.
   */
  readonly isPresent?: () => boolean;
}

/**
 * Readiness tells whether the cluster workers or the worker threads are ready. `ready()` rejects while they are not
 * ready.
 */
export interface Readiness {
  ready(): Promise<void>;
}

/**
 * ThreadReadiness tells whether the worker threads are ready. `isPresent()` tells whether a worker thread has a server.
 */
export interface ThreadReadiness extends Readiness {
  isPresent(): boolean;
}

/**
 * The names of two readiness checks. The probe thread computes the results of these checks itself, for the probes on
 * the probe port.
 */
export const stallName = 'event-loop';
export const shutdownName = 'shutdown';

/**
 * `reasons` contains a function for each check that lameduck itself adds to /readyz. The function creates the check.
 * The name of a failed check in the response tells the reader why /readyz fails.
 */
export const reasons = {
  /** log returns the check `log`. It fails while the log cannot be flushed. */
  log: (logCheck: LogCheck): OwnCheck => ({
    name: 'log',
    run: () => {
      logCheck.run();
    },
  }),
  /**
   * stall returns the check `event-loop`. When the main thread answers a probe, the check passes, because the event
   * loop is evidently not blocked. On the probe port, the probe thread decides the result of the check with
   * `isStalled`. There, the check also fails until the main thread has answered its first probe.
   */
  stall: (): OwnCheck => ({ name: stallName, run: () => true }),
  /**
   * shutdown returns the check `shutdown`. It fails from ShutdownInitiated on and never passes again (P-091).
   * On the probe port, its failure replaces an answer that the main thread gave before ShutdownInitiated (P-077).
   */
  shutdown: ({ shutdownInitiated }: LifecycleSignals): LastCheck => ({
    name: shutdownName,
    run: () => (shutdownInitiated.hasSignaled ? new Error('process is shutting down') : undefined),
  }),
  /**
   * debugSocket returns the check `debug-socket`. It fails after `POST /ready?state=unready` on the debug socket, until
   * another request to the debug socket makes the process ready again.
   */
  debugSocket: (health: { readonly isHeldUnready: boolean }): OwnCheck => ({
    name: 'debug-socket',
    run: () => !health.isHeldUnready,
  }),
  /**
   * threads returns the check `worker-threads`. It fails while a worker thread with a server is not ready. It exists
   * only if a worker thread has a server.
   */
  threads: (threads: ThreadReadiness): OwnCheck => ({
    name: 'worker-threads',
    run: () => threads.ready(),
    isPresent: () => threads.isPresent(),
  }),
  /**
   * listening returns the check `listening`. It fails until every server listens. Only a lifecycle with several servers
   * has this check.
   */
  listening: ({ muxAndDiscoveryComplete }: LifecycleSignals): OwnCheck => ({
    name: 'listening',
    run: () => muxAndDiscoveryComplete.hasSignaled,
  }),
  /**
   * workers returns the check `workers`. It fails while no worker is ready. Only the primary of node:cluster has this
   * check.
   */
  workers: (workers: Readiness): OwnCheck => ({ name: 'workers', run: () => workers.ready() }),
  /**
   * postStartHook returns the check `poststarthook/<name>`. It fails while the post-start hook is running, and after
   * the hook has failed.
   */
  postStartHook: (hook: string, isFinished: () => boolean): OwnCheck => ({
    name: `poststarthook/${hook}`,
    run: () => {
      if (!isFinished()) throw new Error('not finished');
    },
  }),
} as const;

/**
 * isStalled tells whether the event loop has been blocked for at least `limit` milliseconds. With the limit 0, the
 * event loop never counts as blocked.
 */
export function isStalled(stalledMs: number, limit: number): boolean {
  return limit > 0 && stalledMs >= limit;
}
