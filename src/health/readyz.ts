// The names of lameduck's own checks on /readyz. The name of a failing check says why /readyz fails.
import type { LifecycleSignals } from '../lifecycle/signals.ts';
import type { LastCheck } from './endpoint.ts';

/** reasons are the names of lameduck's own checks. */
export const reasons = {
  /** log fails while the log cannot be flushed. */
  log: 'log',
  /**
   * stall fails while the event loop is blocked. If the main thread answers the probe, this check passes, because the
   * answer shows that the event loop runs.
   */
  stall: 'event-loop',
  /** shutdown fails when the shutdown has begun. */
  shutdown: 'shutdown',
  /** debugSocket fails after `POST /ready?state=unready` on the debug socket. */
  debugSocket: 'debug-socket',
  /** postStartHook fails while a post-start hook is running, and after it has failed. */
  postStartHook: (name: string): string => `poststarthook/${name}`,
} as const;

/** shutdownCheck returns the check that fails from ShutdownInitiated on and never passes again (P-091). */
export function shutdownCheck({ shutdownInitiated }: LifecycleSignals): LastCheck {
  return {
    name: reasons.shutdown,
    run: () => (shutdownInitiated.hasSignaled ? new Error('process is shutting down') : undefined),
  };
}
