// The test clients that are written in Node.js. Each client sends one request after another and never retries. The
// program counts the results of each kind of client, and writes one JSON object per line, as the clients in Go and
// Python do. This file imports only Node.js modules and files of its own folder, so that a pod can run it from a
// ConfigMap.
import { setTimeout as pause } from 'node:timers/promises';
import type { Client, Exchange, Job, LastingKind, Line, PodSecond, Tally } from './exchange.ts';
import { httpClient, type HttpKind } from './http-client.ts';
import { http2Client } from './http2-client.ts';
import { eventStreamClient, webSocketClient } from './stream-clients.ts';

const startLimit = 60_000;

const clients: Record<LastingKind, (target: URL) => Client> = {
  'HTTP/2': http2Client,
  'event stream': eventStreamClient,
  WebSocket: webSocketClient,
};

/** Every third client sends slow requests, so that some requests are in flight whenever a pod is terminated. */
function clientOf({ kind, url }: Job, index: number): Client {
  const target = new URL(url);
  return kind in clients ? clients[kind as LastingKind](target) : httpClient(target, kind as HttpKind, index % 3 === 2);
}

/** Account counts the results of the clients' requests and prints the counts. */
class Account {
  readonly tallies: Record<string, Tally> = {};
  readonly #kept = new Map<object, string>();
  #answered = new Map<string, number>();

  /**
   * Counts one result. A response names its pod. If a request got no response, its pod is taken from the previous
   * response on the same connection.
   */
  add(client: object, { name, kind }: Job, result: Exchange, milliseconds: number): void {
    const { outcome, reason = '', pod, isNewConnection, toldToClose, isRequest } = result;
    const tally = (this.tallies[name] ??= {
      requests: 0,
      answered: 0,
      lost: 0,
      refused: 0,
      wrong: 0,
      connections: 0,
      toldToClose: 0,
      slowestMilliseconds: 0,
    });
    tally.requests += 1;
    tally[outcome] += 1;
    if (isNewConnection) tally.connections += 1;
    if (toldToClose) tally.toldToClose += 1;
    tally.slowestMilliseconds = Math.max(tally.slowestMilliseconds, Math.round(milliseconds));
    const keptTo = isNewConnection ? '' : (this.#kept.get(client) ?? '');
    if (outcome !== 'answered') say({ type: 'failure', at: Date.now(), name, outcome, reason, pod: pod ?? keptTo });
    if (pod && isRequest) this.#answered.set(pod, (this.#answered.get(pod) ?? 0) + 1);
    if (pod && !toldToClose && !kind.startsWith('new')) this.#kept.set(client, pod);
    else this.#kept.delete(client);
  }

  saySecond(): void {
    const kept = [...this.#kept.values()];
    const pods: Record<string, PodSecond> = {};
    for (const name of new Set([...this.#answered.keys(), ...kept])) {
      pods[name] = { answered: this.#answered.get(name) ?? 0, kept: kept.filter((pod) => pod === name).length };
    }
    this.#answered = new Map();
    say({ type: 'second', at: Date.now(), tallies: this.tallies, pods });
  }
}

function say(line: Line): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** Sends one request after another. Each request waits for the response to the previous request. */
async function askUntil(stop: AbortSignal, job: Job, index: number, account: Account): Promise<void> {
  const client = clientOf(job, index);
  stop.addEventListener('abort', () => {
    client.end();
  });
  while (!stop.aborted) {
    const began = performance.now();
    const result = await client.ask();
    account.add(client, job, result, performance.now() - began);
    await pause(job.rest * (0.5 + Math.random())); // The pause saves CPU. Without it, a slow kube-proxy would become even slower.
  }
}

/**
 * Sends requests to the Service of a job until one request gets a response. Before every kube-proxy knows the Service,
 * connections can be refused although the pods serve requests.
 */
async function firstAnswer(job: Job): Promise<void> {
  const deadline = performance.now() + startLimit;
  const client = clientOf(job, 0);
  const end = setInterval(() => {
    client.end();
  }, 1000); // An event stream counts as established if it has not failed within a second.
  for (;;) {
    const { outcome, reason } = await client.ask();
    if (outcome === 'answered') break;
    if (performance.now() > deadline) throw new Error(`no answer to ${job.name} from ${job.url}: ${String(reason)}`);
    await pause(100);
  }
  clearInterval(end);
  client.end();
}

async function main(argument: string | undefined): Promise<void> {
  if (!argument)
    throw new Error('usage: node client.ts JOBS, as JSON; SIGTERM stops the clients, which print a summary');
  const jobs = JSON.parse(argument) as Job[];
  const stop = new AbortController();
  process.once('SIGTERM', () => {
    stop.abort();
  });
  await Promise.all(jobs.filter(({ kind }) => kind !== 'slow').map(firstAnswer));
  const account = new Account();
  say({ type: 'started' });
  const seconds = setInterval(() => {
    account.saySecond();
  }, 1000);
  const all = jobs.flatMap((job) =>
    Array.from({ length: job.clients }, (_, index) => askUntil(stop.signal, job, index, account)),
  );
  await Promise.all(all);
  clearInterval(seconds);
  account.saySecond();
  say({ type: 'summary', tallies: account.tallies });
}

await main(process.argv[2]);
