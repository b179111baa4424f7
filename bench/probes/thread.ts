// Measures what the probe thread costs an idle process: its memory, and its CPU time at several rates of probes.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { probe } from '../../test/support/probe-client.ts';
import { reservePort } from '../../test/support/reserved-port.ts';
import { quantile } from '../statistics.ts';
import type { Quantity } from './idle.ts';

/** The type Thread holds the memory and the CPU time that a probe thread adds to an idle process. */
export interface Thread {
  readonly pairs: number;
  readonly seconds: number;
  /**
   * How many bytes of resident memory a probe port adds to a process. `emptyThread` is how many bytes a worker thread
   * that does nothing adds.
   */
  readonly resident: number;
  readonly emptyThread: number;
  /**
   * For each number of probes per second: the CPU time that the probe port adds to the process, in milliseconds per
   * second.
   */
  readonly cpu: readonly { readonly perSecond: number; readonly milliseconds: number }[];
}

export interface ThreadEffort {
  readonly pairs: number;
  readonly seconds: number;
}

/** The rates, in probes per second, at which the benchmark measures the CPU time of the probe thread. */
export const rates = [0, 1, 10, 100] as const;

// How long a process runs before its memory is measured, in milliseconds.
const starting = 2_000;

// The wait between the measurements of memory and CPU time, in milliseconds. V8 collects garbage until about 18 s after
// the start of a thread. After 5 s without a request, the probe thread wakes less often.
const settling = 20_000;

/**
 * measureThread measures how much memory and CPU time the probe thread needs. It compares three idle processes: one
 * without a probe port, one with a worker thread that does nothing, and one with a probe port. It repeats the
 * comparison `pairs` times, with new processes.
 */
export async function measureThread({ pairs, seconds }: ThreadEffort): Promise<Thread> {
  const resident: number[] = [];
  const emptyThread: number[] = [];
  const cpu = rates.map((): number[] => []);
  for (let index = 0; index < pairs; index++) {
    const probePort = await reservePort();
    const children = ['without', 'empty-thread', String(probePort)].map(start);
    const [without, empty, withPort] = children as [ChildProcess, ChildProcess, ChildProcess];
    try {
      await Promise.all(children.map((child) => once(child, 'message')));
      await sleep(starting);
      const base = await ask(without, 'resident');
      emptyThread.push((await ask(empty, 'resident')) - base);
      resident.push((await ask(withPort, 'resident')) - base);
      await sleep(settling);
      for (const [place, perSecond] of rates.entries()) {
        const idle = await usedBy([without, withPort], seconds, () => probeFor(probePort, perSecond, seconds));
        cpu[place]?.push((idle[1] - idle[0]) / seconds);
      }
    } finally {
      for (const child of children) child.kill('SIGKILL');
    }
  }
  return {
    pairs,
    seconds,
    resident: quantile(resident, 0.5),
    emptyThread: quantile(emptyThread, 0.5),
    cpu: rates.map((perSecond, place) => ({ perSecond, milliseconds: quantile(cpu[place] ?? [], 0.5) })),
  };
}

async function usedBy(
  children: readonly [ChildProcess, ChildProcess],
  seconds: number,
  work: () => Promise<void>,
): Promise<[number, number]> {
  const cpuOf = (child: ChildProcess): Promise<number> => ask(child, 'cpu');
  const before = await Promise.all(children.map(cpuOf));
  await Promise.all([work(), sleep(seconds * 1_000)]);
  const after = await Promise.all(children.map(cpuOf));
  const [first = NaN, second = NaN] = after.map((cpu, index) => cpu - (before[index] as number));
  return [first, second];
}

async function probeFor(port: number, perSecond: number, seconds: number): Promise<void> {
  const since = performance.now();
  for (let sent = 0; sent < perSecond * seconds; sent++) {
    await sleep(Math.max(0, since + (sent * 1_000) / perSecond - performance.now()));
    const { status } = await probe(port, '/readyz');
    if (status !== 200) throw new Error(`/readyz answers ${String(status)}`);
  }
}

async function ask(child: ChildProcess, quantity: Quantity): Promise<number> {
  const answered = once(child, 'message') as Promise<[number]>;
  child.send(quantity);
  return (await answered)[0];
}

function start(mode: string): ChildProcess {
  return fork(join(import.meta.dirname, 'idle.ts'), [mode], {
    env: {},
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}
