// The start: what happens from the program's own `listen()` until the process has been ready once.
import { addressText } from './address.ts';
import { startImmediate, type Clock } from './clock.ts';
import type { Health } from './health/health.ts';
import type { Hooks } from './hooks/hooks.ts';
import { retire } from './http/drain/listener.ts';
import type { Server } from './http/server.ts';
import type { Lifecycle } from './lifecycle/signals.ts';

// How often a process that has never been ready asks its own readyz checks, probed or not (P-088).
const readinessInterval = 250;

/** StartupParts is what the start sets in motion. */
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
   * onListening is told of each server that listens. One that does so after the shutdown began is closed again (P-054),
   * behind the program's own listeners, which may ask it for its address.
   */
  onListening(server: Server): void {
    if (this.#parts.lifecycle.signals.shutdownInitiated.hasSignaled) startImmediate(retire, server);
    else if (this.#waitingFor.delete(server) && this.#waitingFor.size === 0) this.#start();
  }

  /**
   * begin starts what will not be told: no server at all, or one that listened before it was given to us. It does so in the
   * next turn of the event loop, so that no turn is long.
   */
  begin(): void {
    startImmediate(() => {
      if (this.#parts.servers.length === 0) this.#start();
      for (const server of this.#waitingFor) if (server.listening) this.onListening(server);
    });
  }

  /** addPostStartCheck makes /readyz wait for a post-start hook. */
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
      // The kubelet may see it now, and SIGTERM may follow at once.
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
        const holdsProcess = false;
        clock.after(readinessInterval, resolve, holdsProcess);
      });
    }
  }

  async #lookWhetherReady(): Promise<boolean> {
    const { lifecycle, health } = this.#parts;
    const passes = await health.readyz.passes();
    if (passes) lifecycle.report('HasBeenReady');
    return passes;
  }

  // Work that post-start hooks began goes on through the delay, until the server is told to stop.
  async #stopHooks(): Promise<void> {
    await this.#parts.lifecycle.signals.notAcceptingNewRequest.signaled;
    this.#stopped.abort();
  }
}
