// Performs the steps of the shutdown. No other file decides their order. Each wait for a lifecycle signal, for a hook
// or for the drain has a time limit.
import type { Server as NetServer } from 'node:net';
import { wait, type Clock } from './clock.ts';
import { Deadline } from './deadline.ts';
import type { DrainedTransport } from './drained-transport.ts';
import { exitCodes } from './exit-codes.ts';
import type { Hooks } from './hooks/hooks.ts';
import type { Drain } from './http/drain/drain.ts';
import { withholdContinue } from './http/http1/expect.ts';
import { closeListener, retire, stopListening } from './http/drain/listener.ts';
import type { Server } from './http/server.ts';
import type { Traffic } from './http/traffic.ts';
import type { Lifecycle } from './lifecycle/signals.ts';
import { allowHalfOpen } from './node-internals.ts';
import type { AuditLog, ShutdownRecord } from './observer.ts';
import type { Recorder } from './recorder.ts';
import { shortestDrain, type Budget } from './settings/budget.ts';
import type { Settings } from './settings/table.ts';
import { runStep } from './step.ts';

// The time limit of the drain after an uncaught error, in milliseconds. The time limit is short, because the state of
// the program is no longer reliable after an uncaught error (K-211).
const drainAfterUncaughtError = 2_000;

// The first part of the shutdown delay, as a share of the whole delay. In this part, lameduck chooses for each
// connection a random time at which it begins to close the connection. In the rest of the delay, a client that rarely
// sends a request still has time to disconnect.
const closeWindowShare = 0.75;

/** ShutdownParts are the parts of a lifecycle that its shutdown uses. */
export interface ShutdownParts {
  readonly clock: Clock;
  readonly settings: Settings;
  readonly budget: () => Budget;
  readonly servers: readonly Server[];
  readonly lifecycle: Lifecycle;
  readonly traffic: Traffic;
  readonly drain: Drain;
  /** If the program itself calls `close()` of the server, takeCloses delays that call until the drain has ended. */
  readonly takeCloses: (server: NetServer) => void;
  readonly hooks: Hooks;
  readonly recorder: Recorder;
  readonly audit: Pick<AuditLog, 'flush'> | undefined;
  /**
   * listenerClosed is set in a worker of node:cluster. It resolves when the primary has closed the listening socket
   * that the workers share.
   */
  readonly group: { readonly listenerClosed: (() => Promise<void>) | undefined } | undefined;
}

export interface BeginOptions {
  /** `budget` is the time, in milliseconds, that the shutdown may still take after this call. */
  readonly budget?: number | undefined;
  /**
   * isOfWorker is true in a worker of node:cluster and in a worker thread. `budget` is then the time that the primary
   * or the main thread allows for the shutdown of this worker.
   */
  readonly isOfWorker?: boolean;
  readonly isUncaughtError?: boolean;
  readonly isLeadershipLost?: boolean;
  /** skipsDelay makes the shutdown skip the shutdown delay. It has no effect on a shutdown that has already begun. */
  readonly skipsDelay?: boolean;
}

interface Deadlines {
  /**
   * drainBy is the deadline of the drain. If the drain has not ended before, it ends at this time, even if some
   * requests have not been answered. The destroy hooks begin after the drain.
   */
  readonly drainBy: Deadline;
  /** endBy is the deadline of the whole shutdown. At this time, the shutdown ends even if a hook is still running. */
  readonly endBy: Deadline;
}

interface Beginning {
  readonly reason: string;
  readonly startedAt: number;
  readonly delay: number;
  readonly deadlines: Deadlines;
}

/**
 * Shutdown performs the steps of the shutdown. It performs them only once, even if several callers begin the shutdown.
 */
export class Shutdown {
  /** `ended` resolves with the record of the shutdown when the shutdown has ended. */
  readonly ended: Promise<ShutdownRecord>;
  readonly #parts: ShutdownParts;
  readonly #others: DrainedTransport[] = [];
  #deadlines: Deadlines | undefined;
  #endsAt: number | undefined;
  #reservesTime = false;
  #resolveEnded!: (record: ShutdownRecord) => void;

