// The shutdown: the only file that orders the drain. It waits on signals, hooks and the drain, and bounds each wait.
import { wait, type Clock } from './clock.ts';
import { Deadline } from './deadline.ts';
import { exitCodes } from './exit-codes.ts';
import type { Hooks } from './hooks/hooks.ts';
import type { Drain } from './http/drain/drain.ts';
import { withholdContinue } from './http/http1/expect.ts';
import { allowHalfOpen } from './http/http1/half-open.ts';
import { retire, stopListening } from './http/drain/listener.ts';
import type { Server } from './http/server.ts';
import type { Traffic } from './http/traffic.ts';
import type { Lifecycle } from './lifecycle/signals.ts';
import type { AuditLog, ShutdownRecord } from './observer.ts';
import type { Recorder } from './recorder.ts';
import type { Budget } from './settings/budget.ts';
import type { Settings } from './settings/table.ts';
import { runStep } from './step.ts';

// The longest drain after an uncaught error, in milliseconds. It is short because the program's state is unreliable (K-211).
const drainAfterUncaughtError = 2_000;

// The part of the delay in which responses tell clients to leave. The rest is for clients whose next request comes late.
const leavingShare = 0.75;

/** ShutdownParts are the parts that the shutdown starts and waits for. */
export interface ShutdownParts {
  readonly clock: Clock;
  readonly settings: Settings;
  readonly budget: () => Budget;
  readonly servers: readonly Server[];
  readonly lifecycle: Lifecycle;
  readonly traffic: Traffic;
  readonly drain: Drain;
  /** Lets the program close a server while it drains. */
  readonly takeCloses: (server: Server) => void;
  readonly hooks: Hooks;
  readonly recorder: Recorder;
  readonly audit: Pick<AuditLog, 'flush'> | undefined;
  /** In a worker of node:cluster, `listenerClosed` resolves when the listener of all workers is closed. */
  readonly group: { readonly listenerClosed: (() => Promise<void>) | undefined } | undefined;
}

/** BeginOptions is what the caller of `begin` may set. */
export interface BeginOptions {
  /** The most that is left of the budget, in milliseconds from now. */
  readonly budget?: number | undefined;
  readonly isUncaughtError?: boolean;
  readonly isLeadershipLost?: boolean;
  /** Skips the delay. It has no effect on a shutdown that has begun. */
  readonly skipsDelay?: boolean;
}

/** Draining is a server of another protocol that also has requests in flight. */
export interface Draining {
  /** The name of the protocol in the log. */
  readonly protocol: string;
  /** Rejects new requests from now on. Resolves when those in flight are answered. */
  drain(): Promise<void>;
  /** Ends all remaining requests immediately. */
  cut(): void;
}

interface Deadlines {
  /** When destroy hooks begin at the latest, whatever is still unanswered. */
  readonly drainBy: Deadline;
  /** When everything is over. */
  readonly endBy: Deadline;
}

interface Beginning {
  readonly reason: string;
  readonly startedAt: number;
  readonly delay: number;
  readonly deadlines: Deadlines;
}

/** Shutdown runs once, even if several callers begin it. */
export class Shutdown {
  /** Resolves with the record when the shutdown has ended. */
  readonly ended: Promise<ShutdownRecord>;
  readonly #parts: ShutdownParts;
  readonly #others: Draining[] = [];
  #deadlines: Deadlines | undefined;
  #endsAt: number | undefined;
  #leavesTime = false;
  #resolveEnded!: (record: ShutdownRecord) => void;

