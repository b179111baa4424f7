// Computes medians and their confidence intervals, by bootstrap. The same numbers always give the same interval.
import { seededRandom } from '../src/cli/rehearsal/random.ts';

export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

const resamples = 2_000;

/** `median()` returns the middle of the values, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** `quantile()` sorts the values, and interpolates linearly between the two values next to the quantile. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = Float64Array.from(values).sort();
  const place = (sorted.length - 1) * part;
  const below = sorted[Math.floor(place)] ?? NaN;
  const above = sorted[Math.ceil(place)] ?? NaN;
  return below + (above - below) * (place - Math.floor(place));
}

/**
 * `estimate()` computes a statistic of groups of samples, and its 95 % confidence interval by bootstrap. Each group has
 * the samples of one process. Samples of one process are more alike than samples of two processes. The bootstrap
 * therefore draws groups with replacement, and then samples from each drawn group.
 */
export function estimate<Sample>(
  groups: readonly (readonly Sample[])[],
  statistic: (samples: readonly Sample[]) => number,
): Estimate {
  const random = seededRandom(1);
  const draw = <Item>(items: readonly Item[]): Item[] =>
    items.map(() => items[Math.floor(random() * items.length)] as Item);
  const statistics = Array.from({ length: resamples }, () => statistic(draw(groups).flatMap(draw)));
  return { value: statistic(groups.flat()), low: quantile(statistics, 0.025), high: quantile(statistics, 0.975) };
}
