// The lifecycles that this process shuts down before it exits. Their type contains only the members that process-end.ts
// uses.
import type { Clock } from '../clock.ts';
import type { Cause } from './signals-and-errors.ts';

/** JoinedLifecycle is one of the lifecycles that this process shuts down before it exits. */
export interface JoinedLifecycle {
  readonly shutdownSignals: readonly NodeJS.Signals[];
  /**
   * `begin()` begins the shutdown of the lifecycle, or joins a shutdown in progress. It resolves when the shutdown has
   * ended. If the cause is an uncaught error, the drain takes at most two seconds.
   */
  begin(cause: Cause): Promise<Ended>;
  /**
   * `report()` writes the final line of the shutdown synchronously, if the shutdown has begun. Only the first call
   * writes it. `exitCode` is the exit code of the process. If the shutdown is still in progress, the line shows its
   * progress so far.
   */
  report(heldBy: readonly string[], exitCode: number): void;
  /**
   * cutShort is called if the process exits while the shutdown of the lifecycle is still in progress. It completes the
   * shutdown record, and returns the exit code of the shutdown.
   */
  cutShort(): number;
  warn(message: string): void;
  /**
   * endsAt returns the time at which the shutdown budget ends, by the system clock. It returns undefined if the
   * shutdown has not begun.
   */
  endsAt(): number | undefined;
  /**
   * onListenersHeld logs that lameduck will call `count` listeners of the program for `signal` only after the shutdown.
   */
  onListenersHeld(signal: string, count: number): void;
  /**
   * onHeldOpen is called after the final line, when the program's signal listeners have ended. `heldBy` lists the
   * resources that still keep the process alive.
   */
  onHeldOpen(heldBy: readonly string[]): void;
  /**
   * beforeListeners is called after the drain, just before lameduck calls the program's delayed signal listeners. The
   * drain has closed the servers, but beforeListeners makes the servers look open to these signal listeners.
   */
  beforeListeners(): void;
  /**
   * afterListeners is called when all delayed signal listeners of the program have ended. If the program has no such
   * listeners, afterListeners is called directly after the drain.
   */
  afterListeners(): void;
  /** takesShutdownMessage is true if the message `shutdown` of the parent process begins the shutdown, as under PM2. */
  readonly takesShutdownMessage: boolean;
  /**
   * isUnderRegister is true if `lameduck/register` created the lifecycle. In this case, signals and errors after the
   * drain have the same effect as in a process without lameduck.
   */
  readonly isUnderRegister: boolean;
  /** isDeveloped is true if the process runs on a developer's machine, so that it must exit fast. */
  readonly isDeveloped: boolean;
  /**
   * runsOwnListeners is true if lameduck calls the program's listeners for a shutdown signal at once, instead of after
   * the drain.
   */
  readonly runsOwnListeners: boolean;
}

/** Ended is the result of the shutdown of one lifecycle. */
export interface Ended {
  readonly exitCode: number;
  readonly durationMs: number;
  readonly budgetMs: number;
}

/**
 * AllEnded is the combined result of the shutdowns of all lifecycles. It contains the highest exit code of these
 * shutdowns, and the earliest end of their shutdown budgets.
 */
export interface AllEnded {
  readonly exitCode: number;
  readonly endsAt: number;
}

/** JoinedLifecycles is the set of all lifecycles that are shut down before this process exits. */
export class JoinedLifecycles extends Set<JoinedLifecycle> {
  readonly #clock: Clock;
  readonly #shutdowns: Promise<AllEnded>[] = [];

  constructor(clock: Clock) {
    super();
    this.#clock = clock;
  }

  haveShutdownSignal(event: string): boolean {
    return this.some(({ shutdownSignals }) => (shutdownSignals as readonly string[]).includes(event));
  }

  get takeShutdownMessage(): boolean {
    return this.some((lifecycle) => lifecycle.takesShutdownMessage);
  }

  some(is: (lifecycle: JoinedLifecycle) => boolean): boolean {
    return [...this].some(is);
  }

  every(is: (lifecycle: JoinedLifecycle) => boolean): boolean {
    return [...this].every(is);
  }

  /**
   * shutDown begins the shutdown of the given lifecycles. If their shutdown is already in progress, shutDown adds
   * `cause` to this shutdown.
   */
  shutDown(lifecycles: readonly JoinedLifecycle[], cause: Cause): void {
    const endedAt = ({ exitCode, budgetMs, durationMs }: Ended): AllEnded => {
      return { exitCode, endsAt: this.#clock.now() + budgetMs - durationMs };
    };
    this.#shutdowns.push(...lifecycles.map((lifecycle) => lifecycle.begin(cause).then(endedAt)));
  }

  /** `ended()` resolves when the shutdowns of all lifecycles have ended. */
  async ended(): Promise<AllEnded> {
    let exitCode = 0;
    let endsAt = Infinity;
    // While this loop waits, a further lifecycle may append its shutdown to `#shutdowns`. The loop also waits for that
    // shutdown.
    for (const shutdown of this.#shutdowns) {
      const ended = await shutdown;
      exitCode = Math.max(exitCode, ended.exitCode);
      endsAt = Math.min(endsAt, ended.endsAt);
    }
    return { exitCode, endsAt };
  }
}
