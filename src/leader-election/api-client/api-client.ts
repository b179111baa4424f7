// The client of the API server. It uses one HTTP/1.1 connection for requests and one for the watch (L-123). It does not
// decide who leads. The package undici is loaded when the process creates its first client.
import type * as Undici from 'undici';
import { fromBundle } from '../../bundled.ts';
import { timedOut, withTimeout, type Clock } from '../../clock.ts';
import { messageOf } from '../../errors.ts';
import type { ApiServer, Credentials } from './credentials.ts';
import { parseLease, type Lease } from '../decision/lease.ts';
import { answerOf, problemOf, type Answer, type Received } from './answer.ts';
import type { LeaseRequest } from '../decision/state.ts';

/** LeaseApi has a method for each kind of request that an elector sends to the API server. */
export interface LeaseApi {
  /**
   * `send()` sends a request for the Lease. Its promise resolves with the API server's answer, or with a failure if the
   * request times out. An answer that arrives after the timeout is ignored. The connection of a request that timed out
   * is not used again. The promise never rejects.
   */
  send(request: LeaseRequest): Promise<Answer>;
  /**
   * `watch()` watches the Lease. It calls `onOpen` when the watch has begun. Its promise resolves when the watch has
   * ended. The result is the problem that ended the watch, or undefined if the watch ended without a problem.
   */
  watch(onOpen: () => void, onChange: (lease: Lease) => void, signal: AbortSignal): Promise<Answer['problem']>;
  /**
   * `record()` sends a core/v1 Event to the API server on a separate connection. It never rejects. It resolves with
   * false if the Role does not permit Events.
   */
  record(event: object, signal: AbortSignal): Promise<boolean>;
  /** closeWatch closes the connection on which the client watches the Lease. */
  closeWatch(): void;
  close(): void;
}

/**
 * ClientOptions contains the name of the Lease that a client reads and writes, and the API server that stores this
 * Lease.
 */
export interface ClientOptions {
  readonly server: ApiServer;
  readonly credentials: Credentials;
  readonly name: string;
  readonly namespace: string;
  readonly clock: Clock;
  readonly userAgent: string;
  /** connectTimeout is how long connecting may take, in milliseconds. */
  readonly connectTimeout: number;
}

// The maximum number of bytes in a response of the API server or in one event of a watch. It limits the memory that a
// response can use. A real Lease is much smaller.
const longestLine = 1_048_576;

/**
 * longestWatch is the time in seconds after which the API server ends a watch. The client then reconnects, perhaps to
 * another API server, so that the load stays spread over all API servers.
 */
export const longestWatch = 300;

/** `connect()` loads undici and resolves with a client. The client opens its connection with its first request. */
export async function connect(options: ClientOptions): Promise<LeaseApi> {
  return new ApiClient(await loadUndici(), options);
}

const dispatcherOfFetch = Symbol.for('undici.globalDispatcher.1');

// Loads undici without changing the dispatcher of the global `fetch`. Loading undici may replace this dispatcher, for
// example the program's proxy agent. In this case, loadUndici restores the dispatcher.
async function loadUndici(): Promise<typeof Undici> {
  const global = globalThis as { [dispatcherOfFetch]?: unknown };
  const before = global[dispatcherOfFetch];
  const undici = await fromBundle(() => import('undici'));
  if (before !== undefined) global[dispatcherOfFetch] = before;
  return undici;
}

class ApiClient implements LeaseApi {
  readonly #undici: typeof Undici;
  readonly #options: ClientOptions;
  readonly #calls: Undici.Client;
  readonly #leases: string;
  #watch: Undici.Client | undefined;

  constructor(undici: typeof Undici, options: ClientOptions) {
    this.#undici = undici;
    this.#options = options;
    this.#calls = this.#createClient();
    const { pathname } = new URL(options.server.url);
    const base = pathname.replace(/\/$/, '');
    this.#leases = `${base}/apis/coordination.k8s.io/v1/namespaces/${options.namespace}/leases`;
  }

  async send(request: LeaseRequest): Promise<Answer> {
    const timesUp = new AbortController();
    const answering = this.#answerTo(request, timesUp.signal);
    const answer = await withTimeout(this.#options.clock, answering, request.timeout);
    if (answer !== timedOut) return answer;
    timesUp.abort();
    return unreachable(`${request.method}: no answer in time`);
  }

  async #answerTo(request: LeaseRequest, signal: AbortSignal): Promise<Answer> {
    const { method, body } = request;
    const path = method === 'POST' ? this.#leases : `${this.#leases}/${this.#options.name}`;
    const call = { method, path, body: body === undefined ? null : JSON.stringify(body), signal };
    const { credentials } = this.#options;
    const token = credentials.token();
    try {
      let received = await this.#call(this.#calls, call);
      if (received.status === 401 && credentials.readToken() !== token) {
        received = await this.#call(this.#calls, call);
      }
      return answerOf(request, received);
    } catch (error) {
      return unreachable(messageOf(error));
    }
  }

