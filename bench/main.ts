// `npm run bench`: measures, prints, and writes docs/benchmarks.md. It fails if a request has become too expensive, a
// probe is too late, or a stream was cut. It measures the last build of lameduck/register: run `npm run build` first.
// With --quick it measures only lameduck, in less than a minute, and writes nothing.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { implementations, versionOf } from './implementations.ts';
import { shutDown, type Shutdown } from './losses/shutdown.ts';
import { measureLeases } from './leases/leases.ts';
import { page } from './page.ts';
import { limit, priceOf, type Price } from './price/price.ts';
import { measureProbes, missed } from './probes/probes.ts';
import { drainStreams } from './streams/streams.ts';
import { measureUse } from './use/measure.ts';
import { requestRatio, type Use } from './use/section.ts';
import { bare, variants } from './use/variants.ts';
import { ratio, signed } from './format.ts';

let hasTried = false;

const isQuick = process.argv.includes('--quick');
const effort = {
  lameduck: isQuick ? { processes: 3, pairs: 30 } : { processes: 8, pairs: 50 },
  other: { processes: 5, pairs: 20 },
  rounds: isQuick ? 1 : 5,
  delays: isQuick ? [0] : [0, 1_000],
  probes: isQuick ? { rounds: 1, probes: 30, execPairs: 5 } : { rounds: 8, probes: 60, execPairs: 40 },
  use: isQuick ? { processes: 1, windows: 10, idle: 500 } : { processes: 6, windows: 40, idle: 9_000 },
  leases: isQuick ? { minutes: 10, seconds: 5 } : { minutes: 60, seconds: 120 },
};

const names = isQuick ? ['lameduck'] : Object.keys(implementations).filter(isPresent);

const prices = new Map<string, Price>();
// Only lameduck has a limit, so it is measured first. A run that is interrupted later has then already checked the
// limit.
for (const name of ['lameduck', ...names.filter((other) => other !== 'lameduck')]) {
  const price = await priceOf(name, name === 'lameduck' ? effort.lameduck : effort.other);
  prices.set(name, price);
  console.log(
    `${name}: ${signed(price.increment)} ns a request, ${ratio(price.ratio)} of node:http's ${price.bare.toFixed(0)} ns; ` +
      `over loopback ${signed(price.difference)} ns, ${ratio(price.wholeRatio)}`,
  );
}

const uses: Use[] = [];
for (const variant of isQuick ? variants.filter(({ title }) => title === 'as in the chart') : variants) {
  const use = { variant, pairs: await measureUse(variant, effort.use) };
  uses.push(use);
  console.log(`${variant.title}: ${ratio(requestRatio(use))} of the CPU time of ${bare[variant.framework].title}`);
}

const shutdowns = new Map<string, Shutdown[][]>();
for (const name of names) {
  const rounds: Shutdown[][] = [];
  for (let round = 0; round < effort.rounds; round++) {
    rounds.push(await Promise.all(effort.delays.map((delay) => shutDown(name, delay))));
  }
  const byDelay = effort.delays.map((_, index) => rounds.map((round) => round[index] as Shutdown));
  shutdowns.set(name, byDelay);
  const lost = byDelay.map(
    (list, index) => `${list.map((shutdown) => shutdown.lost).join(' ')} (delay ${String(effort.delays[index])} ms)`,
  );
  console.log(`${name}: lost ${lost.join(', ')}`);
}

const streams = await drainStreams(isQuick ? 5_000 : 50_000);
console.log(
  `${String(streams.count)} event streams: drained in ${streams.tookMs.toFixed(0)} ms, loop still for ${streams.stillMs.longest.toFixed(0)} ms at most`,
);
if (streams.whole !== streams.count)
  throw new Error(`${String(streams.count - streams.whole)} streams did not end cleanly`);

const probes = await measureProbes(effort.probes);
const { idleMainPort, idleProbePort, saturated, blocked, execProbe, loadAverage } = probes;
const p99s = Object.entries({ idleMainPort, idleProbePort, saturated, blocked }).map(
  ([what, { p99 }]) => `${what} ${p99.toFixed(1)}`,
);
console.log(
  `p99 of probes, ms: ${p99s.join(', ')}; exec probe ${execProbe.own.median.toFixed(0)} ms beyond Node's ` +
    `${execProbe.node.toFixed(0)}; load average ${loadAverage.map((load) => load.toFixed(1)).join(' to ')}`,
);
const late = missed(probes);
for (const what of late) console.log(`not kept: ${what}`);
// A quick run has too few probes for a reliable 99th percentile.
if (!isQuick && late.length > 0) process.exitCode = 1;

const leases = await measureLeases(effort.leases);
const { leader, watching, polling, cpu } = leases;
const requests = Object.entries({ leader, watching, polling }).map(
  ([what, { reads, writes, watches }]) => `${what} ${String(reads)} + ${String(writes)} + ${String(watches)}`,
);
console.log(
  `leader election, reads + writes + watches per hour: ${requests.join(', ')}; CPU of a follower ` +
    `${(cpu.watching - cpu.idle).toFixed(1)} ms per minute with a watch, ${(cpu.polling - cpu.idle).toFixed(1)} without`,
);

if (!isQuick) {
  const results = { prices, uses, shutdowns, streams, probes, leases, effort };
  writeFileSync(join(import.meta.dirname, '..', 'docs', 'benchmarks.md'), page(results));
}

const { high } = (prices.get('lameduck') as Price).ratio;
if (high > limit) {
  console.error(`a request costs too much: the interval ends at ${high.toFixed(4)}, above ${String(limit)}`);
  process.exitCode = 1;
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
