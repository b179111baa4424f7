// One request over HTTP/1.1, and whether its client got a whole response.
import { Agent, request, type AgentOptions, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { systemClock, wait } from '../../../clock.ts';
import { DelayedSocket } from './delayed-socket.ts';

/** Account says what became of a request. A refused one was not accepted, or got a whole 429 or 503. */
export type Account =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'refused'; readonly why: string }
  | {
      readonly kind: 'lost';
      readonly why: string;
      /** Whether the connection ended before the response began. */
      readonly isUnanswered?: boolean;
    };

/** Message is what a client sends. */
export interface Message {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent one after another, with the pause in milliseconds between them. */
  readonly body?: { readonly chunk: Buffer; readonly count: number; readonly pause: number };
}

/** Target is where requests are sent. */
export interface Target {
  readonly host: string;
  readonly port: number;
  /** How long a byte takes in each direction, in milliseconds; the least delay by default. */
  readonly delay?: number;
}

// The statuses by which a server refuses a request that another server may serve.
const refusals: readonly number[] = [429, 503];

/** accountOf judges a whole response by its status. */
export function accountOf(status: number): Account {
  return refusals.includes(status)
    ? { kind: 'refused', why: `status ${String(status)}` }
    : { kind: 'answered', status };
}

/** OneConnection is an agent that keeps one connection, until its server ends it. */
export class OneConnection extends Agent {
  readonly #target: Target;
  #socket: DelayedSocket | undefined;

  constructor(target: Target, options: AgentOptions = {}) {
    super({ keepAlive: true, maxSockets: 1, ...options });
    this.#target = target;
  }

  /** Whether the connection can be used for another request, as far as the client knows. */
  get isOpen(): boolean {
    return this.#socket !== undefined && !this.#socket.destroyed && !this.#socket.isEnded;
  }

  /** Whether the connection of the last request was accepted. */
  get wasAccepted(): boolean {
    return this.#socket?.isConnected === true;
  }

  override createConnection(): Duplex {
    this.#socket = new DelayedSocket(this.#target.host, this.#target.port, this.#target.delay);
    return this.#socket;
  }

  // A client that guesses from the header Keep-Alive when its server will close would hide what others lose.
  override keepSocketAlive(): boolean {
    return true;
  }
}

/** exchange sends a request and resolves with what became of it. It never rejects. */
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
