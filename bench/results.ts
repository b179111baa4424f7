// Reads and writes bench/results.json, which has the results of the benchmark. `npm run docs` writes docs/benchmarks.md
// and its pictures from this file.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import type { Leases } from './leases/leases.ts';
import type { Shutdown } from './losses/shutdown.ts';
import type { Effort } from './price/measure.ts';
import type { Price } from './price/price.ts';
import type { Probes } from './probes/probes.ts';
import type { Thread } from './probes/thread.ts';
import type { Rate } from './rollouts/rate.ts';
import type { Rollouts } from './rollouts/rollouts.ts';
import type { Start } from './start/start.ts';
import type { Drain, InMemory } from './streams/streams.ts';
import type { UseEffort } from './use/measure.ts';
import type { Use } from './use/section.ts';

export interface Results {
  readonly machine: string;
  /** Maps each shutdown package that the benchmark compares to the version that was measured. */
  readonly versions: Readonly<Record<string, string>>;
  readonly prices: Readonly<Record<string, Price>>;
  /**
   * The CPU time that each part of lameduck's code adds to a request. The keys are those of `parts` in price/parts.ts.
   */
  readonly partPrices: Readonly<Record<string, Price>>;
  readonly uses: readonly Use[];
  /**
   * Maps each shutdown package that the benchmark compares to the results of its shutdowns: one list for each shutdown
   * delay in `effort.delays`.
   */
  readonly shutdowns: Readonly<Record<string, readonly (readonly Shutdown[])[]>>;
  readonly rollouts: readonly Rollouts[];
  readonly rate: Rate;
  readonly start: Start;
  readonly streams: readonly Drain[];
  readonly inMemory: InMemory;
  readonly probes: Probes;
  readonly thread: Thread;
  readonly leases: Leases;
  readonly effort: {
    readonly lameduck: Effort;
    readonly other: Effort;
    readonly use: UseEffort;
    readonly rounds: number;
    /**
     * The number of rehearsed rollouts for each shutdown package and each of its two variants: with default options,
     * and with a shutdown delay.
     */
    readonly rollouts: number;
    readonly delays: readonly number[];
  };
}

const file = new URL('./results.json', import.meta.url);
const significantDigits = 5;

/** machineText describes this machine, and its Node. */
export function machineText(): string {
  const model = cpus()[0]?.model ?? 'unknown';
  return `Node ${process.version} on ${process.platform} ${process.arch}, ${String(availableParallelism())} cores (${model})`;
}

/**
 * saveResults writes results to bench/results.json. It rounds numbers to five significant digits, because the benchmark
 * does not measure more exactly.
 */
export function saveResults(results: Partial<Results>): void {
  const round = (_key: string, value: unknown): unknown =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(significantDigits)) : value;
  writeFileSync(file, `${JSON.stringify(results, round)}\n`);
}

/** savedResults reads bench/results.json. The returned object has no key for a measurement that was never made. */
export function savedResults(): Partial<Results> {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<Results>) : {};
}
