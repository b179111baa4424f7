// The clients of a program: each sends its next request as soon as the last is answered, and has an account of its own.
import { connect, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import { newAccount, ResponseReader, runClient, type Account, type Response } from '../support/closed-loop-client.ts';
import { Http2Client } from '../support/http2-client.ts';
import type { Paths } from './program.ts';

export const clientCount = 20;
const slowCount = 6;

export type Protocol = 'http' | 'https' | 'http2';

export interface Target {
  readonly port: number;
  readonly protocol: Protocol;
}

/** Ended is the account of a client that has ended, and when that was: a refused connection ends it. */
export interface Ended {
  readonly account: Account;
  readonly endedAt: number;
}

/** Load is all clients together; six of the twenty ask for what takes a while. */
export class Load {
  readonly #accounts: Account[] = [];
  readonly #stop = new AbortController();
  readonly #clients: Promise<Ended>[] = [];

  constructor(targets: readonly Target[], { quick, slow }: Paths) {
    for (let index = 0; index < clientCount; index++) {
      const target = targets[index % targets.length] as Target;
      const isSlow = target === targets[0] && index < slowCount * targets.length;
      const account = newAccount();
      this.#accounts.push(account);
      this.#clients.push(this.#run(target, isSlow ? slow : quick, account));
    }
  }

  get answered(): number {
    return this.#accounts.reduce((sum, { answered }) => sum + answered, 0);
  }

  /** Whether each client has been answered more than once. */
  get isFlowing(): boolean {
    return this.#accounts.every(({ answered }) => answered > 1);
  }

  /** ended resolves when each client has ended by itself, or has been stopped `patience` milliseconds from now. */
  async ended(patience: number): Promise<Ended[]> {
    const timer = setTimeout(() => {
      this.stop();
    }, patience);
    const ended = await Promise.all(this.#clients);
    clearTimeout(timer);
    return ended;
  }

  stop(): void {
    this.#stop.abort();
  }

  async #run({ port, protocol }: Target, path: string, account: Account): Promise<Ended> {
    const stop = this.#stop.signal;
    if (protocol === 'http2') await runHttp2Client(port, path, account, stop);
    else await runClient({ port, isSecure: protocol === 'https', request: get(path), account, stop });
    return { account, endedAt: Date.now() };
  }
}

function get(path: string, header = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${header}\r\n`;
}

async function runHttp2Client(port: number, path: string, account: Account, stop: AbortSignal): Promise<void> {
  const isStopped = (): boolean => stop.aborted;
  while (!isStopped()) {
    const client = new Http2Client(port, true);
    try {
      await client.connected();
    } catch (error) {
      account.refused.push((error as NodeJS.ErrnoException).code ?? String(error));
      return;
    }
    while (!isStopped() && !client.session.closed && !client.session.destroyed) {
      const { status, isWhole, code } = await client.request(path);
      if (isWhole && status === 200) account.answered++;
      // Refused by the server before it was executed.
      else if (code === 7) account.refused.push('REFUSED_STREAM');
      else account.lost.push(`status ${String(status)}, code ${String(code)}`);
    }
    client.session.close();
    await client.closed;
  }
}

/** ask sends one request on a connection of its own; undefined stands for no whole answer. */
export async function ask({ port, protocol }: Target, path: string): Promise<Response | undefined> {
  const options = { port, host: '127.0.0.1', rejectUnauthorized: false };
  const socket: Socket = protocol === 'http' ? connect(options) : connectSecure(options);
  const reader = new ResponseReader(socket);
  socket.write(get(path, 'Connection: close\r\n'));
  const response = await reader.next();
  socket.destroy();
  return response;
}
