// The part of a lifecycle that the end of its process calls.

/** Member is one lifecycle that ends with this process. */
export interface Member {
  readonly shutdownSignals: readonly NodeJS.Signals[];
  /** Begins the shutdown or joins it; resolves when it has ended. */
  begin(reason: string): Promise<Ended>;
  /** Like begin, after a loss of leadership, which has an exit code of its own. */
  beginAfterLoss(reason: string): Promise<Ended>;
  /** Like begin, after an uncaught error, which bounds the drain. */
  beginAfterUncaughtError(error: unknown): Promise<Ended>;
  /**
   * Writes the final line, synchronously and once, if the shutdown has begun. `exitCode` is the exit code of the process. A
   * shutdown that has not ended is recorded as far as it has come.
   */
  report(heldBy: readonly string[], exitCode: number): void;
  /** Closes the record if the shutdown has begun, and returns the exit code that the shutdown asks for. */
  cutShort(): number;
  warn(message: string): void;
  /** When the shutdown budget ends, by the system clock; undefined before the shutdown begins. */
  endsAt(): number | undefined;
  /** Logs that `count` listeners of the program's own for `signal` are held until the shutdown has ended. */
  onListenersHeld(signal: string, count: number): void;
  /** Called after the final line, when `heldBy` keeps the process alive although the program's own listeners are done. */
  onHeldOpen(heldBy: readonly string[]): void;
  /** Called before held listeners are called. Servers that the drain has closed must look open to them. */
  beforeListeners(): void;
  /** Called when the held listeners are done, or when there are none. */
  afterListeners(): void;
  /** Whether the message `shutdown` of the parent process begins the shutdown, as PM2 sends it. */
  readonly takesShutdownMessage: boolean;
  /** Whether `lameduck/register` made the lifecycle. After the drain, such a process behaves as without lameduck. */
  readonly isGuest: boolean;
  /** Whether the process runs on a developer's machine. */
  readonly isDeveloped: boolean;
  /** Whether the program's own listeners of a process signal are called at once. */
  readonly runsOwnListeners: boolean;
}

/** Ended is the result of a shutdown: the exit code that it asks for, its length and its budget. */
export interface Ended {
  readonly exitCode: number;
  readonly durationMs: number;
  readonly budgetMs: number;
}
