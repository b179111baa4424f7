// The status of each gRPC service name, computed from the checks of /readyz, /livez and /healthz.
import type { Clock } from '../clock.ts';
import type { Health } from '../health/health.ts';
import type { LifecycleSignals } from '../lifecycle/signals.ts';

/** ServingStatus is a status of the gRPC health checking protocol. */
export type ServingStatus = 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN';

/** StatusesParts are the parts of a lifecycle from which `Statuses` computes the health status of each gRPC service. */
export interface StatusesParts {
  readonly health: Health;
  readonly signals: LifecycleSignals;
  readonly clock: Clock;
  /**
   * `services` maps each gRPC service name in the options of `grpcHealth()` to a group of readyz checks. The checks of
   * this group decide the health status of the service.
   */
  readonly services: ReadonlyMap<string, string>;
}

// Milliseconds between two runs of the health checks while a gRPC client watches a service.
const interval = 1_000;

type Tell = (status: ServingStatus) => void;

interface Watcher {
  readonly service: string;
  readonly tell: Tell;
  last: ServingStatus | undefined;
}

/**
 * Statuses computes the status of `''`, `readyz`, `livez`, `healthz` and the service names that the program has added.
 */
export class Statuses {
  readonly names: readonly string[];
  readonly #parts: StatusesParts;
  readonly #watchers = new Set<Watcher>();
  #cancel: (() => void) | undefined;

  constructor(parts: StatusesParts) {
    this.#parts = parts;
    this.names = ['', 'readyz', 'livez', 'healthz', ...parts.services.keys()];
    // A gRPC client that watches the health status must learn of the shutdown as soon as it begins. So send NOT_SERVING
    // now: the drain, which ends the watches, begins later (P-046).
    void parts.signals.shutdownInitiated.signaled.then(() => {
      for (const watcher of this.#watchers) {
        if (!this.#isLive(watcher.service) && watcher.last !== 'SERVICE_UNKNOWN') this.#say(watcher, 'NOT_SERVING');
      }
    });
  }

  /**
   * `of()` runs the health checks that decide the status of a gRPC service, and resolves with this status. It resolves
   * with undefined for an unknown service.
   */
  async of(service: string): Promise<ServingStatus | undefined> {
    const { health, services, signals } = this.#parts;
    if (this.#isLive(service)) return (await health[service].passes()) ? 'SERVING' : 'NOT_SERVING';
    const group = services.get(service);
    if (group === undefined && service !== '' && service !== 'readyz') return undefined;
    const passes = await health.readyz.passes(group);
    return passes && !signals.shutdownInitiated.hasSignaled ? 'SERVING' : 'NOT_SERVING';
  }

  /**
   * `watch()` calls the function `tell` with the current status of a gRPC service, and again at each change of this
   * status. After a call of the returned function, `tell` is not called any more.
   */
  watch(service: string, tell: Tell): () => void {
    const watcher: Watcher = { service, tell, last: undefined };
    this.#watchers.add(watcher);
    void this.#tell(watcher);
    this.#schedule();
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size > 0) return;
      this.#cancel?.();
      this.#cancel = undefined;
    };
  }

  #schedule(): void {
    this.#cancel ??= this.#parts.clock.afterUnref(interval, () => {
      this.#cancel = undefined;
      void this.#tellAll().then(() => {
        if (this.#watchers.size > 0) this.#schedule();
      });
    });
  }

  async #tellAll(): Promise<void> {
    await Promise.all([...this.#watchers].map((watcher) => this.#tell(watcher)));
  }

  async #tell(watcher: Watcher): Promise<void> {
    this.#say(watcher, (await this.of(watcher.service)) ?? 'SERVICE_UNKNOWN');
  }

  #say(watcher: Watcher, status: ServingStatus): void {
    if (status === watcher.last || !this.#watchers.has(watcher)) return;
    watcher.last = status;
    watcher.tell(status);
  }

  #isLive(service: string): service is 'livez' | 'healthz' {
    return service === 'livez' || service === 'healthz';
  }
}
