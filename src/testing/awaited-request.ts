// The requests of a server, noticed behind the seam. No listener would do: it changes what Node does (P-113).
import type { Server } from '../http/server.ts';
import type { Traffic } from '../http/traffic.ts';

type Emit = (event: string | symbol, ...args: unknown[]) => boolean;

/** AwaitedRequestOptions is which request is awaited, and who is told. */
export interface AwaitedRequestOptions {
  readonly traffic: Pick<Traffic, 'connections' | 'requests'>;
  /** Without its query; that of any request unless given. */
  readonly path: string | undefined;
  readonly callback: () => void;
}

const requestEvents = new Set<string | symbol>(['request', 'checkContinue', 'checkExpectation', 'upgrade', 'connect']);

/**
 * AwaitedRequest is the first request for a path, or for any, that is admitted after `begin`: it calls back behind the call
 * of its handler, while it is in flight.
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

  /** end leaves the servers as they were. */
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

  // A probe is answered without being in flight.
  #note(target: string | undefined): void {
    const { connections, requests } = this.#traffic;
    requests.list(connections);
    // Also one that its handler has answered already, which on Node 22 has ended by then.
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
