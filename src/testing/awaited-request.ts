// Detects a request of a server after the seam. A listener is not possible, because it changes what Node does (P-113).
import type { Server } from '../http/server.ts';
import type { Traffic } from '../http/traffic.ts';

type Emit = (event: string | symbol, ...args: unknown[]) => boolean;

/** AwaitedRequestOptions names the awaited request, and the function to call. */
export interface AwaitedRequestOptions {
  readonly traffic: Pick<Traffic, 'connections' | 'requests'>;
  /** Without a query. By default any path. */
  readonly path: string | undefined;
  readonly callback: () => void;
}

const requestEvents = new Set<string | symbol>(['request', 'checkContinue', 'checkExpectation', 'upgrade', 'connect']);

/**
 * AwaitedRequest is the first request for a path, or for any path, that is admitted after `begin`. It calls back after the
 * handler was called, while the request is in flight.
 */
export class AwaitedRequest {
  readonly #traffic: AwaitedRequestOptions['traffic'];
  readonly #path: string | undefined;
  readonly #callback: () => void;
  readonly #ends: (() => void)[];
  #isAwaited = false;
  #hasCome = false;

  constructor(servers: readonly Server[], { traffic, path, callback }: AwaitedRequestOptions) {
    this.#traffic = traffic;
    this.#path = path;
    this.#callback = callback;
    this.#ends = servers.map((server) => this.#watch(server));
  }

  get hasCome(): boolean {
    return this.#hasCome;
  }

  begin(): void {
    this.#isAwaited = true;
  }

  /** end restores the servers. */
  end(): void {
    this.#isAwaited = false;
    for (const end of this.#ends.splice(0)) end();
  }

  #watch(server: Server): () => void {
    const emit = server.emit.bind(server) as Emit;
    const before = Object.getOwnPropertyDescriptor(server, 'emit');
    const watching: Emit = (event, ...args) => {
      try {
        return emit(event, ...args);
      } finally {
        if (this.#isAwaited) this.#note(targetOf(event, args));
      }
    };
    server.emit = watching as Server['emit'];
    return () => {
      if (before !== undefined && server.emit === watching) Object.defineProperty(server, 'emit', before);
    };
  }

  // A probe is never in flight.
  #note(target: string | undefined): void {
    const { connections, requests } = this.#traffic;
    requests.list(connections);
    // Call back even if the handler has answered already: on Node 22 the request has then ended.
    if (target === undefined || requests.inFlight.isIdle) return;
    if (this.#path !== undefined && this.#path !== target.replace(/\?.*$/s, '')) return;
    this.#isAwaited = false;
    this.#hasCome = true;
    this.#callback();
  }
}

function targetOf(event: string | symbol, [first, second]: readonly unknown[]): string | undefined {
  if (requestEvents.has(event)) return (first as { url?: string }).url;
  return event === 'stream' ? (second as { ':path'?: string })[':path'] : undefined;
}