  constructor(parts: ShutdownParts) {
    this.#parts = parts;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  /**
   * `deadlines` contains the deadline of the drain and the deadline of the whole shutdown. It is undefined while no
   * shutdown is in progress.
   */
  get deadlines(): { readonly drainBy: number; readonly endBy: number } | undefined {
    const { drainBy, endBy } = this.#deadlines ?? {};
    const hasEnded = endBy?.at === -Infinity;
    return drainBy === undefined || endBy === undefined || hasEnded
      ? undefined
      : { drainBy: drainBy.at, endBy: endBy.at };
  }

  /**
   * endsAt is the time at which the shutdown budget ends. It does not change when the shutdown has ended. It is
   * undefined before the shutdown begins.
   */
  get endsAt(): number | undefined {
    return this.#endsAt ?? this.#deadlines?.endBy.at;
  }

  /**
   * drainWith adds a transport, such as a gRPC server. The transport drains at the same time as the HTTP servers,
   * within the time limit of the drain.
   */
  drainWith(other: DrainedTransport): void {
    this.#others.push(other);
  }

  /**
   * addFront adds `front`, a server that has passed a socket to one of the HTTP servers. The listening socket of
   * `front` closes together with those of the HTTP servers. If the HTTP servers have already stopped listening,
   * addFront closes the listening socket of `front` at once.
   */
  addFront(front: NetServer): void {
    const { lifecycle, drain } = this.#parts;
    const deadlines = this.#deadlines;
    if (deadlines === undefined) return;
    const { drainBy, endBy } = deadlines;
    if (this.#endsAt === undefined) {
      this.#takeCloses(front, drainBy);
      void this.#step('prepare the servers', drainBy, () => {
        drain.addServer(front);
      });
    }
    if (lifecycle.signals.httpServerStoppedListening.hasSignaled) this.#closeNow(front, endBy);
  }

  /**
   * reserveTimeForListeners reserves time for the program's own signal listeners at the end of the shutdown budget. The
   * reserved time is as long as `destroyHookTimeout`. The shutdown waits that much less for its connections to close.
   */
  reserveTimeForListeners(): void {
    this.#reservesTime = true;
  }

  /**
   * `begin()` starts the shutdown. If a shutdown is already in progress, `begin()` joins it, and can only shorten its
   * budget (K-166, P-056). The returned promise never rejects. The shutdown record contains the reason that the first
   * call has passed.
   */
  begin(reason: string, options: BeginOptions = {}): Promise<ShutdownRecord> {
    const {
      budget,
      isOfWorker = false,
      isUncaughtError = false,
      isLeadershipLost = false,
      skipsDelay = false,
    } = options;
    const deadlines = this.#deadlines ?? this.#start(reason, skipsDelay);
    if (budget !== undefined) this.#shorten(deadlines, budget, isOfWorker);
    if (isUncaughtError) this.#boundDrain(deadlines);
    if (isLeadershipLost) this.#parts.recorder.noteCause(exitCodes.leadershipLost);
    return this.ended;
  }

  #start(reason: string, skipsDelay: boolean): Deadlines {
    const { clock, settings, budget, recorder, servers, hooks } = this.#parts;
    const startedAt = clock.now();
    const endAt = startedAt + budget().total;
    // A lifecycle without a server and without destroy hooks has nothing to do after its drain. So no time is reserved
    // for destroy hooks, and its workers or worker threads can use the whole shutdown budget.
    const needsTime = servers.length > 0 || hooks.hasDestroy;
    const deadlines = {
      drainBy: new Deadline(clock, endAt - (needsTime ? settings.destroyHookTimeout : 0)),
      endBy: new Deadline(clock, endAt),
    };
    // Set `#deadlines` before the observer is called. The observer may call `shutdown()`, and that call must find the
    // shutdown in progress.
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
    const { lifecycle, servers, traffic, drain, hooks, settings, recorder, audit } = this.#parts;
    const { drainBy, endBy } = deadlines;
    // Recognize long-running requests before ShutdownInitiated fires, because the log line of this signal contains
    // their number.
    const recognized = this.#step('announce the close to clients', drainBy, () =>
      traffic.beginShutdown({ since: startedAt, window: delay * closeWindowShare }),
    );
    lifecycle.report('ShutdownInitiated');
    for (const server of servers) {
      void this.#step('prepare the servers', drainBy, () => {
        allowHalfOpen(server);
        withholdContinue(server);
      });
    }
    for (const server of this.#listeners) this.#takeCloses(server, drainBy);
    drain.startChecks(this.#listeners);
    void this.#delay(delay, drainBy);
    void this.#step('pre-shutdown hooks', drainBy, () => hooks.runPreShutdown(reason, drainBy.signal)).then(() => {
      lifecycle.report('PreShutdownHooksStopped');
    });

    await lifecycle.signals.notAcceptingNewRequest.signaled;
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
    // At the end of the shutdown budget, some audit events may not have been written yet. The shutdown record then
    // contains the number of these events. The shutdown does not count as failed.
    await Promise.race([audit?.flush(), endBy.reached]);
    const record = recorder.end();
    this.#endsAt = endBy.at;
    drainBy.clear();
    endBy.clear();
    return record;
  }

  // Returns the servers whose listening sockets the drain closes: the HTTP servers, and all servers that pass sockets
  // to these HTTP servers.
  get #listeners(): readonly NetServer[] {
    const { servers, traffic } = this.#parts;
    return [...servers, ...traffic.fronts];
  }

  #takeCloses(server: NetServer, drainBy: Deadline): void {
    void this.#step('take over close() of the servers', drainBy, () => {
      this.#parts.takeCloses(server);
    });
  }

  #closeNow(server: NetServer, endBy: Deadline): void {
    void this.#step('stop listening', endBy, () => {
      if (server.listening) closeListener(server);
    });
  }

  async #step(name: string, by: Deadline, run: () => unknown): Promise<void> {
    const { clock, recorder } = this.#parts;
    const onFailure = (error: unknown): void => {
      recorder.noteStepFailure(name, error);
    };
    await runStep({ clock, by, onFailure }, run);
  }

  // Returns the length of the shutdown delay. It returns 0 if the process has never been ready, because no Service
  // sends connections to a process that has never been ready.
  #delayOf(isSkipped: boolean): number {
    const { lifecycle, settings } = this.#parts;
    return isSkipped || !lifecycle.signals.hasBeenReady.hasSignaled ? 0 : settings.shutdownDelayDuration;
  }

  async #delay(milliseconds: number, drainBy: Deadline): Promise<void> {
    if (milliseconds > 0) await wait(this.#parts.clock, milliseconds, drainBy.signal);
    this.#parts.lifecycle.report('AfterShutdownDelayDuration');
  }

  async #stopListening(endBy: Deadline): Promise<void> {
    const { clock, traffic, lifecycle, group } = this.#parts;
    traffic.hold.begin();
    await this.#step('wait for the primary', endBy, () => group?.listenerClosed?.());
    const activity = (): number =>
      traffic.connectionsAccepted + traffic.acceptedByFronts + traffic.requests.inFlight.totals.answered;
    await Promise.all(
      this.#listeners.map((server) =>
        this.#step('stop listening', endBy, () => stopListening(server, clock, activity, endBy.signal)),
      ),
    );
    // While the servers stopped listening, another server may have passed its first socket to an HTTP server of this
    // lifecycle. So close the listening socket of the other server too.
    for (const front of traffic.fronts) this.#closeNow(front, endBy);
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
      this.#step(`drain ${other.transport}`, drainBy, () =>
        Promise.race([other.drain().then(() => left.delete(other)), drainBy.reached]),
      ),
    );
    await Promise.all([Promise.race([drain.drained, drainBy.reached]), ...others]);
    if (drainBy.signal.aborted) {
      void this.#step('list unfinished requests', endBy, () => {
        recorder.noteUnfinished([...left].map(({ transport }) => transport));
      });
      void this.#step('abort requests', endBy, () => {
        traffic.requests.cut(traffic.connections);
      });
      await this.#step('cut off connections', endBy, () => drain.cut());
    }
    await Promise.all([...left].map((other) => this.#step(`cut off ${other.transport}`, endBy, other.cut.bind(other))));
    lifecycle.report('InFlightRequestsDrained');
  }

  // Waits until each peer has acknowledged its response. In a pod, unacknowledged bytes are lost when the process ends.
  // During this wait, a request on a connection that was accepted after NotAcceptingNewRequest still gets a 429.
  async #closeConnections(endBy: Deadline): Promise<void> {
    const { drain, recorder, clock, settings } = this.#parts;
    const closeBy = this.#reservesTime ? new Deadline(clock, endBy.at - settings.destroyHookTimeout) : endBy;
    await Promise.race([drain.empty(closeBy), closeBy.reached, endBy.reached]);
    const isOverdue = closeBy.signal.aborted || endBy.signal.aborted;
    if (closeBy !== endBy) closeBy.clear();
    if (isOverdue) {
      void this.#step('list unfinished requests', endBy, () => {
        recorder.noteUnfinished();
        recorder.noteUnacknowledged(drain.unacknowledged);
      });
      await this.#step('cut off connections', endBy, () => drain.cutOff());
    }
    drain.stopChecks();
    for (const server of this.#listeners) {
      void this.#step('retire the servers', endBy, () => {
        retire(server);
      });
    }
  }

  #shorten({ drainBy, endBy }: Deadlines, budget: number, isOfWorker: boolean): void {
    const { clock, settings, hooks } = this.#parts;
    const now = clock.now();
    endBy.shorten(now + budget);
    // A cluster worker or a worker thread must end before its primary or main thread, so it gets less time than its own
    // settings allow. If this time is too short for all steps of the shutdown, the steps before the drain get it first.
    // The drain gets the next `shortestDrain` milliseconds, and the destroy hooks get the rest.
    const shortest = Math.max(settings.shutdownDelayDuration, hooks.longestPreShutdown) + shortestDrain;
    const atLeast = isOfWorker ? Math.min(budget, shortest) : 0;
    drainBy.shorten(now + Math.max(atLeast, budget - settings.destroyHookTimeout));
  }

  #boundDrain({ drainBy, endBy }: Deadlines): void {
    const { clock, lifecycle, recorder, settings } = this.#parts;
    recorder.noteCause(exitCodes.uncaughtError);
    void lifecycle.signals.notAcceptingNewRequest.signaled.then(() => {
      const at = clock.now() + drainAfterUncaughtError;
      drainBy.shorten(at);
      // After an uncaught error, the shutdown ends at most `destroyHookTimeout` after the deadline of the drain, even
      // if a client reads its response slowly.
      endBy.shorten(at + settings.destroyHookTimeout);
    });
  }
}
