// The check that /readyz has of its own: what turns it red without anybody having added a check.
import type { LifecycleSignals } from '../lifecycle/signals.ts';
import type { LastCheck } from './endpoint.ts';

/** shutdownCheck fails from ShutdownInitiated on; nothing makes it pass again (P-091). */
export function shutdownCheck({ shutdownInitiated }: LifecycleSignals): LastCheck {
  return {
    name: 'shutdown',
    run: () => (shutdownInitiated.hasSignaled ? new Error('process is shutting down') : undefined),
  };
}
