// The clients of a rehearsal. Each client repeatedly sends a request, waits for the response and counts the result.
import { systemClock, wait } from '../../../clock.ts';
import { nodeCount, type Destination } from '../endpoints.ts';
import { newTallies, type ClientKind, type LoadPlan, type Loss, type Tally } from '../load.ts';
import { leastDelay } from './delayed-socket.ts';
import { exchange, OneConnection, type Account, type Message } from './exchange.ts';
import { Http2Client } from './http2.ts';
import { followEvents } from './event-stream.ts';
import { holdWebSocket } from './web-socket.ts';

// The number of clients that each of the options such as `--stream` or `--upload` adds.
const addedClients = 10;

// The longest pause between two requests on a keep-alive connection, in milliseconds.
const longestGap = 1_000;

// Keep-alive connections have one-way network delays from 1 ms to this number of milliseconds, in steps of 1 ms. A
// longer delay makes it more likely that a request is in flight when the server closes the connection.
const delays = 20;

// How long a client waits before each of its long polls, in milliseconds. If the Service then has no available pod, the
// client waits for the same time again.
const shortestGap = 20;

const uploadBody = { chunk: Buffer.alloc(16_384, 'x'), count: 10, pause: 50 } as const;

// The one-way delay of a keep-alive connection, in milliseconds.
const delayOf = (index: number): number => leastDelay + (index % delays);

/**
 * shareOf divides the requests per second between keep-alive connections and new connections. `gap` is the longest
 * pause between two requests on a keep-alive connection, in milliseconds. With this pause, the keep-alive connections
 * send half of the requests. `newPerSecond` is the number of requests per second on new connections, which is usually
 * the other half. If there are too few keep-alive connections for their half, `newPerSecond` is larger.
 */
export function shareOf({ rate, connections }: Pick<LoadPlan, 'rate' | 'connections'>): {
  readonly gap: number;
  readonly newPerSecond: number;
} {
  const gap = Math.min(longestGap, (connections / (rate / 2)) * 2_000);
  const perSecond = Array.from({ length: connections }, (_, index) => 1_000 / (gap / 2 + 2 * delayOf(index)));
  const kept = perSecond.reduce((sum, one) => sum + one, 0);
  return { gap, newPerSecond: Math.max(rate / 2, rate - kept) };
}

/** Crowd starts and stops all simulated clients of one client thread. */
export class Crowd {
  readonly tallies: Record<ClientKind, Tally> = newTallies();
  inFlight = 0;
  readonly #plan: LoadPlan;
  readonly #target: { host: string; readonly port: number };
  readonly #random: () => number;
  readonly #onLoss: (loss: Loss) => void;
  readonly #stopped = new AbortController();
  #routes: readonly Destination[] = [];
  #nextRequest = 0;

  constructor(plan: LoadPlan, random: () => number, onLoss: (loss: Loss) => void) {
    this.#plan = plan;
    this.#target = { host: plan.host, port: plan.port };
    this.#random = random;
    this.#onLoss = onLoss;
  }

  set routes(routes: readonly Destination[]) {
    this.#routes = routes;
  }

  /** `host` is the address to which the clients open connections from now on. */
  set host(host: string) {
    this.#target.host = host;
  }

