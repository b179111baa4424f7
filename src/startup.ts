// The start: what happens from the program's own `listen()` until the process has been ready once.
import { addressText } from './address.ts';
import { startImmediate, type Clock } from './clock.ts';
import type { Health } from './health/health.ts';
import type { Hooks } from './hooks/hooks.ts';
import { retire } from './http/drain/listener.ts';
import type { Server } from './http/server.ts';
import type { Lifecycle } from './lifecycle/signals.ts';

// Milliseconds between two runs of the readyz checks until the process has been ready, even without a probe (P-088).
const readinessInterval = 250;

/** StartupParts are the parts that the start calls. */
export interface StartupParts {
  readonly clock: Clock;
  readonly servers: readonly Server[];
  readonly lifecycle: Lifecycle;
  readonly health: Health;
  readonly hooks: Hooks;
  /** Called once, when all servers listen, before anything else happens. */
  readonly onStart: (addresses: readonly string[]) => void;
}

/** Startup begins when the last of the servers listens; a program without a server begins at once. */
export class Startup {
  readonly #parts: StartupParts;
  readonly #waitingFor: Set<Server>;
  readonly #finishedHooks = new Set<string>();
  readonly #stopped = new AbortController();

  constructor(parts: StartupParts) {
    this.#parts = parts;
    this.#waitingFor = new Set(parts.servers);
    void this.#stopHooks();
  }

  /**
   * onListening is called for each server that listens. A server that listens after the shutdown began is closed again (P-054),
   * after the program's own listeners, which may read its address.
   */
  onListening(server: Server): void {
    if (this.#parts.lifecycle.signals.shutdownInitiated.hasSignaled) startImmediate(retire, server);
    else if (this.#waitingFor.delete(server) && this.#waitingFor.size === 0) this.#start();
  }

  /**
   * begin starts a lifecycle that gets no event: one without a server, or with servers that already listen. It runs in the next
   * turn of the event loop, so that no turn is long.
   */
  begin(): void {
    startImmediate(() => {
      // The drain closes the servers that listened when the shutdown began.
      if (this.#parts.lifecycle.signals.shutdownInitiated.hasSignaled) return;
      if (this.#parts.servers.length === 0) this.#start();
      for (const server of this.#waitingFor) if (server.listening) this.onListening(server);
    });
  }

  /** addPostStartCheck makes /readyz fail until a post-start hook has succeeded. */
  addPostStartCheck(name: string): void {
    this.#parts.health.addPostStartHook(name, () => this.#finishedHooks.has(name));
  }

  #start(): void {
    const { lifecycle, health, hooks, servers, onStart } = this.#parts;
    if (lifecycle.signals.shutdownInitiated.hasSignaled) return;
    health.close();
    onStart(servers.map((server) => addressText(server.address())));
    lifecycle.report('MuxAndDiscoveryComplete');
    void hooks.runPostStart(this.#stopped.signal, (name, failure) => {
      if (failure !== undefined) return;
      this.#finishedHooks.add(name);
      // SIGTERM may arrive at once after the first successful probe.
      void this.#lookWhetherReady();
    });
    void this.#awaitReadiness();
  }

  async #awaitReadiness(): Promise<void> {
    const { clock, lifecycle } = this.#parts;
    const { shutdownInitiated, hasBeenReady } = lifecycle.signals;
    const isOver = (): boolean => shutdownInitiated.hasSignaled || hasBeenReady.hasSignaled;
    while (!isOver() && !(await this.#lookWhetherReady())) {
      await new Promise<void>((resolve) => {
        clock.afterUnref(readinessInterval, resolve);
      });
    }
  }

  async #lookWhetherReady(): Promise<boolean> {
    const { lifecycle, health } = this.#parts;
    const passes = await health.readyz.passes();
    if (passes) lifecycle.report('HasBeenReady');
    return passes;
  }

  // Work that post-start hooks have started goes on during the delay, until the listener closes.
  async #stopHooks(): Promise<void> {
    await this.#parts.lifecycle.signals.notAcceptingNewRequest.signaled;
    this.#stopped.abort();
  }
}
