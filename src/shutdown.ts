// The shutdown: the only file that orders the drain. It waits on signals, hooks and the drain, and bounds each wait.
import { wait, type Clock } from './clock.ts';
import { Deadline } from './deadline.ts';
import { exitCodes } from './exit-codes.ts';
import type { Hooks } from './hooks/hooks.ts';
import type { Drain } from './http/drain.ts';
import { allowHalfOpen } from './http/half-open.ts';
import { forget, stopListening } from './http/listener.ts';
import type { Server } from './http/server.ts';
import type { Traffic } from './http/traffic.ts';
import type { SignalName } from './lifecycle/graph.ts';
import type { Lifecycle } from './lifecycle/signals.ts';
import type { Observer, ShutdownRecord } from './observer.ts';
import { Recorder } from './record.ts';
import { budgetOf } from './settings/budget.ts';
import type { Settings } from './settings/table.ts';

// After an uncaught error the program's state is suspect: requests in flight get this long and no more (K-211).
const drainAfterUncaughtError = 2_000;

// Clients leave in the first three quarters of the delay; the last quarter is for those that were slow to ask again.
const leavingShare = 0.75;

export interface ShutdownParts {
  readonly clock: Clock;
  readonly settings: Settings;
  readonly servers: readonly Server[];
  readonly lifecycle: Lifecycle;
  readonly traffic: Traffic;
  readonly drain: Drain;
  readonly hooks: Hooks;
  readonly observer: Observer;
}

export interface ShutdownOptions {
  /** In milliseconds from now: what is left of the budget at most. */
  readonly budget?: number | undefined;
  readonly isUncaughtError?: boolean;
}

/** Shutdown runs once, whoever begins it, and keeps the record of how it went. */
export class Shutdown {
  /** Resolves with the record when the shutdown has ended. */
  readonly ended: Promise<ShutdownRecord>;
  readonly #parts: ShutdownParts;
  readonly #recorder: Recorder;
  /** When destroy hooks have to begin at the latest, and when everything has to be over. */
  #drainBy: Deadline | undefined;
  #endBy: Deadline | undefined;
  #budget = 0;
  #isUncaughtError = false;
  #resolveEnded!: (record: ShutdownRecord) => void;

  constructor(parts: ShutdownParts) {
    this.#parts = parts;
    this.#recorder = new Recorder(parts);
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  /**
   * begin starts the shutdown, or joins the one that runs: the first reason stays, and a budget given later can only
   * shorten it (K-166, P-056). It never rejects.
   */
  begin(reason: string, { budget, isUncaughtError = false }: ShutdownOptions = {}): Promise<ShutdownRecord> {
    this.#isUncaughtError ||= isUncaughtError;
    if (this.#endBy === undefined) {
      const startedAt = this.#parts.clock.now();
      this.#recorder.begin(reason, startedAt);
      this.#setDeadlines(startedAt);
      void this.#sequence(reason, startedAt).then(this.#resolveEnded);
    }
    if (budget !== undefined) this.#shorten(budget);
    if (isUncaughtError) this.#boundDrain();
    return this.ended;
  }

  /** noteSignal is told each signal before it can be seen. */
  noteSignal(name: SignalName): void {
    this.#recorder.noteSignal(name);
  }

  /** giveUp ends the record where the shutdown stands, since the process ends now. */
  giveUp(exitCode: number): void {
    if (!this.#recorder.isOpen) return;
    this.#recorder.noteUnfinished();
    this.#recorder.end(exitCode, this.#budget);
  }

  /** report hands the record to the observer, once, with what is known only when the process ends. */
  report(heldBy: readonly string[] = [], exitCode?: number): void {
    this.#recorder.report(heldBy, exitCode);
  }

  async #sequence(reason: string, startedAt: number): Promise<ShutdownRecord> {
    const { lifecycle, servers, traffic, drain, hooks, settings } = this.#parts;
    const { signals } = lifecycle;
    const delay = signals.hasBeenReady.hasSignaled ? settings.shutdownDelayDuration : 0;
    lifecycle.report('ShutdownInitiated');
    servers.forEach(allowHalfOpen);
    traffic.leave({ since: startedAt, window: delay * leavingShare });
    drain.start();
    void this.#delay(delay);
    void hooks.runPreShutdown(reason, (this.#drainBy as Deadline).signal).then(() => {
      lifecycle.report('PreShutdownHooksStopped');
    });

    await signals.notAcceptingNewRequest.signaled;
    if (settings.shutdownSendRetryAfter) {
      traffic.refuseLate();
      await this.#drainRequests();
      await this.#stopListening();
    } else {
      await this.#stopListening();
      await this.#drainRequests();
    }
    await hooks.runDestroy(reason, settings.destroyHookTimeout, (this.#endBy as Deadline).signal);
    await this.#closeConnections();
    return this.#recorder.end(this.#exitCode(), this.#budget);
  }

  async #delay(milliseconds: number): Promise<void> {
    if (milliseconds > 0) await wait(this.#parts.clock, milliseconds, this.#drainBy?.signal);
    this.#parts.lifecycle.report('AfterShutdownDelayDuration');
  }

  async #stopListening(): Promise<void> {
    const { servers, clock, traffic, lifecycle } = this.#parts;
    traffic.hold();
    await Promise.all(servers.map((server) => stopListening(server, clock, () => traffic.connectionsAccepted)));
    traffic.letGo();
    lifecycle.report('HTTPServerStoppedListening');
  }

  async #drainRequests(): Promise<void> {
    const { drain, lifecycle } = this.#parts;
    drain.endIdles(this.#drainBy as Deadline);
    await Promise.race([drain.drained, this.#drainBy?.reached]);
    if (this.#drainBy?.signal.aborted === true) {
      this.#recorder.noteUnfinished();
      await drain.cutOff();
    }
    lifecycle.report('InFlightRequestsDrained');
  }

  // What is left after the drain has had its answer and our FIN, and waits for the peer's; or it came late, for its 429.
  async #closeConnections(): Promise<void> {
    const { drain, servers } = this.#parts;
    await Promise.race([drain.empty(), this.#endBy?.reached]);
    if (this.#endBy?.signal.aborted === true) await drain.cutOff();
    drain.stop();
    servers.forEach(forget);
    this.#drainBy?.clear();
    this.#endBy?.clear();
  }

  #setDeadlines(now: number): void {
    const { clock, settings, hooks } = this.#parts;
    this.#budget = budgetOf(settings, hooks.longestPreShutdown).total;
    this.#endBy = new Deadline(clock, now + this.#budget);
    this.#drainBy = new Deadline(clock, now + this.#budget - settings.destroyHookTimeout);
  }

  #shorten(budget: number): void {
    const { clock, settings } = this.#parts;
    const now = clock.now();
    const { at } = this.#endBy as Deadline;
    this.#endBy?.shorten(now + budget);
    this.#budget -= Math.max(0, at - (now + budget));
    this.#drainBy?.shorten(now + Math.max(0, budget - settings.destroyHookTimeout));
  }

  #boundDrain(): void {
    const { clock, lifecycle } = this.#parts;
    void lifecycle.signals.notAcceptingNewRequest.signaled.then(() => {
      this.#drainBy?.shorten(clock.now() + drainAfterUncaughtError);
    });
  }

  #exitCode(): number {
    if (this.#isUncaughtError) return exitCodes.uncaughtError;
    if (this.#recorder.unfinished.length > 0) return exitCodes.budgetRanOut;
    return this.#parts.hooks.failures.length > 0 ? exitCodes.hookFailed : exitCodes.clean;
  }
}
