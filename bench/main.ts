// `npm run bench` runs the benchmark, and writes bench/results.json and docs/benchmarks.md. The command fails if a
// request needs too much CPU time, a probe takes too long, or a stream was cut. Run `npm run build` first, because the
// benchmark measures the built files of lameduck/register.
//
//   --quick        measures only lameduck, in a few minutes, and writes nothing. Compares the CPU time of a request with
//                  the one in bench/results.json.
//   --only PART    measures only one part of bench/results.json, such as `prices`, and writes the new results of this part.
//                  With --quick, writes nothing.
//
// After the last measurement, the program runs `npm run docs`, which writes docs/benchmarks.md from bench/results.json.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { join } from 'node:path';
import { implementations, versionOf } from './implementations.ts';
import { shutDown, type Shutdown } from './losses/shutdown.ts';
import { measureLeases } from './leases/leases.ts';
import { parts } from './price/parts.ts';
import { limit, priceOf, type Price } from './price/price.ts';
import { measureProbes, missed } from './probes/probes.ts';
import { measureThread } from './probes/thread.ts';
import { machineText, savedResults, saveResults, type Results } from './results.ts';
import { measureRate } from './rollouts/rate.ts';
import { measureRollouts } from './rollouts/rollouts.ts';
import { measureStart } from './start/start.ts';
import type { StreamKind } from './streams/kinds.ts';
import { drainInMemory, drainSockets } from './streams/streams.ts';
import { measureUse } from './use/measure.ts';
import { requestRatio, type Use } from './use/section.ts';
import { bare, variants } from './use/variants.ts';
import { ratio, signed } from './format.ts';

// With --quick, the benchmark measures a ratio: the CPU time of a request with lameduck, divided by the CPU time on a
// bare server. It compares this ratio with the ratio in bench/results.json. It fails if the whole new confidence
// interval lies above the upper end of the saved interval plus this tolerance. The ratios on two kinds of processors
// differ by less than the tolerance.
const tolerance = 0.01;

let hasTried = false;

const { values: given } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
});
const isQuick = given.quick;
const effort = {
  lameduck: isQuick ? { processes: 3, pairs: 30 } : { processes: 8, pairs: 50 },
  other: { processes: 5, pairs: 20 },
  rounds: isQuick ? 1 : 3,
  delays: isQuick ? [0] : [0, 1_000],
  rollouts: isQuick ? 1 : 2,
  probes: isQuick ? { rounds: 1, probes: 30, execPairs: 5 } : { rounds: 8, probes: 60, execPairs: 40 },
  thread: isQuick ? { pairs: 1, seconds: 2 } : { pairs: 3, seconds: 10 },
  start: isQuick ? 3 : 15,
  streams: (isQuick
    ? [['event streams', 1_000]]
    : [
        ['event streams', 19_000],
        ['HTTP/2 streams', 10_000],
        ['WebSockets', 5_000],
      ]) as readonly (readonly [StreamKind, number])[],
  inMemory: isQuick ? 5_000 : 50_000,
  use: isQuick ? { processes: 1, windows: 10, idle: 500 } : { processes: 4, windows: 16, idle: 9_000 },
  leases: isQuick ? { minutes: 10, seconds: 5 } : { minutes: 60, seconds: 120 },
};

type Part = Exclude<keyof Results, 'machine' | 'versions' | 'effort'>;

const measures: { readonly [Name in Part]: () => Promise<Results[Name]> } = {
  prices: pricesOf,
  partPrices: partPricesOf,
  uses: usesOf,
  shutdowns: shutdownsOf,
  rollouts: () => measureRollouts(names(), effort.rollouts),
  rate: measureRate,
  start: () => measureStart(effort.start),
  streams: drainsOf,
  inMemory: () => drainInMemory(effort.inMemory),
  probes: () => measureProbes(effort.probes),
  thread: () => measureThread(effort.thread),
  leases: () => measureLeases(effort.leases),
};

