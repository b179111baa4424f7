// The lifecycles that end with this process, and what the end of the process calls of each.
import type { Clock } from '../clock.ts';
import type { Cause } from './signals-and-errors.ts';

/** Member is one lifecycle that ends with this process. */
export interface Member {
  readonly shutdownSignals: readonly NodeJS.Signals[];
  /** Begins the shutdown or joins it; resolves when it has ended. An uncaught error bounds the drain. */
  begin(cause: Cause): Promise<Ended>;
  /**
   * Writes the final line, synchronously and once, if the shutdown has begun. `exitCode` is the exit code of the process. A
   * shutdown that has not ended is recorded as far as it has come.
   */
  report(heldBy: readonly string[], exitCode: number): void;
  /** Closes the record if the shutdown has begun, and returns the exit code of the shutdown. */
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

/** Ended is the result of a shutdown: its exit code, its duration and its budget. */
export interface Ended {
  readonly exitCode: number;
  readonly durationMs: number;
  readonly budgetMs: number;
}

/** AllEnded is the result of all shutdowns: the greatest exit code, and when the first of the budgets ends. */
export interface AllEnded {
  readonly exitCode: number;
  readonly endsAt: number;
}

/** Members are all lifecycles that end with this process. */
export class Members extends Set<Member> {
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
    return this.some((member) => member.takesShutdownMessage);
  }

  some(is: (member: Member) => boolean): boolean {
    return [...this].some(is);
  }

  every(is: (member: Member) => boolean): boolean {
    return [...this].every(is);
  }

  /** shutDown begins the shutdown of these members, or lets it take note of the cause if it has begun. */
  shutDown(members: readonly Member[], cause: Cause): void {
    const endedAt = ({ exitCode, budgetMs, durationMs }: Ended): AllEnded => {
      return { exitCode, endsAt: this.#clock.now() + budgetMs - durationMs };
    };
    this.#shutdowns.push(...members.map((member) => member.begin(cause).then(endedAt)));
  }

  /** ended resolves when all shutdowns have ended. */
  async ended(): Promise<AllEnded> {
    let [exitCode, endsAt] = [0, Infinity];
    // The list grows if another lifecycle joins in the meantime.
    for (const shutdown of this.#shutdowns) {
      const ended = await shutdown;
      exitCode = Math.max(exitCode, ended.exitCode);
      endsAt = Math.min(endsAt, ended.endsAt);
    }
    return { exitCode, endsAt };
  }
}
