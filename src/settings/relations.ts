// Warns about settings that are valid on their own but conflict with each other. The warnings are logged once, at the
// start.
import { settingWithSource, type ExplainedBudget } from './budget.ts';
import type { Sources } from './complete.ts';
import { formatDuration } from './duration.ts';
import type { SettingName, Settings } from './table.ts';

// The default of a probe's `timeoutSeconds`, in milliseconds.
const defaultProbeTimeout = 1_000;

/** relationWarnings returns one warning for each conflict between settings. */
export function relationWarnings(settings: Settings, sources: Sources, { drain, sum }: ExplainedBudget): string[] {
  const { requestTimeout, healthCheckTimeout, shutdownWatchTerminationGracePeriod } = settings;
  const { readyzEventLoopStallLimit, livezEventLoopStallLimit } = settings;
  const part = (name: SettingName): string => settingWithSource(settings, sources, name);
  const warnings: string[] = [];
  if (requestTimeout > drain) {
    warnings.push(
      `${part('requestTimeout')} is longer than the time limit of the drain, which would cut a request that uses the whole requestTimeout: ${sum}`,
    );
  }
  // Warn only if shutdownWatchTerminationGracePeriod was set. Its default value may be longer than the time limit of
  // the drain. This is intended, because long-running requests may then use the whole time of the drain.
  if (shutdownWatchTerminationGracePeriod > drain && sources.shutdownWatchTerminationGracePeriod !== 'default') {
    warnings.push(
      `${part('shutdownWatchTerminationGracePeriod')} is longer than the time limit of the drain, so the drain ends long-running requests when the time limit of the drain is reached: ${sum}`,
    );
  }
  if (healthCheckTimeout >= defaultProbeTimeout) {
    warnings.push(
      `${part('healthCheckTimeout')} is not shorter than ${formatDuration(defaultProbeTimeout)}, the default timeout of a` +
        ' probe: if a check hangs, the probe times out first, so the kubelet gets no response with the name of the check',
    );
  }
  if (livezEventLoopStallLimit > 0 && livezEventLoopStallLimit < readyzEventLoopStallLimit) {
    warnings.push(
      `${part('livezEventLoopStallLimit')} is shorter than ${part('readyzEventLoopStallLimit')}: if the event` +
        ' loop is blocked, the container restarts before the pod is removed from its Services',
    );
  }
  return warnings;
}
