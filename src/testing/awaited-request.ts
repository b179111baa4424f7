// Detects when a server receives the request that begins the shutdown of `runShutdown`. Adds no listener to the server,
// because a listener would change how Node behaves (P-113).
import type { Server } from '../http/server.ts';
import type { Traffic } from '../http/traffic.ts';
import { patchEmit } from '../patch-emit.ts';

export interface AwaitedRequestOptions {
  readonly traffic: Pick<Traffic, 'connections' | 'requests'>;
  /** `path` is the path of the awaited request, without its query. If it is undefined, any path matches. */
  readonly path: string | undefined;
  readonly callback: () => void;
}

const requestEvents = new Set<string | symbol>(['request', 'checkContinue', 'checkExpectation', 'upgrade', 'connect']);

/**
 * AwaitedRequest detects the first request for `path`, or for any path, that arrives after `begin` and is not a probe.
 * It calls `callback` when the handler has been called, while the request is in flight.
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

  /** `end()` stops the detection of the request, and restores the `emit` that each server had before. */
  end(): void {
    this.#isAwaited = false;
    for (const end of this.#ends.splice(0)) end();
  }

  #watch(server: Server): () => void {
    return patchEmit(server, (original) => (event, ...args) => {
      try {
        return original().call(server, event, ...args);
      } finally {
        if (this.#isAwaited) this.#note(targetOf(event, args));
      }
    });
  }

  // Calls the callback when the request that `runShutdown` waits for has arrived. `target` is the path of a request
  // that a server has received. Probes are ignored, because they never count as in flight.
  #note(target: string | undefined): void {
    const { connections, requests } = this.#traffic;
    requests.enrolNoted(connections);
    // Do not read `traffic.counts` here. The handler may already have responded to the request, and on Node 22
    // `traffic.counts` then no longer includes the request.
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
