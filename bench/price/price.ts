// Computes how much CPU time a shutdown package adds to a request. The input is pairs of measurements: one of a server
// without the package, and one of a server with it.
import { estimate, median, quantile, type Estimate } from '../statistics.ts';
import { measure, type Effort, type Pair } from './measure.ts';

export interface Price {
  /**
   * The CPU time of a whole request on bare `node:http`, in nanoseconds: the median of all measurements. `bareSpread`
   * has the 10th and the 90th percentile.
   */
  readonly bare: number;
  readonly bareSpread: readonly [number, number];
  readonly increment: Estimate;
  readonly incrementSpread: readonly [number, number];
  /**
   * The CPU time of a request with the package, divided by its CPU time without the package: (bare + increment) / bare.
   * For lameduck, this ratio must not exceed `limit`.
   */
  readonly ratio: Estimate;
  /** The CPU time of a whole request over loopback, compared with the bare server: as a difference and as a ratio. */
  readonly difference: Estimate;
  readonly wholeRatio: Estimate;
}

/**
 * The limit for the ratio: the CPU time of a request with lameduck, divided by the CPU time on a bare server. The
 * benchmark fails if the upper end of the confidence interval of this ratio is above the limit.
 */
export const limit = 1.03;

export async function priceOf(name: string, effort: Effort): Promise<Price> {
  const groups = await measure(name, effort);
  const pairs = groups.flat();
  return {
    bare: median(pairs.map(bare)),
    bareSpread: spread(pairs.map(bare)),
    increment: estimate(groups, (some) => median(some.map(increment))),
    incrementSpread: spread(pairs.map(increment)),
    ratio: estimate(groups, (some) => 1 + median(some.map(increment)) / median(some.map(bare))),
    difference: estimate(groups, (some) => median(some.map(difference))),
    wholeRatio: estimate(groups, (some) => 1 + median(some.map(difference)) / median(some.map(bare))),
  };
}

const bare = (pair: Pair): number => pair.bare;
const increment = (pair: Pair): number => pair.increment;
const difference = (pair: Pair): number => pair.other - pair.bare;

function spread(values: readonly number[]): readonly [number, number] {
  return [quantile(values, 0.1), quantile(values, 0.9)];
}