const results = await measured(chosen(given.only));
const unmeasured = Object.keys(measures).filter((name) => !(name in results));
if (!isQuick && unmeasured.length > 0) fail(`parts that have never been measured: ${unmeasured.join(', ')}`);
else check(results);
if (!isQuick && unmeasured.length === 0)
  spawnSync(process.execPath, [join(import.meta.dirname, '../scripts/docs/generate.ts')], { stdio: 'inherit' });

function chosen(only: string | undefined): Part[] {
  const all = Object.keys(measures) as Part[];
  if (only === undefined) return all;
  const found = all.filter((name) => name === only);
  if (found.length === 0) throw new Error(`--only: expected one of ${all.join(', ')}, got ${only}`);
  return found;
}

// Saves the results after each measurement. If the benchmark is interrupted, only the results of the current
// measurement are lost.
async function measured(wanted: readonly Part[]): Promise<Results> {
  let all: Partial<Results> = {};
  for (const name of wanted) {
    const part = { machine: machineText(), versions: versions(), effort, [name]: await measures[name]() };
    all = { ...(isQuick ? all : savedResults()), ...part };
    if (!isQuick) saveResults(all);
  }
  return all as Results;
}

function names(): string[] {
  return isQuick ? ['lameduck'] : Object.keys(implementations).filter(isPresent);
}

async function pricesOf(): Promise<Record<string, Price>> {
  const prices: Record<string, Price> = {};
  for (const name of names()) {
    const price = await priceOf(name, name === 'lameduck' ? effort.lameduck : effort.other);
    prices[name] = price;
    console.log(
      `${name}: ${signed(price.increment)} ns a request, ${ratio(price.ratio)} of node:http's ${price.bare.toFixed(0)} ns; ` +
        `over loopback ${signed(price.difference)} ns, ${ratio(price.wholeRatio)}`,
    );
  }
  return prices;
}

async function partPricesOf(): Promise<Record<string, Price>> {
  const prices: Record<string, Price> = {};
  // With --quick, do not measure the CPU time of each part of lameduck's code. To measure one part takes as long as to
  // measure a whole shutdown package.
  if (isQuick) return prices;
  for (const [name, { title }] of Object.entries(parts)) {
    const price = (prices[name] = await priceOf(`part:${name}`, effort.other));
    console.log(`${title}: ${signed(price.increment)} ns a request, over loopback ${signed(price.difference)} ns`);
  }
  return prices;
}

async function usesOf(): Promise<Use[]> {
  const uses: Use[] = [];
  for (const variant of isQuick ? variants.filter(({ title }) => title === 'as in the chart') : variants) {
    const use = { variant, pairs: await measureUse(variant, effort.use) };
    uses.push(use);
    console.log(`${variant.title}: ${ratio(requestRatio(use))} of the CPU time of ${bare[variant.framework].title}`);
  }
  return uses;
}

async function shutdownsOf(): Promise<Record<string, Shutdown[][]>> {
  const shutdowns: Record<string, Shutdown[][]> = {};
  for (const name of names()) {
    const rounds: Shutdown[][] = [];
    for (let round = 0; round < effort.rounds; round++) {
      rounds.push(await Promise.all(effort.delays.map((delay) => shutDown(name, delay))));
    }
    const byDelay = effort.delays.map((_, index) => rounds.map((round) => round[index] as Shutdown));
    shutdowns[name] = byDelay;
    const lost = byDelay.map(
      (list, index) => `${list.map((shutdown) => shutdown.lost).join(' ')} (delay ${String(effort.delays[index])} ms)`,
    );
    console.log(`${name}: lost ${lost.join(', ')}`);
  }
  return shutdowns;
}

async function drainsOf(): Promise<Results['streams']> {
  const drains: Results['streams'][number][] = [];
  for (const [kind, count] of effort.streams) {
    const drain = await drainSockets(kind, count);
    drains.push(drain);
    console.log(
      `${String(count)} ${kind}: ${String(drain.whole)} ended cleanly, the last after ${drain.lastEndMs.toFixed(0)} ms; ` +
        `exit after ${drain.exitMs.toFixed(0)} ms; event loop blocked p99 ${drain.stillMs.p99.toFixed(1)} ms`,
    );
  }
  return drains;
}

