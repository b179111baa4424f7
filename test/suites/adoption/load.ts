// The clients of a program. Each client sends its next request as soon as the previous response has arrived, and counts
// its own results.
import { connect, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import {
  newAccount,
  ResponseReader,
  runClient,
  type Account,
  type Response,
} from '../../support/closed-loop-client.ts';
import { Http2Client } from '../../support/http2-client.ts';
import type { Paths } from './program.ts';

export const clientCount = 20;
const slowCount = 6;

export type Protocol = 'http' | 'https' | 'http2';

export interface Target {
  readonly port: number;
  readonly protocol: Protocol;
}

/**
 * Ended has the results of a client and the time at which the client ended. A client ends when its connection is
 * refused.
 */
export interface Ended {
  readonly account: Account;
  readonly endedAt: number;
}

/** Load manages the 20 test clients of one program. Six of these clients send slow requests. */
export class Load {
  readonly #accounts: Account[] = [];
  readonly #stop = new AbortController();
  readonly #clients: Promise<Ended>[] = [];

  constructor(targets: readonly Target[], { quick, slow, header }: Paths) {
    for (let index = 0; index < clientCount; index++) {
      const target = targets[index % targets.length] as Target;
      const isSlow = target === targets[0] && index < slowCount * targets.length;
      const account = newAccount();
      this.#accounts.push(account);
      this.#clients.push(this.#run(target, isSlow ? slow : quick, account, header));
    }
  }

  get answered(): number {
    return this.#accounts.reduce((sum, { answered }) => sum + answered, 0);
  }

  /** True if each client of this Load has received at least two responses. */
  get isFlowing(): boolean {
    return this.#accounts.every(({ answered }) => answered > 1);
  }

  /**
   * `ended()` resolves when all clients have ended. After `patience` milliseconds, it stops the clients that are still
   * running.
   */
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

  async #run({ port, protocol }: Target, path: string, account: Account, header?: string): Promise<Ended> {
    const stop = this.#stop.signal;
    if (protocol === 'http2') await runHttp2Client(port, path, account, stop);
    else await runClient({ port, isSecure: protocol === 'https', request: get(path, header), account, stop });
    return { account, endedAt: Date.now() };
  }
}

function get(path: string, ...headers: (string | undefined)[]): string {
  const lines = [`GET ${path} HTTP/1.1`, 'Host: localhost', ...headers.filter((header) => header !== undefined)];
  return `${lines.join('\r\n')}\r\n\r\n`;
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
      // Code 7 is REFUSED_STREAM of RFC 9113. A server that resets a stream with this code has not executed the
      // request.
      else if (code === 7) account.refused.push('REFUSED_STREAM');
      else account.lost.push(`status ${String(status)}, code ${String(code)}`);
    }
    client.session.close();
    await client.closed;
  }
}

/** `ask()` sends one request on its own connection. It returns undefined if no complete response arrives. */
export async function ask({ port, protocol }: Target, path: string, header?: string): Promise<Response | undefined> {
  const options = { port, host: '127.0.0.1', rejectUnauthorized: false };
  const socket: Socket = protocol === 'http' ? connect(options) : connectSecure(options);
  const reader = new ResponseReader(socket);
  socket.write(get(path, 'Connection: close', header));
  const response = await reader.next();
  socket.destroy();
  return response;
}

/** failedOf counts the responses that report a failure of the server, or of another server that it called. */
export function failedOf(clients: readonly Ended[]): number {
  return clients.reduce((sum, { account }) => sum + account.failed, 0);
}

/** openWebSockets opens three sockets of Socket.IO, each in the default namespace. */
export async function openWebSockets({ port }: Target): Promise<WebSocket[]> {
  const sockets = Array.from({ length: 3 }, () => {
    return new WebSocket(`ws://127.0.0.1:${String(port)}/socket.io/?EIO=4&transport=websocket`);
  });
  await Promise.all(
    sockets.map(async (socket) => {
      await new Promise((resolve, reject) => {
        socket.addEventListener('message', resolve, { once: true });
        socket.addEventListener('error', reject, { once: true });
      });
      // Sends the packet with which a client of Socket.IO joins the default namespace of Socket.IO.
      socket.send('40');
    }),
  );
  return sockets;
}
