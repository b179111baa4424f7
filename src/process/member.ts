// What a lifecycle is to the end of its process.

/** Member is one lifecycle, as far as the end of its process goes. */
export interface Member {
  readonly shutdownSignals: readonly NodeJS.Signals[];
  /** Begins the shutdown or joins it; resolves when it has ended. */
  begin(reason: string): Promise<Ended>;
  /** The same after a loss of leadership, which has an exit code of its own. */
  beginAfterLoss(reason: string): Promise<Ended>;
  /** The same after an uncaught error, which bounds the drain. */
  beginAfterUncaughtError(error: unknown): Promise<Ended>;
  /**
   * Writes the final line of a shutdown that had begun, synchronously and once, with the exit code that the process really
   * has; one that has not ended ends where it stands.
   */
  report(heldBy: readonly string[], exitCode: number): void;
  warn(message: string): void;
  /** When the shutdown budget ends, by the system clock; undefined before the shutdown begins. */
  endsAt(): number | undefined;
  /** Tells that the program's own listeners of `signal` are held until the shutdown has ended, and how many there are. */
  onListenersHeld(signal: string, count: number): void;
  /** Called after the final line, when the process has to be ended although the program's own listeners are done. */
  onHeldOpen(heldBy: readonly string[]): void;
  /** Called before listeners that were held are called: servers that the drain has closed look open to them. */
  beforeListeners(): void;
  /** Called when they are done, or when there were none. */
  afterListeners(): void;
  /** Whether the message `shutdown` of the parent process begins the shutdown, as PM2 sends it. */
  readonly takesShutdownMessage: boolean;
  /** Whether the program knows nothing of its lifecycle, so that the process is its own again after the drain. */
  readonly isGuest: boolean;
  /** Whether the program's own listeners of a process signal are called at once. */
  readonly runsOwnListeners: boolean;
}

/** Ended is what the end of a shutdown leaves: the exit code that it asks for, and what it used of its budget. */
export interface Ended {
  readonly exitCode: number;
  readonly durationMs: number;
  readonly budgetMs: number;
}
