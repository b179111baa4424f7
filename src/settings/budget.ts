// The shutdown budget: how the pod's grace period is divided, so that the process ends before SIGKILL.
import { LameduckError } from '../errors.ts';
import type { CompletedSettings, Sources } from './complete.ts';
import { formatDuration } from './duration.ts';
import { settingsTable, type SettingName, type Settings } from './table.ts';
import { settingTexts, sourceWord, textOf } from './text.ts';

// Time for the exit of the process, in milliseconds. The kubelet starts to count the grace period before the process does.
const exitMargin = 2_000;

// The shortest drain that is accepted, in milliseconds.
const shortestDrain = 1_000;

/** Budget is the division of the grace period, in milliseconds. */
export interface Budget {
  /** From the process signal to the latest end: grace period − preStop − 2 s. */
  readonly total: number;
  /** The time for requests in flight: total − max(delay, longest pre-shutdown hook) − destroy hooks. */
  readonly drain: number;
}

/** ExplainedBudget is a budget with the text of its sum, for the log and for errors: each number and its source. */
export interface ExplainedBudget extends Budget {
  readonly sum: string;
}

/** budgetOf divides the grace period; `longestHook` is the longest limit of the registered pre-shutdown hooks. */
export function budgetOf(settings: Settings, longestHook: number): Budget {
  const { shutdownDelayDuration, destroyHookTimeout, terminationGracePeriodSeconds, preStopSeconds } = settings;
  const total = (terminationGracePeriodSeconds - preStopSeconds) * 1_000 - exitMargin;
  return { total, drain: total - Math.max(shutdownDelayDuration, longestHook) - destroyHookTimeout };
}

/** explainBudget is budgetOf with the sum. */
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

/** inStartLine returns the sum of the budget, and the settings that are set and not in the sum, with short sources. */
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

/** settingWithSource writes a setting for a sum: its name, its value and where that came from. */
export function settingWithSource(settings: Settings, sources: Sources, name: SettingName): string {
  return `${name} ${textOf(settingsTable[name].kind, settings[name])} (${sources[name]})`;
}

/**
 * cutDelay returns the settings with a delay that is short enough to leave the shortest drain, if such a delay exists. It
 * returns the same object if the delay is already short enough.
 */
export function cutDelay(settings: Settings): Settings {
  const missing = shortestDrain - budgetOf(settings, 0).drain;
  const delay = Math.max(0, settings.shutdownDelayDuration - missing);
  return missing <= 0 ? settings : { ...settings, shutdownDelayDuration: delay };
}

/**
 * withoutDelay returns the settings for development. If code sets a delay, the delay becomes 0 and its source `development`.
 * A delay from the environment stays.
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
 * checkBudget throws LAMEDUCK_ERR_BUDGET_TOO_SHORT, with the sum, when less than a second is left for requests in flight
 * (P-075).
 */
export function checkBudget(budget: ExplainedBudget): void {
  if (budget.drain >= shortestDrain) return;
  throw new LameduckError(
    'LAMEDUCK_ERR_BUDGET_TOO_SHORT',
    `the drain would have ${formatDuration(budget.drain)}, expected at least ${formatDuration(shortestDrain)}: ${budget.sum}`,
  );
}
