// Sends one HTTP/1.1 request and determines whether the client got a complete response.
import { Agent, request, type AgentOptions, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { systemClock, wait } from '../../../clock.ts';
import { DelayedSocket } from './delayed-socket.ts';

/**
 * Account says how a request of a client ended. `answered`: a complete response arrived. `refused`: the connection was
 * not accepted, or the complete response had the status 429 or 503. `lost`: the connection was accepted, but no
 * complete response arrived.
 */
export type Account =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'refused'; readonly why: string }
  | {
      readonly kind: 'lost';
      readonly why: string;
      /** isUnanswered is true if the connection ended before the first byte of the response arrived. */
      readonly isUnanswered?: boolean;
    };

/** Message is an HTTP request that a client of the rehearsal sends. */
export interface Message {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** `body` is sent in `count` chunks, with `pause` milliseconds between two chunks. */
  readonly body?: { readonly chunk: Buffer; readonly count: number; readonly pause: number };
}

/** Target is the address to which requests are sent. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

interface ConnectionOptions extends AgentOptions {
  /**
   * `delay` is how long the simulated network delays each byte in each direction, in milliseconds. The default is
   * `leastDelay`.
   */
  readonly delay?: number;
}

// The status codes with which a server refuses a request. After such a status, a client may send the request to another
// server.
const refusals: readonly number[] = [429, 503];

/**
 * accountOf returns `refused` for a complete response with the status 429 or 503, and `answered` for any other status.
 */
export function accountOf(status: number): Account {
  return refusals.includes(status)
    ? { kind: 'refused', why: `status ${String(status)}` }
    : { kind: 'answered', status };
}

/** OneConnection is an HTTP agent that reuses one connection until the server closes it. */
export class OneConnection extends Agent {
  readonly #target: Target;
  readonly #delay: number | undefined;
  #socket: DelayedSocket | undefined;

  constructor(target: Target, { delay, ...options }: ConnectionOptions = {}) {
    super({ keepAlive: true, maxSockets: 1, ...options });
    this.#target = target;
    this.#delay = delay;
  }

  /**
   * isOpen tells whether the client may send another request on the connection: no FIN of the server has arrived. A FIN
   * that the server has already sent may still be under way.
   */
  get isOpen(): boolean {
    return this.#socket !== undefined && !this.#socket.destroyed && !this.#socket.isEnded;
  }

  /** wasAccepted is true if the server accepted the connection of this agent's last request. */
  get wasAccepted(): boolean {
    return this.#socket?.isConnected === true;
  }

  override createConnection(): Duplex {
    this.#socket = new DelayedSocket(this.#target.host, this.#target.port, this.#delay);
    return this.#socket;
  }

  // This client ignores the response header `Keep-Alive` on purpose. A client that obeys the header closes an idle
  // connection before the server does. Such a client never loses a request because the server closes the connection.
  override keepSocketAlive(): boolean {
    return true;
  }
}

/** `exchange()` sends one HTTP request to the server and resolves with the result. It never rejects. */
export function exchange(agent: OneConnection, { host, port }: Target, message: Message): Promise<Account> {
  return new Promise((resolve) => {
    const { method, path, headers = {}, body } = message;
    const fail = (error: NodeJS.ErrnoException): void => {
      const why = error.code ?? error.message;
      resolve(agent.wasAccepted ? { kind: 'lost', why, isUnanswered: true } : { kind: 'refused', why });
    };
    const sent = request({ host, port, method, path, headers, agent }, (response) => {
      read(response, resolve);
    });
    sent.on('error', fail);
    if (body === undefined) sent.end();
    else void upload(sent, body);
  });
}

function read(response: IncomingMessage, resolve: (account: Account) => void): void {
  const { statusCode: status = 0 } = response;
  response.resume();
  response.once('error', (error: NodeJS.ErrnoException) => {
    resolve({ kind: 'lost', why: `${error.code ?? error.message} within the response` });
  });
  response.once('end', () => {
    if (!response.complete) resolve({ kind: 'lost', why: 'truncated response' });
    else resolve(accountOf(status));
  });
}

async function upload(
  sent: ReturnType<typeof request>,
  { chunk, count, pause }: NonNullable<Message['body']>,
): Promise<void> {
  for (let index = 0; index < count && !sent.destroyed; index++) {
    sent.write(chunk);
    await wait(systemClock, pause);
  }
  sent.end();
}
