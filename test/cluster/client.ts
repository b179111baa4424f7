// The load of the rollout: a dozen closed-loop clients that never retry, and the account of what each kind of them has
// lost. It imports nothing but Node, so that a pod can run it from a ConfigMap, and writes JSON, one object on a line.
import { randomUUID } from 'node:crypto';
import { Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

const kinds = ['kept GET', 'kept POST', 'new GET', 'new POST'] as const;

/** Whether a client keeps its connection, and what it asks for. */
export type Kind = (typeof kinds)[number];

/**
 * How an exchange ended. *Lost*: sent on an accepted connection that had not announced its end, and not answered
 * completely. *Refused*: the connect failed, or the whole answer is a 429 or 503. *Wrong*: any other answer.
 */
export type Outcome = 'answered' | 'lost' | 'refused' | 'wrong';

/** What all clients of one kind have seen: counts, and the longest time that one exchange took. */
export type Tally = Record<Outcome | 'requests' | 'connections' | 'toldToClose' | 'slowestMilliseconds', number>;

/** A line of the output. */
export type Line =
  | { type: 'started' }
  | { type: 'second'; requests: number; pods: Record<string, { requests: number; kept: number }> }
  | { type: 'failure'; at: string; kind: Kind; outcome: Outcome; reason: string | undefined; pod: string | undefined }
  | { type: 'summary'; kinds: Record<Kind, Tally> };

interface Verdict {
  outcome: Outcome;
  reason?: string;
  /** The pod that answered, which names itself in a header. */
  pod?: string | undefined;
}

interface Exchange extends Verdict {
  reused: boolean;
  toldToClose: boolean;
  milliseconds: number;
}

const answerLimit = 10_000;
const startLimit = 60_000;
const slowMilliseconds = 300;

/** One request, sent once: whatever becomes of it is the result. */
function exchange(target: URL, kind: Kind, slow: boolean, agent: Agent | false): Promise<Exchange> {
  const { promise, resolve } = Promise.withResolvers<Exchange>();
  const order = kind.endsWith('POST') ? randomUUID() : undefined;
  const path = order ? '/orders' : slow ? `/slow?ms=${String(slowMilliseconds)}` : '/';
  const began = performance.now();
  let isConnected = false;
  const request = httpRequest(new URL(path, target), {
    agent,
    method: order ? 'POST' : 'GET',
    headers: order ? { 'Content-Type': 'application/json' } : {},
    signal: AbortSignal.timeout(answerLimit),
  });
  const end = (verdict: Verdict, toldToClose: boolean) => {
    const milliseconds = performance.now() - began;
    resolve({ ...verdict, reused: request.reusedSocket, toldToClose, milliseconds });
  };
  request.once('socket', (socket) => {
    isConnected = !socket.connecting;
    if (!isConnected) socket.once('connect', () => (isConnected = true));
  });
  request.once('error', (error: NodeJS.ErrnoException) => {
    end({ outcome: isConnected ? 'lost' : 'refused', reason: error.code ?? error.message }, false);
  });
  request.once('response', (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    response.on('error', () => undefined); // `complete` tells what it would
    response.once('close', () => {
      end(judge(response, text, order), response.headers.connection === 'close');
    });
  });
  send(request, order, slow);
  return promise;
}

/** The body of a slow POST takes its time, so that some requests are under way whenever a pod is told to end. */
function send(request: ClientRequest, order: string | undefined, slow: boolean): void {
  const body = order && JSON.stringify({ id: order });
  if (!body || !slow) {
    request.end(body);
    return;
  }
  request.write(body.slice(0, 10));
  const rest = setTimeout(() => request.end(body.slice(10)), slowMilliseconds);
  request.once('close', () => {
    clearTimeout(rest);
  });
}

function judge({ complete, statusCode, headers }: IncomingMessage, text: string, order: string | undefined): Verdict {
  if (!complete) return { outcome: 'lost', reason: 'truncated answer' };
  if (statusCode === 429 || statusCode === 503) return { outcome: 'refused', reason: String(statusCode) };
  if (statusCode !== (order ? 201 : 200)) return { outcome: 'wrong', reason: `status ${String(statusCode)}` };
  if (order && !text.includes(order)) return { outcome: 'wrong', reason: 'not the order that was posted' };
  return { outcome: 'answered', pod: headers['x-served-by']?.toString() };
}

const noTally: Tally = {
  ...{ requests: 0, answered: 0, lost: 0, refused: 0, wrong: 0 },
  ...{ connections: 0, toldToClose: 0, slowestMilliseconds: 0 },
};

/** The account of one run, and its voice. */
class Account {
  readonly kinds = Object.fromEntries(kinds.map((kind) => [kind, { ...noTally }])) as Record<Kind, Tally>;
  readonly #kept = new Map<object, string>();
  #requests = new Map<string, number>();

  /** Of an exchange without an answer the pod is known if its connection had been kept. */
  add(client: object, kind: Kind, result: Exchange): void {
    const { outcome, reason, pod, reused, toldToClose, milliseconds } = result;
    const tally = this.kinds[kind];
    tally.requests += 1;
    tally[outcome] += 1;
    if (!reused) tally.connections += 1;
    if (toldToClose) tally.toldToClose += 1;
    tally.slowestMilliseconds = Math.max(tally.slowestMilliseconds, Math.round(milliseconds));
    const at = new Date().toISOString();
    if (outcome !== 'answered')
      say({ type: 'failure', at, kind, outcome, reason, pod: reused ? this.#kept.get(client) : undefined });
    if (pod) this.#requests.set(pod, (this.#requests.get(pod) ?? 0) + 1);
    if (pod && !toldToClose && kind.startsWith('kept')) this.#kept.set(client, pod);
    else this.#kept.delete(client);
  }

  saySecond(): void {
    const kept = [...this.#kept.values()];
    const names = new Set([...this.#requests.keys(), ...kept]);
    const pods = Object.fromEntries(
      [...names].map((name) => [
        name,
        { requests: this.#requests.get(name) ?? 0, kept: kept.filter((pod) => pod === name).length },
      ]),
    );
    this.#requests = new Map();
    const requests = Object.values(this.kinds).reduce((sum, tally) => sum + tally.requests, 0);
    say({ type: 'second', requests, pods });
  }
}

function say(line: Line): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** One client: the next request is sent only after the answer to the one before. */
async function askUntil(stop: AbortSignal, target: URL, kind: Kind, slow: boolean, account: Account): Promise<void> {
  const agent = kind.startsWith('kept') && new Agent({ keepAlive: true, maxSockets: 1 });
  const client = {};
  while (!stop.aborted) {
    account.add(client, kind, await exchange(target, kind, slow, agent));
    await pause(10 + Math.random() * 20); // leaves the machine room, or a slow kube-proxy would become slower still
  }
  if (agent) agent.destroy();
}

/** Until a Service is known to every proxy, a refusal says nothing about its pods. */
async function firstAnswer(target: URL): Promise<void> {
  const deadline = performance.now() + startLimit;
  for (;;) {
    const { outcome, reason } = await exchange(target, 'new GET', false, false);
    if (outcome === 'answered') return;
    if (performance.now() > deadline)
      throw new Error(`no answer from ${target.href} in ${String(startLimit)} ms: ${reason}`);
    await pause(100);
  }
}

async function main(address: string | undefined): Promise<void> {
  if (!address) throw new Error('usage: node client.ts URL; SIGTERM ends the load and prints its summary');
  const target = new URL(address);
  const stop = new AbortController();
  process.once('SIGTERM', () => {
    stop.abort();
  });
  await firstAnswer(target);
  const account = new Account();
  say({ type: 'started' });
  const seconds = setInterval(() => {
    account.saySecond();
  }, 1000);
  const clients = kinds.flatMap((kind) =>
    [false, false, true].map((slow) => askUntil(stop.signal, target, kind, slow, account)),
  );
  await Promise.all(clients);
  clearInterval(seconds);
  say({ type: 'summary', kinds: account.kinds });
}

await main(process.argv[2]);
