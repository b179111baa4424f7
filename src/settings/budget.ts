// Computes the shutdown budget: how the pod's grace period is divided, so that the process exits before SIGKILL.
import { LameduckError } from '../errors.ts';
import type { CompletedSettings, Sources } from './complete.ts';
import { formatDuration } from './duration.ts';
import { settingsTable, type SettingName, type Settings } from './table.ts';
import { settingTexts, sourceWord, textOf } from './text.ts';

// Milliseconds reserved for the exit of the process. The grace period begins before the process receives its signal.
const exitMargin = 2_000;

// The shortest valid drain, in milliseconds.
const shortestDrain = 1_000;

/** Budget contains the parts of the grace period, in milliseconds. */
export interface Budget {
  /** total is the time from the process signal to the latest exit: grace period − preStop − 2 s. */
  readonly total: number;
  /** drain is the time for requests in flight: total − max(delay, longest pre-shutdown hook) − destroy hooks. */
  readonly drain: number;
}

/**
 * ExplainedBudget is a budget with a text for the log and for errors. The text shows each number of the sum and its
 * source.
 */
export interface ExplainedBudget extends Budget {
  readonly sum: string;
}

/** budgetOf computes the budget. `longestHook` is the longest limit of the registered pre-shutdown hooks. */
export function budgetOf(settings: Settings, longestHook: number): Budget {
  const { shutdownDelayDuration, destroyHookTimeout, terminationGracePeriodSeconds, preStopSeconds } = settings;
  const total = (terminationGracePeriodSeconds - preStopSeconds) * 1_000 - exitMargin;
  return { total, drain: total - Math.max(shutdownDelayDuration, longestHook) - destroyHookTimeout };
}

/** explainBudget computes the budget, and shows the sum as a text. */
export function explainBudget(settings: Settings, longestHook: number, sources: Sources): ExplainedBudget {
  const { total, drain } = budgetOf(settings, longestHook);
  const part = (name: SettingName): string => settingWithSource(settings, sources, name);
  const sum =
    `${part('terminationGracePeriodSeconds')} - ${part('preStopSeconds')} - margin ${formatDuration(exitMargin)}` +
    ` = budget ${formatDuration(total)};` +
    ` - max(${part('shutdownDelayDuration')}, pre-shutdown hooks ${formatDuration(longestHook)})` +
    ` - ${part('destroyHookTimeout')} = drain ${formatDuration(drain)}`;
  return { total, drain, sum };
}

/**
 * inStartLine returns two fields of the start line: the sum of the budget, and the settings that are set and not part
 * of the sum. It shortens their sources to one word.
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

/** settingWithSource formats a setting for the sum: its name, its value and the source of the value. */
export function settingWithSource(settings: Settings, sources: Sources, name: SettingName): string {
  return `${name} ${textOf(settingsTable[name].kind, settings[name])} (${sources[name]})`;
}

/**
 * cutDelay shortens the delay so that the shortest valid drain fits, if possible. If the delay fits, it returns
 * `settings` itself.
 */
export function cutDelay(settings: Settings): Settings {
  const missing = shortestDrain - budgetOf(settings, 0).drain;
  const delay = Math.max(0, settings.shutdownDelayDuration - missing);
  return missing <= 0 ? settings : { ...settings, shutdownDelayDuration: delay };
}

/**
 * withoutDelay returns the settings for development. If code sets the delay, the delay becomes 0, with the source
 * `development`. A delay from the environment and the default delay do not change.
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
 * checkBudget throws LAMEDUCK_ERR_BUDGET_TOO_SHORT, with the sum, if less than a second is left for requests in flight
 * (P-075).
 */
export function checkBudget(budget: ExplainedBudget): void {
  if (budget.drain >= shortestDrain) return;
  throw new LameduckError(
    'LAMEDUCK_ERR_BUDGET_TOO_SHORT',
    `the drain would have ${formatDuration(budget.drain)}, expected at least ${formatDuration(shortestDrain)}: ${budget.sum}`,
  );
}
