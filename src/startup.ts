// Starts a lifecycle. The start begins when the program calls `listen()`. It ends when the process is ready for the
// first time.
import { addressText } from './address.ts';
import { startImmediate, type Clock } from './clock.ts';
import type { Health } from './health/health.ts';
import type { Hooks } from './hooks/hooks.ts';
import { retire } from './http/drain/listener.ts';
import { addressOf, type Server } from './http/server.ts';
import type { Lifecycle } from './lifecycle/signals.ts';

// Milliseconds between two runs of the readyz checks until the process has been ready for the first time. lameduck runs
// the checks itself, even if no probe arrives (P-088).
const readinessInterval = 250;

export interface StartupParts {
  readonly clock: Clock;
  readonly servers: readonly Server[];
  readonly lifecycle: Lifecycle;
  readonly health: Health;
  readonly hooks: Hooks;
  /**
   * onStart is called once, when all servers listen, with the addresses of the servers. It is the first step of the
   * start.
   */
  readonly onStart: (addresses: readonly string[]) => void;
}

/**
 * Startup starts the lifecycle when all servers of the program listen. If the program has no server, Startup starts the
 * lifecycle at once.
 */
export class Startup {
  readonly #parts: StartupParts;
  readonly #waitingFor: Set<Server>;
  readonly #starters = new WeakSet<Server>();
  readonly #finishedHooks = new Set<string>();
  readonly #stopped = new AbortController();

  constructor(parts: StartupParts) {
    this.#parts = parts;
    this.#waitingFor = new Set(parts.servers);
    void this.#stopHooks();
  }

  /**
   * onListening is called for each server that begins to listen. If the shutdown has already begun, onListening closes
   * the server (P-054). It closes the server only after the program's own listeners of the event `listening`, which may
   * read the address of the server.
   */
  onListening(server: Server): void {
    if (this.#parts.lifecycle.signals.shutdownInitiated.hasSignaled) startImmediate(retire, server);
    else if (this.#waitingFor.size > 0) {
      if (this.#starters.has(server)) this.#waitingFor.clear();
      else this.#waitingFor.delete(server);
      if (this.#waitingFor.size === 0) this.#start();
    }
  }

  /**
   * startWith makes the lifecycle also start when `server` listens, even if the servers of the constructor do not
   * listen. The program may never call `listen()` for those servers.
   */
  startWith(server: Server): void {
    this.#starters.add(server);
  }

  /**
   * `begin()` starts a lifecycle for which no server will emit `listening`, because the lifecycle has no server or its
   * servers already listen. It starts the lifecycle in the next turn of the event loop, to keep each turn of the event
   * loop short.
   */
  begin(): void {
    startImmediate(() => {
      // If the shutdown has begun before the lifecycle could start, do not start the lifecycle. The drain closes its
      // servers.
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
    onStart(servers.filter(({ listening }) => listening).map((server) => addressText(addressOf(server))));
    lifecycle.report('MuxAndDiscoveryComplete');
    void hooks.runPostStart(this.#stopped.signal, (name, failure) => {
      if (failure !== undefined) return;
      this.#finishedHooks.add(name);
      // Check readiness now instead of waiting for the next check of the timer. HasBeenReady must fire before a SIGTERM
      // that arrives right after the first successful probe.
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

  // Aborts the AbortSignal of each post-start hook at the lifecycle signal NotAcceptingNewRequest. Before this
  // lifecycle signal, the background work of the hooks continues, even during the shutdown delay.
  async #stopHooks(): Promise<void> {
    await this.#parts.lifecycle.signals.notAcceptingNewRequest.signaled;
    this.#stopped.abort();
  }
}
