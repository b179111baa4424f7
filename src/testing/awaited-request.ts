// Detects when a server receives the request that `runShutdown` waits for. It adds no listener to the server, because a
// listener would change how Node behaves (P-113).
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

  /** `end()` gives each server back the `emit` that the server had before AwaitedRequest replaced it. */
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

  // Calls the callback if a request for the path `target` is the awaited request. Ignores probes, because they never
  // count as in flight.
  #note(target: string | undefined): void {
    const { connections, requests } = this.#traffic;
    requests.enrolNoted(connections);
    // At this point, the handler may already have responded to the request that this check must find. On Node 22, the
    // response has then ended, and `traffic.counts` omits the request. So do not read `traffic.counts` here.
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
