// The client of the API server: one HTTP/1.1 connection for calls and one for the watch (L-123). It knows Leases and
// statuses, and nothing of terms. undici is loaded with the first client and never before.
import type * as Undici from 'undici';
import { messageOf } from '../errors.ts';
import type { ApiServer, Credentials } from './api-server.ts';
import { parseLease } from './lease.ts';
import { problemOf, replyTo, type Answer, type Received } from './answer.ts';
import type { Change, Request } from './state.ts';

/** LeaseApi is what the loop needs of an API server. */
export interface LeaseApi {
  /** Resolves with what the request has come to. It never rejects; `signal` ends it and its connection. */
  send(request: Request, signal: AbortSignal): Promise<Answer>;
  /** Resolves when the watch has ended, with the problem if there was one. `onOpen` is called when it has begun. */
  watch(onOpen: () => void, onChange: (change: Change) => void, signal: AbortSignal): Promise<Answer['problem']>;
  /** Records a core/v1 Event, on a connection of its own. It never rejects. False if it is not permitted. */
  record(event: object, signal: AbortSignal): Promise<boolean>;
  /** Ends the connection of the watch. */
  closeWatch(): void;
  close(): void;
}

/** ClientOptions is which Lease a client is about. */
export interface ClientOptions {
  readonly server: ApiServer;
  readonly credentials: Credentials;
  readonly name: string;
  readonly namespace: string;
  readonly userAgent: string;
}

// No Lease and no watch event is nearly as long.
const longestLine = 1_048_576;

// A watch ends by itself after this time, in seconds, so that clients spread over the API servers.
const longestWatch = 300;

/** connect loads undici and returns a client. No connection is made before the first request. */
export async function connect(options: ClientOptions): Promise<LeaseApi> {
  const undici = await import('undici');
  return new ApiClient(undici, options);
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

  async send({ method, body }: Request, signal: AbortSignal): Promise<Answer> {
    const path = method === 'POST' ? this.#leases : `${this.#leases}/${this.#options.name}`;
    const call = { method, path, body: body === undefined ? null : JSON.stringify(body), signal };
    try {
      let received = await this.#call(this.#calls, call);
      if (received.status === 401 && this.#options.credentials.readToken()) {
        received = await this.#call(this.#calls, call);
      }
      return { reply: replyTo(method, received), problem: problemOf(method, received) };
    } catch (error) {
      const message = signal.aborted ? 'no answer in time' : messageOf(error);
      return { reply: { kind: 'failed', isRejected: false }, problem: { kind: 'unreachable', message } };
    }
  }

  async watch(onOpen: () => void, onChange: (change: Change) => void, signal: AbortSignal): Promise<Answer['problem']> {
    this.#watch ??= this.#createClient();
    const selector = encodeURIComponent(`metadata.name=${this.#options.name}`);
    const path = `${this.#leases}?watch=true&fieldSelector=${selector}&timeoutSeconds=${String(longestWatch)}`;
    try {
      const { statusCode, body } = await this.#watch.request({ ...this.#request('GET', path), signal });
      if (statusCode !== 200) {
        return problemOf('GET', { status: statusCode, headers: {}, body: await textOf(body) });
      }
      onOpen();
      for await (const line of linesOf(body)) {
        const change = changeIn(line);
        if (change === 'end') return undefined;
        if (change !== undefined) onChange(change);
      }
      return undefined;
    } catch (error) {
      return { kind: 'unreachable', message: messageOf(error) };
    }
  }

  async record(event: object, signal: AbortSignal): Promise<boolean> {
    const client = this.#createClient();
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

  // A connection trusts the CA as it is when the connection is made (L-121).
  #createClient(): Undici.Client {
    const { url } = this.#options.server;
    const connector: Undici.buildConnector.connector = (options, callback) => {
      const ca = this.#options.credentials.ca();
      this.#undici.buildConnector(ca === undefined ? {} : { ca })(options, callback);
    };
    return new this.#undici.Client(new URL(url).origin, {
      ...{ connect: connector, pipelining: 1, allowH2: false, keepAliveTimeout: 30_000 },
      // The loop bounds each request by its own clock, and a watch is silent for as long as nothing changes.
      ...{ headersTimeout: 0, bodyTimeout: 0 },
    });
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
      ...{ accept: 'application/json', 'content-type': 'application/json', 'user-agent': this.#options.userAgent },
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    return { method, path, headers };
  }
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

// An ERROR event, such as 410, ends the watch: the next one begins with the current state.
function changeIn(line: string): Change | 'end' | undefined {
  const { type, object } = JSON.parse(line) as { type?: unknown; object?: unknown };
  if (type === 'ERROR') return 'end';
  const lease = parseLease(object);
  if (lease === undefined || !['ADDED', 'MODIFIED', 'DELETED'].includes(String(type))) return undefined;
  return { lease, isDeleted: type === 'DELETED' };
}
