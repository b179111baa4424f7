// Compares a variant with the bare server of its framework. Each runs in its own process, and the two processes are
// measured in turn.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Parts } from '../cpu-profile.ts';
import { wholeRequests } from '../price/measure.ts';
import { clients, type Client, type Load } from './clients/client.ts';
import type { Answers, Question } from './host.ts';
import { bare, execArgvOf, type Variant } from './variants.ts';

/** Costs holds the CPU time and the memory that one server needs in one process. */
export interface Costs {
  /** The CPU time of a request in nanoseconds, one value for each measured window. */
  readonly requests: readonly number[];
  /**
   * The CPU time in nanoseconds of one connection: opening it, one request, and closing it. There is one value for each
   * measured window.
   */
  readonly connections: readonly number[];
  /** How many bytes the measured server allocates in its heap for each request. */
  readonly bytes: number;
  /** The average time that garbage collection takes for each request, in nanoseconds. */
  readonly collecting: number;
  /** The CPU time of the main thread per request in nanoseconds, divided between lameduck, Node and the program. */
  readonly parts: Parts;
  /** The number of bytes of memory that the server needs for each idle connection. */
  readonly heap: number;
  readonly resident: number;
}

/**
 * UseEffort sets how long the benchmark takes: how many pairs of processes it starts, and how many measured windows and
 * idle connections each process has.
 */
export interface UseEffort {
  readonly processes: number;
  readonly windows: number;
  /** The number of idle connections that the benchmark opens, except for HTTP/2 and WebSockets. */
  readonly idle: number;
}

export const scrapeInterval = 15_000;
export const perConnectionWindow = 100;
// The number of warm-up requests before the first measured window. After these requests, V8 has compiled the code of
// the server.
const warmUpRequests = 30_000;
const warmUpWindows = 2;
const profiledWindows = 20;

/**
 * The most idle HTTP/2 sessions or idle WebSockets that the benchmark opens. It opens more idle connections of
 * HTTP/1.1, because their clients take much less memory.
 */
export const mostIdleSessions = 1_000;

/**
 * measureUse runs pairs of processes: a bare server without lameduck, and the variant of this server. For each pair, it
 * returns the CPU time and the memory of the bare server, and then those of the variant.
 */
export async function measureUse(variant: Variant, effort: UseEffort): Promise<readonly (readonly [Costs, Costs])[]> {
  const pairs: (readonly [Costs, Costs])[] = [];
  for (let index = 0; index < effort.processes; index++) pairs.push(await measurePair(variant, effort));
  return pairs;
}

async function measurePair(variant: Variant, { windows, idle }: UseEffort): Promise<readonly [Costs, Costs]> {
  await using first = await Host.start(bare[variant.framework], 0);
  await using second = await Host.start(variant, 1);
  const hosts = [first, second] as const;
  for (const host of hosts) await host.warmUp();
  for (let index = 0; index < warmUpWindows + windows; index++) {
    // Swap the order of the two servers in each round of measurements. If the machine becomes slower or faster, both
    // servers are then affected equally.
    for (const host of index % 2 === 0 ? hosts : hosts.toReversed()) await host.window(index >= warmUpWindows);
  }
  const count = ['http', 'fastify'].includes(variant.framework) ? idle : Math.min(idle, mostIdleSessions);
  return [await first.costs(count), await second.costs(count)];
}

/** A Host is a child process with one measured server, together with the client that sends requests to this server. */
class Host implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #client: Client;
  readonly #port: number;
  readonly #load: Load;
  readonly #folder: string;
  readonly #scraping: NodeJS.Timeout;
  readonly #requests: number[] = [];
  readonly #connections: number[] = [];

  private constructor(
    process: ChildProcess,
    client: Client,
    port: number,
    load: Load,
    folder: string,
    probePort: number,
  ) {
    this.#process = process;
    this.#client = client;
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
    const client = clients[variant.framework];
    const load = await client.load(port);
    return new Host(child, client, port, load, folder, probePort);
  }

  async warmUp(): Promise<void> {
    await this.#load.run(warmUpRequests);
  }

  /**
   * `window()` measures the CPU time of a request twice: with kept-alive connections, and with a new connection for
   * each request.
   */
  async window(counts: boolean): Promise<void> {
    const perRequest = await this.#cost(() => this.#load.run(wholeRequests), wholeRequests);
    const perConnection = await this.#cost(() => this.#churn(perConnectionWindow), perConnectionWindow);
    if (!counts) return;
    this.#requests.push(perRequest);
    this.#connections.push(perConnection);
  }

  /**
   * `costs()` measures the garbage collection, the CPU profile and the memory of idle connections. It returns these
   * values together with the CPU times that `window()` has measured.
   */
  async costs(idle: number): Promise<Costs> {
    const profiled = profiledWindows * wholeRequests;
    await this.#ask('profile');
    await this.#load.run(profiled);
    const { bytes, collecting } = await this.#ask('profiled');
    await this.#ask('sample');
    await this.#load.run(profiled);
    const sampled = Object.entries(await this.#ask('sampled'));
    return {
      requests: this.#requests,
      connections: this.#connections,
      bytes: bytes / profiled,
      collecting: (collecting * 1_000) / profiled,
      parts: Object.fromEntries(sampled.map(([part, time]) => [part, (time * 1_000) / profiled])),
      ...(await this.#idle(idle)),
    };
  }

  /**
   * `#churn()` opens `count` connections one after another. It sends one request on each connection, and closes the
   * connection.
   */
  async #churn(count: number): Promise<void> {
    for (let index = 0; index < count; index++) await this.#client.once(this.#port);
  }

  async #idle(count: number): Promise<Pick<Costs, 'heap' | 'resident'>> {
    const before = await this.#ask('memory');
    using open = new DisposableStack();
    for (let index = 0; index < count; index++) open.use(await this.#client.idle(this.#port));
    let after = await this.#ask('memory');
    while (after.connections < before.connections + count) after = await this.#ask('memory');
    return {
      heap: (after.heap - before.heap) / count,
      resident: (after.resident - before.resident) / count,
    };
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

// Ignore a failed scrape of the probe port, because some servers of the benchmark open no probe port.
function scrape(probePort: number): void {
  fetch(`http://127.0.0.1:${String(probePort)}/metrics`)
    .then((response) => response.text())
    .catch(() => undefined);
}
