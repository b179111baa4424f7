// A client that sends its next request as soon as the previous response has arrived. It never retries, and counts every
// result.
import { connect, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import { once } from 'node:events';

/**
 * The results of the requests.
 *
 * A request is *lost* if it was sent and its connection ended before the whole response had arrived. The client cannot
 * know whether the request was executed.
 *
 * A request is *refused* if its response is 429 or 503, or if no connection could be opened for it. It was not
 * executed, and the client may send it elsewhere.
 */
export interface Account {
  answered: number;
  /** The number of responses with a status of 500 or more, except 503. */
  failed: number;
  toldToClose: number;
  lost: string[];
  refused: string[];
  /**
   * The local ports, on the client's side, of the connections whose first request was lost. The server may never have
   * accepted these connections.
   */
  lostPorts: (number | undefined)[];
  /** The local ports, on the client's side, of the connections that ended before their TLS handshake was complete. */
  resetPorts: number[];
}

export function newAccount(): Account {
  return { answered: 0, failed: 0, toldToClose: 0, lost: [], refused: [], lostPorts: [], resetPorts: [] };
}

export interface ClientOptions {
  readonly port: number;
  readonly isSecure?: boolean;
  readonly request?: string;
  readonly account: Account;
  readonly stop: AbortSignal;
}

export const get = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
export const post = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello';

/** runClient sends requests until `stop` is aborted or no connection can be opened. */
export async function runClient({
  port,
  isSecure = false,
  request = get,
  account,
  stop,
}: ClientOptions): Promise<void> {
  while (!isAborted(stop)) {
    const socket = isSecure
      ? connectSecure({ port, host: '127.0.0.1', rejectUnauthorized: false })
      : connect({ port, host: '127.0.0.1', noDelay: true });
    socket.on('error', () => undefined);
    let localPort: number | undefined;
    socket.once('connect', () => (localPort = socket.localPort));
    const error = await connected(socket, isSecure);
    if (error !== undefined) {
      account.refused.push(error);
      if (localPort !== undefined) account.resetPorts.push(localPort);
      return;
    }
    const reader = new ResponseReader(socket);
    for (let sent = 0; ; sent++) {
      if (isAborted(stop)) break;
      socket.write(request);
      const response = await reader.next();
      if (response === undefined) {
        account.lost.push(`${reader.error ?? 'FIN'} after ${String(sent)} requests, ${String(reader.received)} bytes`);
        account.lostPorts.push(sent === 0 ? reader.localPort : undefined);
        break;
      }
      if (response.status === 429 || response.status === 503) account.refused.push(String(response.status));
      else {
        account.answered++;
        if (response.status >= 500) account.failed++;
      }
      if (response.isClose) {
        account.toldToClose++;
        break;
      }
    }
    socket.end();
    if (!socket.destroyed) await once(socket, 'close');
  }
}

// Reads `aborted` in a function. If runClient() read this property itself, TypeScript would assume that its value stays
// false.
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

async function connected(socket: Socket, isSecure: boolean): Promise<string | undefined> {
  try {
    await once(socket, isSecure ? 'secureConnect' : 'connect');
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

export interface Response {
  readonly status: number;
  readonly isClose: boolean;
  readonly head: string;
  readonly body: string;
}

/**
 * ResponseReader reads complete responses, one after another. It returns undefined if the connection ends before a
 * response is complete.
 */
export class ResponseReader {
  error: string | undefined;
  received = 0;
  readonly localPort: number | undefined;
  readonly ended: Promise<void>;
  #buffer = '';
  #isOver = false;
  #wake: () => void = () => undefined;

  constructor(socket: Socket) {
    this.localPort = socket.localPort;
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      this.#buffer += chunk;
      this.received += chunk.length;
      this.#wake();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => (this.error = error.code));
    this.ended = new Promise((resolve) => {
      const over = (): void => {
        this.#isOver = true;
        resolve();
        this.#wake();
      };
      socket.on('end', over);
      socket.on('close', over);
    });
  }

  async next(): Promise<Response | undefined> {
    for (;;) {
      const response = this.#take();
      if (response !== undefined) return response;
      if (this.#isOver) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #take(): Response | undefined {
    const headEnd = this.#buffer.indexOf('\r\n\r\n');
    if (headEnd === -1) return undefined;
    const head = this.#buffer.slice(0, headEnd + 2);
    const start = headEnd + 4;
    const length = /\r\ncontent-length: (\d+)\r\n/i.exec(head)?.[1];
    const isChunked = /\r\ntransfer-encoding: chunked\r\n/i.test(head);
    const isInterim = head.startsWith('HTTP/1.1 1');
    const untilEnd = this.#isOver ? this.#buffer.length : undefined;
    const withoutLength = isChunked ? chunkedEnd(this.#buffer, start) : untilEnd;
    const end = isInterim ? start : length === undefined ? withoutLength : start + Number(length);
    if (end === undefined || this.#buffer.length < end) return undefined;
    const body = this.#buffer.slice(start, end);
    this.#buffer = this.#buffer.slice(end);
    const status = Number(head.slice(9, 12));
    return { status, isClose: /\r\nconnection: close\r\n/i.test(head), head, body };
  }
}

function chunkedEnd(text: string, start: number): number | undefined {
  const end = text.indexOf('0\r\n\r\n', start);
  return end === -1 ? undefined : end + 5;
}