  async watch(onOpen: () => void, onChange: (lease: Lease) => void, signal: AbortSignal): Promise<Answer['problem']> {
    this.#watch ??= this.#createClient();
    const selector = encodeURIComponent(`metadata.name=${this.#options.name}`);
    const path = `${this.#leases}?watch=true&fieldSelector=${selector}&timeoutSeconds=${String(longestWatch)}`;
    const { credentials } = this.#options;
    const token = credentials.token();
    try {
      let response = await this.#watch.request({ ...this.#request('GET', path), signal });
      if (response.statusCode === 401 && credentials.readToken() !== token) {
        await textOf(response.body);
        response = await this.#watch.request({ ...this.#request('GET', path), signal });
      }
      const { statusCode, body } = response;
      if (statusCode !== 200) {
        return problemOf('GET', { status: statusCode, headers: {}, body: await textOf(body) }, 'watch');
      }
      onOpen();
      for await (const line of linesOf(body)) {
        const lease = leaseIn(line);
        if (lease === 'end') return undefined;
        if (lease !== undefined) onChange(lease);
      }
      return undefined;
    } catch (error) {
      return { kind: 'unreachable', message: messageOf(error) };
    }
  }

  async record(event: object, signal: AbortSignal): Promise<boolean> {
    const client = this.#createClient({ keepsProcessAlive: false });
    const { pathname } = new URL(this.#options.server.url);
    const path = `${pathname.replace(/\/$/, '')}/api/v1/namespaces/${this.#options.namespace}/events`;
    try {
      const { status } = await this.#call(client, { method: 'POST', path, body: JSON.stringify(event), signal });
      return status !== 403;
    } catch {
      return true;
    } finally {
      void client.destroy();
    }
  }

  closeWatch(): void {
    void this.#watch?.destroy();
    this.#watch = undefined;
  }

  close(): void {
    this.closeWatch();
    void this.#calls.destroy();
  }

  #createClient({ keepsProcessAlive = true } = {}): Undici.Client {
    const { url } = this.#options.server;
    const connector: Undici.buildConnector.connector = (options, callback) => {
      // undici loads modules in two steps: `node:tls` when it connects, and its parser when the connection is open.
      // Call `fromBundle` for both steps.
      const connected = (...result: Parameters<typeof callback>): void => {
        if (!keepsProcessAlive) result[1]?.unref();
        void fromBundle(() => Promise.resolve(callback(...result)));
      };
      fromBundle(() => Promise.resolve(this.#connect(options, connected))).catch((error: unknown) => {
        callback(error as Error, null);
      });
    };
    return new this.#undici.Client(new URL(url).origin, {
      connect: connector,
      pipelining: 1,
      keepAliveTimeout: 30_000,
      // Switch off undici's timeouts. The elector limits each request with its own clock. A watch must not time out,
      // because it receives nothing as long as the Lease does not change.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  // Opens a connection to the API server. The connection trusts the CA that the CA file contains now (L-121). It uses
  // HTTP/1.1. After a timeout, the client replaces an HTTP/1.1 connection, but would continue to use an HTTP/2 session
  // (L-123).
  #connect(...[options, callback]: Parameters<Undici.buildConnector.connector>): void {
    const { credentials, connectTimeout: timeout } = this.#options;
    const ca = credentials.ca();
    this.#undici.buildConnector({ allowH2: false, timeout, ...(ca === undefined ? {} : { ca }) })(options, callback);
  }

  async #call(
    client: Undici.Client,
    { method, path, body, signal }: { method: string; path: string; body: string | null; signal: AbortSignal },
  ): Promise<Received> {
    const response = await client.request({ ...this.#request(method, path), body, signal });
    return { status: response.statusCode, headers: response.headers, body: await textOf(response.body) };
  }

  #request(method: string, path: string): Undici.Dispatcher.RequestOptions {
    const token = this.#options.credentials.token();
    const headers = {
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': this.#options.userAgent,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    return { method, path, headers };
  }
}

function unreachable(message: string): Answer {
  return { reply: { kind: 'failed', isRejected: false }, problem: { kind: 'unreachable', message } };
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > longestLine) throw new Error(`the answer is longer than ${String(longestLine)} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

async function* linesOf(body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > longestLine) throw new Error(`an event is longer than ${String(longestLine)} bytes`);
    yield* lines;
  }
}

// Reads one event of the watch request for the Lease. An event of type ERROR, such as 410, ends the watch, and the next
// watch begins with the current Lease. An event of type DELETED is ignored, because the leader continues to lead after
// the deletion of its Lease.
function leaseIn(line: string): Lease | 'end' | undefined {
  const { type, object } = JSON.parse(line) as { type?: unknown; object?: unknown };
  if (type === 'ERROR') return 'end';
  return type === 'ADDED' || type === 'MODIFIED' ? parseLease(object) : undefined;
}
