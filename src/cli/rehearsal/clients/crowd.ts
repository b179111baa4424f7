// The clients: each a loop that sends a request, waits for its end, and counts what became of it.
import { systemClock, wait } from '../../../clock.ts';
import { nodeCount, type Destination } from '../endpoints.ts';
import { exchange, OneConnection, type Account, type Message } from './exchange.ts';
import { Http2Client } from './http2.ts';
import { newTallies, type ClientKind, type LoadPlan, type Loss, type Tally } from './messages.ts';
import { followEvents } from './event-stream.ts';
import { holdWebSocket } from './web-socket.ts';

// Clients of each kind that keeps one request in flight for long.
const longClients = 10;

// The longest pause of a client with a kept connection, in milliseconds.
const longestGap = 1_000;

const uploadBody = { chunk: Buffer.alloc(16_384, 'x'), count: 10, pause: 50 } as const;

/** Crowd runs all clients of a plan. */
export class Crowd {
  readonly tallies: Record<ClientKind, Tally> = newTallies();
  inFlight = 0;
  readonly #plan: LoadPlan;
  readonly #random: () => number;
  readonly #onLoss: (loss: Loss) => void;
  readonly #stopped = new AbortController();
  #routes: readonly Destination[] = [];
  #nextRequest = 0;

  constructor(plan: LoadPlan, random: () => number, onLoss: (loss: Loss) => void) {
    this.#plan = plan;
    this.#random = random;
    this.#onLoss = onLoss;
  }

  set routes(routes: readonly Destination[]) {
    this.#routes = routes;
  }

  /** run resolves when `stop` has been called and no request is in flight. It never rejects. */
  async run(): Promise<void> {
    const { connections, stream, upload, webSocket, http2 } = this.#plan;
    const clients = [this.#sendOnNewConnections()];
    for (let index = 0; index < connections; index++) clients.push(this.#keepConnection(index));
    for (let index = 0; index < longClients; index++) {
      if (stream !== undefined)
        clients.push(this.#repeat('eventStream', () => followEvents(this.#plan, stream, this.#stopped.signal)));
      if (upload !== undefined) clients.push(this.#upload(upload));
      if (webSocket !== undefined)
        clients.push(this.#repeat('webSocket', () => holdWebSocket(this.#plan, webSocket, this.#stopped.signal)));
      if (http2 !== undefined) clients.push(this.#useSession(http2));
    }
    await Promise.all(clients);
  }

  /** stop lets no client send another request. */
  stop(): void {
    this.#stopped.abort();
  }

  #hasStopped(): boolean {
    return this.#stopped.signal.aborted;
  }

  // Half of the rate, or all that the kept connections leave of it.
  async #sendOnNewConnections(): Promise<void> {
    const { rate, connections } = this.#plan;
    const perSecond = Math.max(rate / 2, rate - connections / (longestGap / 2_000));
    const started = systemClock.now();
    const ended: Promise<void>[] = [];
    for (let sent = 0; !this.#hasStopped();) {
      const due = Math.floor(((systemClock.now() - started) / 1_000) * perSecond);
      for (; sent < due; sent++) ended.push(this.#sendOnNewConnection(sent));
      await this.#pause(5);
    }
    await Promise.all(ended);
  }

  async #sendOnNewConnection(index: number): Promise<void> {
    if (!this.#isRouted('newConnection', index)) return;
    const agent = new OneConnection(this.#plan, { keepAlive: false });
    await this.#count('newConnection', () => exchange(agent, this.#plan, this.#message()));
    agent.destroy();
  }

  async #keepConnection(index: number): Promise<void> {
    const { rate, connections } = this.#plan;
    const gap = Math.min(longestGap, (connections / (rate / 2)) * 2_000);
    const agent = new OneConnection(this.#plan);
    while (!this.#hasStopped()) {
      await this.#pause(this.#random() * gap);
      if (this.#hasStopped() || !(agent.isOpen || this.#isRouted('keptConnection', index))) continue;
      await this.#count('keptConnection', () => exchange(agent, this.#plan, this.#message()));
    }
    agent.destroy();
  }

  async #upload(path: string): Promise<void> {
    const message = { method: 'POST', path, headers: { 'Content-Type': 'application/octet-stream' }, body: uploadBody };
    await this.#repeat('upload', async () => {
      const agent = new OneConnection(this.#plan, { keepAlive: false });
      const account = await exchange(agent, this.#plan, message);
      agent.destroy();
      return account;
    });
  }

  async #useSession(path: string): Promise<void> {
    const client = new Http2Client(this.#plan);
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

  // A connection that another pod gets is of no interest here; one that nobody gets is refused.
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
    if (account.kind !== 'answered') this.#onLoss({ client: kind, outcome: account.kind, why: account.why, afterMs });
    else if (account.status >= 500) tally.failed++;
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
