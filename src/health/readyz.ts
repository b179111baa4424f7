// Every reason of lameduck's own for which /readyz fails, with its condition, whichever part has the facts. The other
// reasons are the checks that the program adds with `addReadyzCheck`.
import type { LifecycleSignals } from '../lifecycle/signals.ts';
import type { CheckFunction } from './check.ts';
import type { LastCheck } from './endpoint.ts';
import type { LogCheck } from './log-check.ts';

/** OwnCheck is a check that lameduck itself adds to /readyz. */
export interface OwnCheck {
  readonly name: string;
  readonly run: CheckFunction;
  /** isPresent tells whether the check exists at the moment. If it is undefined, the check always exists. */
  readonly isPresent?: () => boolean;
}

/** Readiness is the readiness of workers. `ready` rejects while they are not ready. */
export interface Readiness {
  ready(): Promise<void>;
}

/** ThreadReadiness is the readiness of the worker threads. `isPresent` tells whether one of them has a server. */
export interface ThreadReadiness extends Readiness {
  isPresent(): boolean;
}

/** stallName and shutdownName are the names of the two checks that the probe thread applies itself. */
export const stallName = 'event-loop';
export const shutdownName = 'shutdown';

/**
 * reasons has one function for each check that lameduck itself adds to /readyz. The function returns the check, whose
 * name in the report says why /readyz fails.
 */
export const reasons = {
  /** log fails while the log cannot be flushed. */
  log: (logCheck: LogCheck): OwnCheck => ({
    name: 'log',
    run: () => {
      logCheck.run();
    },
  }),
  /**
   * stall always passes on the main thread, because the event loop runs if the main thread answers. `isStalled` decides
   * on the probe thread. /readyz also fails with this name on the probe port while the main thread has answered no
   * probe yet.
   */
  stall: (): OwnCheck => ({ name: stallName, run: () => true }),
  /**
   * shutdown fails from ShutdownInitiated on and never passes again (P-091). On the probe port, it also replaces
   * an answer of the main thread from before ShutdownInitiated (P-077).
   */
  shutdown: ({ shutdownInitiated }: LifecycleSignals): LastCheck => ({
    name: shutdownName,
    run: () => (shutdownInitiated.hasSignaled ? new Error('process is shutting down') : undefined),
  }),
  /** debugSocket fails after `POST /ready?state=unready` on the debug socket. */
  debugSocket: (health: { readonly isHeldUnready: boolean }): OwnCheck => ({
    name: 'debug-socket',
    run: () => !health.isHeldUnready,
  }),
  /** threads fails while a worker thread with a server is not ready. It exists only if there is such a thread. */
  threads: (threads: ThreadReadiness): OwnCheck => ({
    name: 'worker-threads',
    run: () => threads.ready(),
    isPresent: () => threads.isPresent(),
  }),
  /** listening fails until every server listens. Only a lifecycle with several servers has this check. */
  listening: ({ muxAndDiscoveryComplete }: LifecycleSignals): OwnCheck => ({
    name: 'listening',
    run: () => muxAndDiscoveryComplete.hasSignaled,
  }),
  /** workers fails while no worker is ready. Only a primary of node:cluster has this check. */
  workers: (workers: Readiness): OwnCheck => ({ name: 'workers', run: () => workers.ready() }),
  /** postStartHook fails while a post-start hook is running, and after it has failed. */
  postStartHook: (hook: string, isFinished: () => boolean): OwnCheck => ({
    name: `poststarthook/${hook}`,
    run: () => {
      if (!isFinished()) throw new Error('not finished');
    },
  }),
} as const;

/**
 * isStalled tells whether the event loop has been blocked for at least the limit, in milliseconds. With the limit 0, it
 * never counts as blocked.
 */
export function isStalled(stalledMs: number, limit: number): boolean {
  return limit > 0 && stalledMs >= limit;
}
