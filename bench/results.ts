// The results of a complete run. They are stored in bench/results.json, from which the page and its pictures are
// written.
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
  /** For each package in the comparison, its measured version. */
  readonly versions: Readonly<Record<string, string>>;
  readonly prices: Readonly<Record<string, Price>>;
  /** The CPU time that each part of lameduck adds to a request, by the names in price/parts.ts. */
  readonly partPrices: Readonly<Record<string, Price>>;
  readonly uses: readonly Use[];
  /** The results of the measured shutdowns, for each implementation and each delay. */
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
    /** The number of rollouts of each implementation in each column. */
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
 * saveResults writes the results of a run. It rounds numbers to five significant digits, because the measurement is not
 * more exact.
 */
export function saveResults(results: Partial<Results>): void {
  const round = (_key: string, value: unknown): unknown =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(significantDigits)) : value;
  writeFileSync(file, `${JSON.stringify(results, round)}\n`);
}

/** savedResults returns the saved results. A part that has never been measured is missing. */
export function savedResults(): Partial<Results> {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<Results>) : {};
}
