// Why /readyz is red: every reason that lameduck gives by itself, whichever part gives it. Each reason is the name of a check
// that fails. The checks of the program are its own reasons.
import type { LifecycleSignals } from '../lifecycle/signals.ts';
import type { LastCheck } from './endpoint.ts';

/** reasons has the names of the checks. */
export const reasons = {
  /** The log cannot be flushed. */
  log: 'log',
  /** The event loop is blocked. On the main thread it always passes: a response from there shows that the event loop runs. */
  stall: 'event-loop',
  /** The shutdown has begun. */
  shutdown: 'shutdown',
  /** `POST /ready?state=unready` on the debug socket. */
  debugSocket: 'debug-socket',
  /** A post-start hook has not ended, or has failed. */
  postStartHook: (name: string): string => `poststarthook/${name}`,
} as const;

/** shutdownCheck fails from ShutdownInitiated on, and never passes again (P-091). */
export function shutdownCheck({ shutdownInitiated }: LifecycleSignals): LastCheck {
  return {
    name: reasons.shutdown,
    run: () => (shutdownInitiated.hasSignaled ? new Error('process is shutting down') : undefined),
  };
}
