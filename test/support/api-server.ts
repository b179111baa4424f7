// A simulated Kubernetes API server on a real socket. It serves Leases and Kubernetes Events over HTTP/1.1. A test can
// choose requests that the server fails.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../src/clock.ts';
import { LeaseStore, status, type Answered } from './lease-store.ts';

/** Call records one request about a Lease that the simulated API server has received. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly at: number;
  readonly socket: number;
  readonly token: string | undefined;
  readonly userAgent: string | undefined;
  readonly body: { readonly metadata?: Record<string, unknown>; readonly spec?: Record<string, unknown> } | undefined;
  answered: number | undefined;
  /** The field `reason` of the Kubernetes Status object in the response. */
  reason: unknown;
}

/**
 * Script is a function of a test that decides how the simulated API server responds to a request. If it returns
 * undefined, the server responds as a real API server would.
 */
export type Script = (call: Call) => Scripted | undefined;

/** Scripted describes an unusual response of the simulated API server to one request. */
export interface Scripted {
  /** If set, the simulated API server sends this response, and neither reads nor writes its stored Leases. */
  readonly answer?: Answered & { readonly headers?: Record<string, string>; readonly text?: string };
  /**
   * How long the simulated API server waits before it responds, in milliseconds of the test's clock. With Infinity, the
   * server never responds. The server stores a write before it waits.
   */
  readonly delay?: number;
  /** If true, the simulated API server stores a write, and then resets the connection without a response. */
  readonly isReset?: boolean;
  /** If true, the simulated API server drops the request: it stores no write, and sends no response. */
  readonly isLost?: boolean;
  /**
   * If true, the simulated API server sends the response headers and half of the body. The rest of the response never
   * arrives.
   */
  readonly isHalf?: boolean;
}

/** ApiServer simulates a Kubernetes API server for one Lease: `app` in the namespace `ns`. */
export class ApiServer {
  readonly store = new LeaseStore();
  readonly calls: Call[] = [];
  readonly events: Record<string, unknown>[] = [];
  /** The HTTP method and the path of each request about a Kubernetes Event. */
  readonly eventCalls: string[] = [];
  script: Script = () => undefined;
  /**
   * The HTTP status of the responses to requests about Kubernetes Events. With Infinity, the server never responds to
   * such a request.
   */
  eventStatus = 201;
  /** Whether the simulated API server permits watches of a Lease. */
  isWatchable = false;
  /** The number of requests about Leases whose response is not complete yet, except watches. */
  held = 0;
  readonly watches = new Set<ServerResponse>();
  readonly #clock: Clock;
  readonly #server: Server;
  readonly #sockets = new Map<object, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#server = createServer({ keepAliveTimeout: 0 }, (request, response) => void this.#serve(request, response));
    this.store.onWrite = ({ lease, method }) => {
      const type = method === 'DELETE' ? 'DELETED' : method === 'POST' ? 'ADDED' : 'MODIFIED';
      for (const watch of this.watches) watch.write(`${JSON.stringify({ type, object: lease })}\n`);
    };
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** The HTTP methods of all requests about Leases so far, except watches, separated by spaces. */
  get methods(): string {
    return this.calls.map(({ method }) => method).join(' ');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = '', method = '' } = request;
    let text = '';
    for await (const chunk of request as AsyncIterable<Buffer>) text += chunk.toString();
    if (url.startsWith('/api/v1/')) {
      this.eventCalls.push(`${method} ${url}`);
      this.events.push(JSON.parse(text) as Record<string, unknown>);
      if (this.eventStatus !== Infinity) response.writeHead(this.eventStatus).end('{}');
      return;
    }
    if (url.includes('watch=true')) this.#watch(response);
    else await this.#answer({ method, url, text, request }, response);
  }

  #watch(response: ServerResponse): void {
    if (!this.isWatchable) {
      response.writeHead(403).end(JSON.stringify(status(403, 'Forbidden', 'cannot watch').body));
      return;
    }
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.flushHeaders();
    this.watches.add(response);
    response.on('close', () => this.watches.delete(response));
    const object = this.store.current('app');
    if (object !== undefined) response.write(`${JSON.stringify({ type: 'ADDED', object })}\n`);
  }

  async #answer(
    { method, url, text, request }: { method: string; url: string; text: string; request: IncomingMessage },
    response: ServerResponse,
  ): Promise<void> {
    const body = text === '' ? undefined : (JSON.parse(text) as NonNullable<Call['body']>);
    const call: Call = {
      method,
      path: url,
      at: this.#clock.now(),
      socket: this.#socketOf(request),
      body,
      answered: undefined,
      token: request.headers.authorization?.replace('Bearer ', ''),
      userAgent: request.headers['user-agent'],
      reason: undefined,
    };
    this.calls.push(call);
    const scripted = this.script(call) ?? {};
    const answer: NonNullable<Scripted['answer']> = scripted.answer ?? this.#apply(call, scripted.isLost === true);
    this.held++;
    response.on('close', () => {
      this.held--;
    });
    if (scripted.delay !== undefined || scripted.isLost === true)
      await this.#wait(scripted.delay ?? Infinity, response);
    if (response.destroyed) return;
    if (scripted.isReset === true) {
      request.socket.resetAndDestroy();
      return;
    }
    if (scripted.isHalf === true) {
      const whole = JSON.stringify(answer.body);
      response.writeHead(answer.status, { 'Content-Length': whole.length }).write(whole.slice(0, whole.length / 2));
      await this.#wait(Infinity, response);
      return;
    }
    call.answered = answer.status;
    call.reason = (answer.body as { reason?: unknown } | undefined)?.reason;
    response.writeHead(answer.status, { 'Content-Type': 'application/json', ...answer.headers });
    response.end(answer.text ?? JSON.stringify(answer.body));
  }

  #apply({ method, path, body }: Call, isLost: boolean): Answered {
    const name = path.split('/').pop() ?? '';
    if (isLost) return { status: 500, body: undefined };
    if (method === 'GET') return this.store.get(name);
    if (method === 'POST') return this.store.create(String(body?.metadata?.['name']), body as Record<string, unknown>);
    return this.store.update(name, body as Record<string, unknown>);
  }

  #wait(delay: number, response: ServerResponse): Promise<void> {
    return new Promise((resolve) => {
      response.on('close', resolve);
      if (delay !== Infinity) this.#clock.after(delay, resolve);
    });
  }

  #socketOf({ socket }: IncomingMessage): number {
    const known = this.#sockets.get(socket) ?? this.#sockets.size + 1;
    this.#sockets.set(socket, known);
    return known;
  }
}
