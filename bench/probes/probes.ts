// Measures probes as the kubelet sends them, while the main thread is idle, saturated and blocked. Also measures the
// command `lameduck probe`.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { probe } from '../../test/support/probe-client.ts';
import { reservePort } from '../../test/support/reserved-port.ts';
import { quantile } from '../statistics.ts';
import { execProbe, type ExecProbe } from './exec-probe.ts';

/** Waits has the number of the probes and statistics of their response times, in milliseconds. */
export interface Waits {
  readonly count: number;
  readonly median: number;
  readonly p99: number;
  readonly longest: number;
}

export interface Probes {
  readonly idleMainPort: Waits;
  readonly idleProbePort: Waits;
  readonly saturated: Waits;
  readonly blocked: Waits;
  readonly execProbe: ExecProbe;
  /** The one-minute load average of the machine, before and after the measurement. */
  readonly loadAverage: readonly [number, number];
}

export interface ProbesEffort {
  readonly rounds: number;
  /**
   * How many probes each round sends in each of the four measured situations, such as an idle or a saturated main
   * thread.
   */
  readonly probes: number;
  readonly execPairs: number;
}

export const clients = 100;
export const blockTime = 3_000;
export const pauseBetween = 50;

/**
 * Limits for the response times of probes. Their 99th percentile must not exceed `p99` milliseconds, and must not
 * exceed `factor` times the 99th percentile on the main port of an idle server. `execProbe` limits the median duration
 * of the command `lameduck probe`, in milliseconds.
 */
export const limits = { factor: 2, p99: 20, execProbe: 60 } as const;

/**
 * Each round of measureProbes measures all kinds of probes one after another, so that a slow period of the machine
 * affects all kinds.
 */
export async function measureProbes({ rounds, probes, execPairs }: ProbesEffort): Promise<Probes> {
  const before = loadavg()[0] as number;
  const probePort = await reservePort();
  const host = start('host.ts', probePort);
  try {
    const [port] = (await once(host, 'message')) as [number];
    await warmUp(port, probePort);
    const waits = { idleMainPort: [], idleProbePort: [], saturated: [], blocked: [] } as Record<string, number[]>;
    for (let round = 0; round < rounds; round++) {
      waits['idleMainPort']?.push(...(await series(port, probes)));
      waits['idleProbePort']?.push(...(await series(probePort, probes)));
      waits['saturated']?.push(...(await underLoad(port, () => series(probePort, probes))));
      waits['blocked']?.push(...(await whileBlocked(host, probePort)));
    }
    return {
      idleMainPort: summary(waits['idleMainPort'] ?? []),
      idleProbePort: summary(waits['idleProbePort'] ?? []),
      saturated: summary(waits['saturated'] ?? []),
      blocked: summary(waits['blocked'] ?? []),
      execProbe: await execProbe(probePort, execPairs),
      loadAverage: [before, loadavg()[0] as number],
    };
  } finally {
    host.kill('SIGKILL');
  }
}

/** `missed()` returns one text for each result of the probe benchmark that is above its limit. */
export function missed({ idleMainPort, saturated, blocked, execProbe: { own } }: Probes): string[] {
  const limit = Math.min(limits.p99, limits.factor * idleMainPort.p99);
  const late = Object.entries({ saturated, blocked }).filter(([, { p99 }]) => p99 > limit);
  return [
    ...late.map(([what, { p99 }]) => `p99 while ${what}: ${p99.toFixed(1)} ms, above ${limit.toFixed(1)} ms`),
    ...(own.median > limits.execProbe
      ? [`exec probe: ${own.median.toFixed(0)} ms, above ${String(limits.execProbe)} ms`]
      : []),
  ];
}

async function underLoad(port: number, measure: () => Promise<number[]>): Promise<number[]> {
  const load = start('load.ts', port, clients);
  try {
    await once(load, 'message');
    return await measure();
  } finally {
    load.kill('SIGKILL');
    await once(load, 'close');
    // Before the next kind of probe is measured, wait until the server has responded to all queued requests of the
    // clients.
    await probe(port, '/readyz');
  }
}

async function whileBlocked(host: ChildProcess, probePort: number): Promise<number[]> {
  await ask(probePort);
  const begins = once(host, 'message');
  host.send(blockTime);
  await begins;
  const until = performance.now() + blockTime - 10 * pauseBetween;
  const waits: number[] = [];
  while (performance.now() < until) waits.push(await ask(probePort));
  // The loop of probes ends before the event loop runs again, because the main thread would answer a later probe
  // itself. Wait until the event loop runs, so that the next measurement begins with an idle server.
  await sleep(20 * pauseBetween);
  return waits;
}

async function warmUp(...ports: readonly number[]): Promise<void> {
  for (const port of ports) for (let count = 0; count < 100; count++) await probe(port, '/readyz');
}

async function series(port: number, count: number): Promise<number[]> {
  // Send one probe that is not measured. If the probe port has got no probe for a while, the next probe may wait up to
  // 200 ms for the main thread.
  await ask(port);
  const waits: number[] = [];
  for (let index = 0; index < count; index++) waits.push(await ask(port));
  return waits;
}

async function ask(port: number): Promise<number> {
  await sleep(pauseBetween);
  const { status, tookMs } = await probe(port, '/readyz');
  if (status !== 200) throw new Error(`/readyz answers ${String(status)}`);
  return tookMs;
}

function summary(waits: readonly number[]): Waits {
  return {
    count: waits.length,
    median: quantile(waits, 0.5),
    p99: quantile(waits, 0.99),
    longest: Math.max(...waits),
  };
}

function start(script: string, ...args: readonly number[]): ChildProcess {
  const path = fileURLToPath(new URL(`./${script}`, import.meta.url));
  return fork(path, args.map(String), { env: {}, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}