  constructor(parts: ShutdownParts) {
    this.#parts = parts;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  /** When the drain and the whole shutdown have to be over; undefined unless one runs. */
  get deadlines(): { readonly drainBy: number; readonly endBy: number } | undefined {
    const { drainBy, endBy } = this.#deadlines ?? {};
    const hasEnded = endBy?.at === -Infinity;
    return drainBy === undefined || endBy === undefined || hasEnded
      ? undefined
      : { drainBy: drainBy.at, endBy: endBy.at };
  }

  /** When the shutdown budget ends, also after the shutdown itself; undefined before it begins. */
  get endsAt(): number | undefined {
    return this.#endsAt ?? this.#deadlines?.endBy.at;
  }

  /** drainWith lets something else drain with the servers, within the same time. */
  drainWith(other: Draining): void {
    this.#others.push(other);
  }

  /** leaveTime ends the shutdown `destroyHookTimeout` early, so that the program's own listeners have that time after it. */
  leaveTime(): void {
    this.#leavesTime = true;
  }

  /**
   * begin starts the shutdown, or joins the one that runs: the first reason stays, and a budget given later can only
   * shorten it (K-166, P-056). It never rejects.
   */
  begin(reason: string, options: BeginOptions = {}): Promise<ShutdownRecord> {
    const { budget, isUncaughtError = false, isLeadershipLost = false, skipsDelay = false } = options;
    const deadlines = this.#deadlines ?? this.#start(reason, skipsDelay);
    if (budget !== undefined) this.#shorten(deadlines, budget);
    if (isUncaughtError) this.#boundDrain(deadlines);
    if (isLeadershipLost) this.#parts.recorder.noteCause(exitCodes.leadershipLost);
    return this.ended;
  }

  #start(reason: string, skipsDelay: boolean): Deadlines {
    const { clock, settings, budget, recorder } = this.#parts;
    const startedAt = clock.now();
    const endAt = startedAt + budget().total;
    const deadlines = {
      drainBy: new Deadline(clock, endAt - settings.destroyHookTimeout),
      endBy: new Deadline(clock, endAt),
    };
    // Set before any observer is called, so that an observer that calls `shutdown()` joins this shutdown.
    this.#deadlines = deadlines;
    recorder.begin(reason, startedAt, deadlines.endBy);
    const delay = this.#delayOf(skipsDelay);
    void this.#sequence({ reason, startedAt, delay, deadlines })
      .catch((error: unknown) => {
        recorder.noteStepFailure('shutdown', error);
        return recorder.end();
      })
      .then(this.#resolveEnded);
    return deadlines;
  }

  async #sequence({ reason, startedAt, delay, deadlines }: Beginning): Promise<ShutdownRecord> {
    const { lifecycle, servers, traffic, drain, takeCloses, hooks, settings, recorder, audit } = this.#parts;
    const { drainBy, endBy } = deadlines;
    // Before the signal is reported, so that its log line counts event streams as long-running.
    const recognized = this.#step('let clients leave', drainBy, () =>
      traffic.leave({ since: startedAt, window: delay * leavingShare }),
    );
    lifecycle.report('ShutdownInitiated');
    for (const server of servers) {
      void this.#step('prepare the servers', drainBy, () => {
        allowHalfOpen(server);
        withholdContinue(server);
      });
      void this.#step('let the program close the servers', drainBy, () => {
        takeCloses(server);
      });
    }
    drain.start(servers);
    void this.#delay(delay, drainBy);
    void this.#step('pre-shutdown hooks', drainBy, () => hooks.runPreShutdown(reason, drainBy.signal)).then(() => {
      lifecycle.report('PreShutdownHooksStopped');
    });

    await lifecycle.signals.notAcceptingNewRequest.signaled;
    traffic.stopAccepting(settings.shutdownSendRetryAfter);
    await recognized;
    if (settings.shutdownSendRetryAfter) {
      await this.#drainRequests(deadlines);
      await this.#stopListening(endBy);
    } else {
      await this.#stopListening(endBy);
      await this.#drainRequests(deadlines);
    }
    await this.#step('destroy hooks', endBy, () => hooks.runDestroy(reason, settings.destroyHookTimeout, endBy.signal));
    await this.#closeConnections(endBy);
    // Audit events that are not written when the budget ends are counted in the record. They are not a failure.
    await Promise.race([audit?.flush(), endBy.reached]);
    const record = recorder.end();
    this.#endsAt = endBy.at;
    drainBy.clear();
    endBy.clear();
    return record;
  }

  async #step(name: string, by: Deadline, run: () => unknown): Promise<void> {
    const { clock, recorder } = this.#parts;
    const onFailure = (error: unknown): void => {
      recorder.noteStepFailure(name, error);
    };
    await runStep({ clock, by, onFailure }, run);
  }

  // No client was ever sent to a process that has never been ready.
  #delayOf(isSkipped: boolean): number {
    const { lifecycle, settings } = this.#parts;
    return isSkipped || !lifecycle.signals.hasBeenReady.hasSignaled ? 0 : settings.shutdownDelayDuration;
  }

  async #delay(milliseconds: number, drainBy: Deadline): Promise<void> {
    if (milliseconds > 0) await wait(this.#parts.clock, milliseconds, drainBy.signal);
    this.#parts.lifecycle.report('AfterShutdownDelayDuration');
  }

  async #stopListening(endBy: Deadline): Promise<void> {
    const { servers, clock, traffic, lifecycle, group } = this.#parts;
    traffic.hold.begin();
    await this.#step('wait for the primary', endBy, () => group?.listenerClosed?.());
    const activity = (): number => traffic.connectionsAccepted + traffic.requests.inFlight.answered;
    await Promise.all(
      servers.map((server) =>
        this.#step('stop listening', endBy, () => stopListening(server, clock, activity, endBy.signal)),
      ),
    );
    traffic.hold.end();
    lifecycle.report('HTTPServerStoppedListening');
  }

  async #drainRequests({ drainBy, endBy }: Deadlines): Promise<void> {
    const { drain, lifecycle, recorder, settings, traffic } = this.#parts;
    const { shutdownWatchTerminationGracePeriod: grace, eventStreamRetry: retry } = settings;
    const left = new Set(this.#others);
    void this.#step('begin the drain', drainBy, () => {
      drain.begin({ grace, drainBy, retry });
    });
    const others = [...left].map((other) =>
      this.#step(`drain ${other.protocol}`, drainBy, () =>
        Promise.race([other.drain().then(() => left.delete(other)), drainBy.reached]),
      ),
    );
    await Promise.all([Promise.race([drain.drained, drainBy.reached]), ...others]);
    if (drainBy.signal.aborted) {
      void this.#step('name unfinished requests', endBy, () => {
        recorder.noteUnfinished([...left].map(({ protocol }) => protocol));
      });
      void this.#step('abort requests', endBy, () => {
        traffic.requests.cut(traffic.connections);
      });
      await this.#step('cut off connections', endBy, () => drain.cut());
    }
    for (const other of left) {
      void this.#step(`cut off ${other.protocol}`, endBy, () => {
        other.cut();
      });
    }
    lifecycle.report('InFlightRequestsDrained');
  }

  // The remaining connections have received their response and a FIN, and wait for the FIN of their peer. Connections that
  // arrived late wait for their 429. In a pod, bytes that a peer has not acknowledged are lost when the process ends.
  async #closeConnections(endBy: Deadline): Promise<void> {
    const { drain, servers, recorder, clock, settings } = this.#parts;
    const closeBy = this.#leavesTime ? new Deadline(clock, endBy.at - settings.destroyHookTimeout) : endBy;
    await Promise.race([drain.empty(closeBy), closeBy.reached, endBy.reached]);
    const isOverdue = closeBy.signal.aborted || endBy.signal.aborted;
    if (closeBy !== endBy) closeBy.clear();
    if (isOverdue) {
      void this.#step('name unfinished requests', endBy, () => {
        recorder.noteUnfinished();
        recorder.noteUnacknowledged(drain.unacknowledged);
      });
      await this.#step('cut off connections', endBy, () => drain.cutOff());
    }
    drain.stop();
    for (const server of servers) {
      void this.#step('retire the servers', endBy, () => {
        retire(server);
      });
    }
  }

  #shorten({ drainBy, endBy }: Deadlines, budget: number): void {
    const { clock, settings } = this.#parts;
    const now = clock.now();
    endBy.shorten(now + budget);
    drainBy.shorten(now + Math.max(0, budget - settings.destroyHookTimeout));
  }

  #boundDrain({ drainBy, endBy }: Deadlines): void {
    const { clock, lifecycle, recorder, settings } = this.#parts;
    recorder.noteCause(exitCodes.uncaughtError);
    void lifecycle.signals.notAcceptingNewRequest.signaled.then(() => {
      const at = clock.now() + drainAfterUncaughtError;
      drainBy.shorten(at);
      // A client that reads slowly has no more time than a handler and the hooks together.
      endBy.shorten(at + settings.destroyHookTimeout);
    });
  }
}
