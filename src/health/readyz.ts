// The check `shutdown`, which every /readyz has.
import type { LifecycleSignals } from '../lifecycle/signals.ts';
import type { LastCheck } from './endpoint.ts';

/** shutdownCheck fails from ShutdownInitiated on, and never passes again (P-091). */
export function shutdownCheck({ shutdownInitiated }: LifecycleSignals): LastCheck {
  return {
    name: 'shutdown',
    run: () => (shutdownInitiated.hasSignaled ? new Error('process is shutting down') : undefined),
  };
}
