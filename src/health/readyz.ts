// The checks that /readyz has of its own: what turns it red without anybody having added a check.
import type { LifecycleSignals } from '../lifecycle/signals.ts';
import type { Check } from './check.ts';

/** shutdownCheck fails from ShutdownInitiated on; nothing makes it pass again (P-091). */
export function shutdownCheck({ shutdownInitiated }: LifecycleSignals): Check {
  return {
    name: 'shutdown',
    run() {
      if (shutdownInitiated.hasSignaled) throw new Error('process is shutting down');
    },
  };
}

/** postStartHookCheck fails until its post-start hook has ended well. */
export function postStartHookCheck(hook: string, isFinished: () => boolean): Check {
  return {
    name: `poststarthook/${hook}`,
    run() {
      if (!isFinished()) throw new Error('not finished');
    },
  };
}