  /** run resolves when `stop` has been called and no client waits for a response. It never rejects. */
  async run(): Promise<void> {
    const { connections, retry, longPoll, stream, upload, webSocket, http2 } = this.#plan;
    const clients = [this.#sendOnNewConnections()];
    for (let index = 0; index < connections; index++) clients.push(this.#keepConnection('keptConnection', index));
    for (let index = 0; index < addedClients; index++) {
      if (retry) clients.push(this.#keepConnection('retryingConnection', index));
      if (longPoll !== undefined) clients.push(this.#poll(longPoll, index));
      if (stream !== undefined)
        clients.push(this.#repeat('eventStream', () => followEvents(this.#target, stream, this.#stopped.signal)));
      if (upload !== undefined) clients.push(this.#upload(upload));
      if (webSocket !== undefined)
        clients.push(this.#repeat('webSocket', () => holdWebSocket(this.#target, webSocket, this.#stopped.signal)));
      if (http2 !== undefined) clients.push(this.#useSession(http2));
    }
    await Promise.all(clients);
  }

  /** stop makes all clients of the rehearsal send no further request. */
  stop(): void {
    this.#stopped.abort();
  }

  #hasStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  async #sendOnNewConnections(): Promise<void> {
    const { newPerSecond } = shareOf(this.#plan);
    const started = systemClock.now();
    const ended: Promise<void>[] = [];
    for (let sent = 0; !this.#hasStopped();) {
      const due = Math.floor(((systemClock.now() - started) / 1_000) * newPerSecond);
      for (; sent < due; sent++) ended.push(this.#sendOnNewConnection(sent));
      await this.#pause(5);
    }
    await Promise.all(ended);
  }

  async #sendOnNewConnection(index: number): Promise<void> {
    if (!this.#isRouted('newConnection', index)) return;
    const agent = new OneConnection(this.#target, { keepAlive: false });
    await this.#count('newConnection', () => exchange(agent, this.#target, this.#message()));
    agent.destroy();
  }

  async #keepConnection(kind: 'keptConnection' | 'retryingConnection', index: number): Promise<void> {
    const { gap } = shareOf(this.#plan);
    const agent = new OneConnection(this.#target, { delay: delayOf(index) });
    while (!this.#hasStopped()) {
      await this.#pause(this.#random() * gap);
      if (this.#hasStopped() || !(agent.isOpen || this.#isRouted(kind, index))) continue;
      const message = this.#message();
      await this.#count(kind, () =>
        kind === 'retryingConnection'
          ? this.#exchangeOrRepeat(agent, message, index)
          : exchange(agent, this.#target, message),
      );
    }
    agent.destroy();
  }

  // Sends a request. If the kept-alive connection of a GET ends before the response begins, sends the GET once more.
  // HTTP permits such a retry of an idempotent request (RFC 9110, section 9.2.2).
  async #exchangeOrRepeat(agent: OneConnection, message: Message, index: number): Promise<Account> {
    const isReused = agent.isOpen;
    const account = await exchange(agent, this.#target, message);
    const mayRepeat = isReused && message.method === 'GET' && account.kind === 'lost' && account.isUnanswered === true;
    if (!mayRepeat) return account;
    switch (this.#routes[index % nodeCount]) {
      case 'pod':
        return exchange(agent, this.#target, message);
      case 'refused':
        return { kind: 'refused', why: 'no endpoint for the retried request' };
      default:
        // In a cluster, the Service would send the retried request to another pod, and that pod would serve the
        // request. So the rehearsal counts the request as answered.
        return { kind: 'answered', status: 200 };
    }
  }

  // Makes long polls one after another: the client sends the next request as soon as it has received the response.
  async #poll(path: string, index: number): Promise<void> {
    const agent = new OneConnection(this.#target);
    while (!this.#hasStopped()) {
      await this.#pause(shortestGap);
      if (this.#hasStopped() || !(agent.isOpen || this.#isRouted('longPoll', index))) continue;
      await this.#count('longPoll', () => exchange(agent, this.#target, { method: 'GET', path }));
    }
    agent.destroy();
  }

  async #upload(path: string): Promise<void> {
    const message = { method: 'POST', path, headers: { 'Content-Type': 'application/octet-stream' }, body: uploadBody };
    await this.#repeat('upload', async () => {
      const agent = new OneConnection(this.#target, { keepAlive: false });
      const account = await exchange(agent, this.#target, message);
      agent.destroy();
      return account;
    });
  }

  async #useSession(path: string): Promise<void> {
    const client = new Http2Client(this.#target);
    while (!this.#hasStopped()) {
      await this.#pause(this.#random() * longestGap);
      if (this.#hasStopped() || !(client.isOpen || this.#isRouted('http2', Math.floor(this.#random() * nodeCount))))
        continue;
      await this.#count('http2', () => client.request(path));
    }
    client.close();
  }

  async #repeat(kind: ClientKind, send: () => Promise<Account>): Promise<void> {
    while (!this.#hasStopped()) {
      await this.#pause(this.#random() * 200);
      if (this.#hasStopped() || !this.#isRouted(kind, Math.floor(this.#random() * nodeCount))) continue;
      await this.#count(kind, send);
    }
  }

  // Returns true if a simulated node sends a new connection to the rehearsed pod. If the node would send the connection
  // to another pod, nothing is counted. If the node knows no endpoint of the Service, counts the connection as refused.
  #isRouted(kind: ClientKind, index: number): boolean {
    const route = this.#routes[index % nodeCount] ?? 'others';
    if (route === 'refused') {
      this.tallies[kind].sent++;
      this.#note(kind, { kind: 'refused', why: 'no endpoint' }, 0);
    }
    return route === 'pod';
  }

  async #count(kind: ClientKind, send: () => Promise<Account>): Promise<void> {
    const startedAt = systemClock.now();
    this.tallies[kind].sent++;
    this.inFlight++;
    const account = await send();
    this.inFlight--;
    this.#note(kind, account, systemClock.now() - startedAt);
  }

  #note(kind: ClientKind, account: Account, afterMs: number): void {
    const tally = this.tallies[kind];
    tally[account.kind]++;
    if (account.kind === 'answered') {
      if (account.status >= 500) tally.failed++;
      return;
    }
    const isUnanswered = account.kind === 'lost' ? account.isUnanswered : undefined;
    this.#onLoss({ client: kind, outcome: account.kind, why: account.why, afterMs, isUnanswered });
  }

  #message(): Message {
    const { requests } = this.#plan;
    const { method, path } = requests[this.#nextRequest++ % requests.length] ?? { method: 'GET', path: '/' };
    return { method, path };
  }

  async #pause(milliseconds: number): Promise<void> {
    await wait(systemClock, milliseconds, this.#stopped.signal);
  }
}
