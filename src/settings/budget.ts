// The shutdown budget: how the pod's grace period is divided, so that the process ends ahead of SIGKILL.
import { LameduckError } from '../errors.ts';
import { formatDuration } from './duration.ts';
import type { Settings } from './table.ts';

// What is kept back for the end of the process itself, since the kubelet's clock started before ours.
const exitMargin = 2_000;

// A drain shorter than this is no drain.
const shortestDrain = 1_000;

/** Budget is the division of the grace period, in milliseconds. */
export interface Budget {
  /** From the process signal to the latest end: grace period − preStop − 2 s. */
  readonly total: number;
  /** What is left for requests in flight: total − max(delay, longest pre-shutdown hook) − destroy hooks. */
  readonly drain: number;
  /** The sum in words, for the log and for errors. */
  readonly sum: string;
}

/** budgetOf divides the grace period; `longestHook` is the longest limit of the registered pre-shutdown hooks. */
export function budgetOf(settings: Settings, longestHook: number): Budget {
  const { shutdownDelayDuration, destroyHookTimeout, terminationGracePeriodSeconds, preStopSeconds } = settings;
  const total = (terminationGracePeriodSeconds - preStopSeconds) * 1_000 - exitMargin;
  const before = Math.max(shutdownDelayDuration, longestHook);
  const drain = total - before - destroyHookTimeout;
  const sum =
    `terminationGracePeriodSeconds ${String(terminationGracePeriodSeconds)}s` +
    ` - preStopSeconds ${String(preStopSeconds)}s - margin ${formatDuration(exitMargin)}` +
    ` = budget ${formatDuration(total)};` +
    ` - max(shutdownDelayDuration ${formatDuration(shutdownDelayDuration)},` +
    ` pre-shutdown hooks ${formatDuration(longestHook)})` +
    ` - destroyHookTimeout ${formatDuration(destroyHookTimeout)} = drain ${formatDuration(drain)}`;
  return { total, drain, sum };
}

/**
 * checkBudget throws LAMEDUCK_ERR_BUDGET_TOO_SHORT, with the sum, when less than a second is left for requests in flight
 * (P-075).
 */
export function checkBudget(budget: Budget): void {
  if (budget.drain >= shortestDrain) return;
  throw new LameduckError(
    'LAMEDUCK_ERR_BUDGET_TOO_SHORT',
    `requests in flight would have ${formatDuration(budget.drain)}, and need at least ${formatDuration(shortestDrain)}: ${budget.sum}`,
  );
}