// Prints the results. Makes the benchmark fail if a request costs too much, a probe takes too long, or a stream was
// cut.
function check({ prices, streams, inMemory, start, probes, thread, leases }: Partial<Results>): void {
  if (start !== undefined) checkStart(start);
  const cut = [streams ?? [], inMemory ?? []].flat().reduce((sum, { count, whole }) => sum + count - whole, 0);
  if (cut > 0) fail(`${String(cut)} streams did not end cleanly`);
  if (probes !== undefined) checkProbes(probes);
  if (thread !== undefined) {
    console.log(
      `CPU of the probe thread, ms per second: ${thread.cpu.map((one) => one.milliseconds.toFixed(2)).join(', ')}`,
    );
  }
  if (leases !== undefined) checkLeases(leases);
  if (prices?.['lameduck'] !== undefined) checkPrice(prices['lameduck']);
}

function checkStart({ byWay: { bare: bareStart, code, register }, ...start }: Results['start']): void {
  console.log(
    `first response after ${bareStart.firstResponse.toFixed(1)} ms bare, ${code.firstResponse.toFixed(1)} with lameduck(), ` +
      `${register.firstResponse.toFixed(1)} with lameduck/register; import ${start.import.toFixed(1)} ms; exit ${start.exit.toFixed(0)} ms`,
  );
}

function checkProbes(probes: Results['probes']): void {
  const p99s = (['idleMainPort', 'idleProbePort', 'saturated', 'blocked'] as const).map(
    (name) => `${name} ${probes[name].p99.toFixed(1)}`,
  );
  console.log(
    `p99 of probes, ms: ${p99s.join(', ')}; exec probe ${probes.execProbe.own.median.toFixed(0)} ms longer than the ` +
      `${probes.execProbe.node.toFixed(0)} ms of an empty Node process; load average ${probes.loadAverage.map((load) => load.toFixed(1)).join(' to ')}`,
  );
  for (const what of missed(probes)) {
    // A quick run has too few probes for a reliable 99th percentile.
    if (isQuick) console.log(`not met: ${what}`);
    else fail(what);
  }
}

function checkLeases({ leader, watching, polling, cpu }: Results['leases']): void {
  const requests = Object.entries({ leader, watching, polling }).map(
    ([what, { reads, writes, watches }]) => `${what} ${String(reads)} + ${String(writes)} + ${String(watches)}`,
  );
  console.log(
    `leader election, reads + writes + watches per hour: ${requests.join(', ')}; CPU of a follower ` +
      `${(cpu.watching - cpu.idle).toFixed(1)} ms per minute with a watch, ${(cpu.polling - cpu.idle).toFixed(1)} without`,
  );
}

function checkPrice({ ratio: { low, high } }: Price): void {
  if (high > limit) fail(`a request costs too much: the interval ends at ${high.toFixed(4)}, above ${String(limit)}`);
  if (!isQuick) return;
  const most = (savedResults().prices?.['lameduck'] as Price).ratio.high + tolerance;
  if (low > most) {
    fail(
      `a request costs more than on docs/benchmarks.md: the interval begins at ${low.toFixed(4)}, above ${most.toFixed(4)}`,
    );
  }
}

function fail(problem: string): void {
  console.error(problem);
  process.exitCode = 1;
}

function versions(): Record<string, string> {
  return Object.fromEntries(Object.keys(implementations).map((name) => [name, versionOf(name) ?? '']));
}

function isPresent(name: string): boolean {
  if (name === 'bare' || name === 'lameduck') return true;
  if (versionOf(name) === undefined) install();
  if (versionOf(name) !== undefined) return true;
  console.log(`${name}: left out, since it is not installed`);
  return false;
}

function install(): void {
  if (hasTried) return;
  hasTried = true;
  const options = ['--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  spawnSync('npm', ['install', ...options], { cwd: join(import.meta.dirname, 'peers'), stdio: 'inherit' });
}
