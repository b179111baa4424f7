// Computes the shutdown budget: divides the pod's grace period into delay, hooks and drain, so that the process exits
// before SIGKILL.
import { LameduckError } from '../errors.ts';
import type { CompletedSettings, Sources } from './complete.ts';
import { formatDuration } from './duration.ts';
import { settingsTable, type SettingName, type Settings } from './table.ts';
import { settingTexts, sourceWord, textOf } from './text.ts';

// How many milliseconds at the end of the pod's grace period are reserved for the exit of the process. The kubelet
// starts the grace period some time before the process receives its signal. If the grace period is short, less time is
// reserved: the shutdown budget is always at least `shortestDrain`.
const exitMargin = 2_000;

// The shortest time, in milliseconds, that the shutdown budget leaves for the drain.
export const shortestDrain = 1_000;

/** Budget contains the shutdown budget, and the part of it that the drain may use, in milliseconds. */
export interface Budget {
  /**
   * total is the whole shutdown budget, the longest time from the process signal to the exit. It is the grace period
   * minus preStop minus 2 s, but at least 1 s.
   */
  readonly total: number;
  /** `drain` is the time for requests in flight: total − max(delay, longest pre-shutdown hook) − destroy hooks. */
  readonly drain: number;
}

/**
 * ExplainedBudget is a shutdown budget and a text that explains it in the log and in errors. The text shows how each
 * part of the budget was computed, and names the source of each setting, such as an environment variable.
 */
export interface ExplainedBudget extends Budget {
  readonly sum: string;
}

/**
 * budgetOf computes the shutdown budget and the part of it for the drain. `longestHook` is the longest time limit of a
 * registered pre-shutdown hook, in milliseconds.
 */
export function budgetOf(settings: Settings, longestHook: number): Budget {
  const { shutdownDelayDuration, destroyHookTimeout, terminationGracePeriodSeconds, preStopSeconds } = settings;
  // The kubelet waits at least 2 s between the process signal and SIGKILL, even if the grace period is shorter (K-084).
  // So a shutdown budget of `shortestDrain` is always possible.
  const total = Math.max(shortestDrain, (terminationGracePeriodSeconds - preStopSeconds) * 1_000 - exitMargin);
  return { total, drain: total - Math.max(shutdownDelayDuration, longestHook) - destroyHookTimeout };
}

/** explainBudget computes the shutdown budget, and adds a text that shows the computation. */
export function explainBudget(settings: Settings, longestHook: number, sources: Sources): ExplainedBudget {
  const { total, drain } = budgetOf(settings, longestHook);
  const margin = (settings.terminationGracePeriodSeconds - settings.preStopSeconds) * 1_000 - total;
  const part = (name: SettingName): string => settingWithSource(settings, sources, name);
  const sum =
    `${part('terminationGracePeriodSeconds')} - ${part('preStopSeconds')} - margin ${formatDuration(margin)}` +
    ` = budget ${formatDuration(total)};` +
    ` budget - max(${part('shutdownDelayDuration')}, pre-shutdown hooks ${formatDuration(longestHook)})` +
    ` - ${part('destroyHookTimeout')} = drain ${formatDuration(drain)}`;
  return { total, drain, sum };
}

/**
 * inStartLine returns two values for the log line `lifecycle started`. `budgetSum` shows how the budget is computed.
 * `settings` contains the settings that are set but do not occur in `budgetSum`. Each setting is followed by its source
 * in one word, such as `env`.
 */
export function inStartLine(
  settings: Settings,
  sources: Sources,
  longestHook: number,
): { readonly budgetSum: string; readonly settings: Readonly<Record<string, string>> } {
  const words = Object.fromEntries(Object.entries(sources).map(([name, source]) => [name, sourceWord(source)]));
  const { sum } = explainBudget(settings, longestHook, words as Sources);
  const texts = Object.entries(settingTexts(settingsTable, settings, sources));
  const set = texts.filter(([name]) => words[name] !== 'default' && !sum.includes(`${name} `));
  return { budgetSum: sum, settings: Object.fromEntries(set) };
}

/** settingWithSource formats a setting as text: its name, its value and the source of the value. */
export function settingWithSource(settings: Settings, sources: Sources, name: SettingName): string {
  return `${name} ${textOf(settingsTable[name].kind, settings[name])} (${sources[name]})`;
}

/**
 * withinBudget shortens the shutdown delay, so that at least `shortestDrain` remains for the drain. If even a shutdown
 * delay of 0 leaves too little time, it also shortens `destroyHookTimeout`. If the given settings already leave enough
 * time for the drain, withinBudget returns them unchanged.
 */
export function withinBudget(settings: Settings): Settings {
  const { shutdownDelayDuration: delay, destroyHookTimeout: hooks } = settings;
  const missing = shortestDrain - budgetOf(settings, 0).drain;
  if (missing <= 0) return settings;
  return {
    ...settings,
    shutdownDelayDuration: Math.max(0, delay - missing),
    destroyHookTimeout: Math.max(0, hooks - Math.max(0, missing - delay)),
  };
}

/**
 * withoutDelay returns the settings for development. If code sets the shutdown delay, the delay becomes 0, with the
 * source `development`. A delay from the environment and the default delay do not change.
 */
export function withoutDelay<Completed extends CompletedSettings>(completed: Completed): Completed {
  const { settings, sources } = completed;
  if (sources.shutdownDelayDuration !== 'code') return completed;
  return {
    ...completed,
    settings: { ...settings, shutdownDelayDuration: 0 },
    sources: { ...sources, shutdownDelayDuration: 'development' },
  };
}

/**
 * checkBudget throws LAMEDUCK_ERR_BUDGET_TOO_SHORT if the budget leaves less than a second for requests in flight
 * (P-075). The message contains the computation of the budget.
 */
export function checkBudget(budget: ExplainedBudget): void {
  if (budget.drain >= shortestDrain) return;
  throw new LameduckError(
    'LAMEDUCK_ERR_BUDGET_TOO_SHORT',
    `the drain would get ${formatDuration(budget.drain)}, expected at least ${formatDuration(shortestDrain)}: ${budget.sum}`,
  );
}
