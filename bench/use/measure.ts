// Compares a variant with the bare server of its framework: two processes whose measurement windows take turns.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lengthOf, connections, wholeRequests } from '../price/measure.ts';
import { Load } from '../price/load.ts';
import type { Answers, Question } from './host.ts';
import { bare, execArgvOf, type Variant } from './variants.ts';

/** Costs holds what one server costs, measured in one process. */
export interface Costs {
  /** For each window, nanoseconds of CPU time per request. */
  readonly requests: readonly number[];
  /** For each window, nanoseconds of CPU time per connection, including its one request. */
  readonly connections: readonly number[];
  /** Bytes that the server allocated in the heap per request. */
  readonly bytes: number;
  /** Nanoseconds of garbage collection per request. */
  readonly collecting: number;
  /** Bytes per idle connection. */
  readonly heap: number;
  readonly resident: number;
}

/** UseEffort says how many processes, windows and requests are measured. */
export interface UseEffort {
  readonly processes: number;
  readonly windows: number;
  readonly idle: number;
}

export const scrapeInterval = 15_000;
export const perConnectionWindow = 200;
const warmUpWindows = 15;
const profiledWindows = 20;

/** measureUse returns the costs of the bare server and of the variant, for each pair of processes. */
export async function measureUse(variant: Variant, effort: UseEffort): Promise<readonly (readonly [Costs, Costs])[]> {
  const pairs: (readonly [Costs, Costs])[] = [];
  for (let index = 0; index < effort.processes; index++) pairs.push(await measurePair(variant, effort));
  return pairs;
}

async function measurePair(variant: Variant, { windows, idle }: UseEffort): Promise<readonly [Costs, Costs]> {
  await using first = await Host.start(bare[variant.framework], 0);
  await using second = await Host.start(variant, 1);
  const hosts = [first, second] as const;
  for (let index = 0; index < warmUpWindows + windows; index++) {
    // The order of the two servers changes with each window, so that a drift of the machine favours neither.
    for (const host of index % 2 === 0 ? hosts : hosts.toReversed()) await host.window(index >= warmUpWindows);
  }
  return [await first.costs(idle), await second.costs(idle)];
}

/** Host is the process of one server, with the load on that server. */
class Host implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #port: number;
  readonly #load: Load;
  readonly #folder: string;
  readonly #scraping: NodeJS.Timeout;
  readonly #requests: number[] = [];
  readonly #connections: number[] = [];

  private constructor(process: ChildProcess, port: number, load: Load, folder: string, probePort: number) {
    this.#process = process;
    this.#port = port;
    this.#load = load;
    this.#folder = folder;
    this.#scraping = setInterval(scrape, scrapeInterval, probePort);
  }

  static async start(variant: Variant, index: number): Promise<Host> {
    const folder = mkdtempSync(join(tmpdir(), 'lameduck-use-'));
    const probePort = 20_000 + ((process.pid * 2 + index) % 10_000);
    const child = fork(new URL('./host.ts', import.meta.url), [variant.framework, variant.by], {
      env: variant.env(probePort, folder),
      execArgv: execArgvOf(variant),
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const [port] = (await once(child, 'message')) as [number];
    scrape(probePort);
    const load = await Load.open(port, connections, await lengthOf(port));
    return new Host(child, port, load, folder, probePort);
  }

  /** window sends requests on keep-alive connections, and then requests that each open a new connection. */
  async window(counts: boolean): Promise<void> {
    const perRequest = await this.#cost(() => this.#load.run(wholeRequests), wholeRequests);
    const perConnection = await this.#cost(() => churn(this.#port, perConnectionWindow), perConnectionWindow);
    if (!counts) return;
    this.#requests.push(perRequest);
    this.#connections.push(perConnection);
  }

  /** costs measures the values that need no windows, and returns all costs. */
  async costs(idle: number): Promise<Costs> {
    const profiled = profiledWindows * wholeRequests;
    await this.#ask('profile');
    await this.#load.run(profiled);
    const { bytes, collecting } = await this.#ask('profiled');
    return {
      requests: this.#requests,
      connections: this.#connections,
      bytes: bytes / profiled,
      collecting: (collecting * 1_000) / profiled,
      ...(await this.#idle(idle)),
    };
  }

  async #idle(count: number): Promise<Pick<Costs, 'heap' | 'resident'>> {
    const before = await this.#ask('memory');
    const sockets: Socket[] = [];
    try {
      for (let index = 0; index < count; index++) {
        const socket = connect(this.#port, '127.0.0.1');
        sockets.push(socket);
        await once(socket, 'connect');
      }
      let after = await this.#ask('memory');
      while (after.connections < before.connections + count) after = await this.#ask('memory');
      return {
        heap: (after.heap - before.heap) / count,
        resident: (after.resident - before.resident) / count,
      };
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  }

  async #cost(work: () => Promise<void>, count: number): Promise<number> {
    const before = await this.#ask('cpu');
    await work();
    return (((await this.#ask('cpu')) - before) * 1_000) / count;
  }

  async #ask<Name extends Question>(question: Name): Promise<Answers[Name]> {
    const answered = once(this.#process, 'message') as Promise<[Answers[Name]]>;
    this.#process.send(question);
    return (await answered)[0];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#scraping);
    this.#load[Symbol.dispose]();
    const exit = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await exit;
    rmSync(this.#folder, { recursive: true });
  }
}

// Opens one connection after another, sends one request on each, and waits until the server has closed it.
async function churn(port: number, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const socket = connect(port, '127.0.0.1');
    socket.resume();
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    await once(socket, 'close');
  }
}

// Some variants open no probe port. The request then fails, which is ignored.
function scrape(probePort: number): void {
  fetch(`http://127.0.0.1:${String(probePort)}/metrics`)
    .then((response) => response.text())
    .catch(() => undefined);
}
