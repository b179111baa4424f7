// What does not fit together in settings that are valid one by one: said once at the start, and nothing is refused.
import { settingWithSource, type ExplainedBudget } from './budget.ts';
import type { Sources } from './complete.ts';
import { formatDuration } from './duration.ts';
import type { SettingName, Settings } from './table.ts';

// The `timeoutSeconds` of a probe that does not say, in milliseconds.
const defaultProbeTimeout = 1_000;

/** relationWarnings returns one warning for each relation that does not hold, with the sum that shows it. */
export function relationWarnings(settings: Settings, sources: Sources, { drain, sum }: ExplainedBudget): string[] {
  const { requestTimeout, healthCheckTimeout, shutdownWatchTerminationGracePeriod } = settings;
  const { readyzEventLoopStallLimit, livezEventLoopStallLimit } = settings;
  const part = (name: SettingName): string => settingWithSource(settings, sources, name);
  const warnings: string[] = [];
  if (requestTimeout > drain) {
    warnings.push(
      `${part('requestTimeout')} is longer than the drain, whose end cuts a request that takes so long: ${sum}`,
    );
  }
  // The default is meant to be cut to what there is.
  if (shutdownWatchTerminationGracePeriod > drain && sources.shutdownWatchTerminationGracePeriod !== 'default') {
    warnings.push(`${part('shutdownWatchTerminationGracePeriod')} is longer than the drain, and cut to it: ${sum}`);
  }
  if (healthCheckTimeout >= defaultProbeTimeout) {
    warnings.push(
      `${part('healthCheckTimeout')} is not below ${formatDuration(defaultProbeTimeout)}, when a probe without a` +
        ' timeoutSeconds of its own gives up, and nobody learns which check it was',
    );
  }
  if (livezEventLoopStallLimit > 0 && livezEventLoopStallLimit < readyzEventLoopStallLimit) {
    warnings.push(
      `${part('livezEventLoopStallLimit')} is shorter than ${part('readyzEventLoopStallLimit')}: a process whose event` +
        ' loop is blocked is restarted before it is out of its services',
    );
  }
  return warnings;
}
