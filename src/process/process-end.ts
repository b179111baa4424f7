// Shuts down all lifecycles after a process signal or an uncaught error, calls the program's own signal listeners, and
// exits the process. signals-and-errors.ts decides which of these actions a signal or an error causes.
import { startImmediate, type Clock } from '../clock.ts';
import { exitCodes } from '../exit-codes.ts';
import type { EmitOverride } from './emit-override.ts';
import type { Exit, Print } from './exit.ts';
import { Listening } from './listening.ts';
import { JoinedLifecycles, type AllEnded, type JoinedLifecycle } from './joined-lifecycles.ts';
import { OwnListeners, type Listener } from './own-listeners.ts';
import { next, type Actions, type Event, type ProcessSignal, type State } from './signals-and-errors.ts';
import { startBudgetBackstop } from './budget-backstop.ts';

// For how many milliseconds lameduck waits after the drain for the process to exit on its own. After the program's own
// signal listeners have ended, lameduck waits again for the same time (P-058).
const exitPatience = 1_000;

// How long lameduck waits in development for the process to exit on its own, in milliseconds. A restart in development
// must take at most about 100 ms (P-107).
const exitPatienceInDevelopment = 50;

export interface ProcessEndOptions {
  readonly override: EmitOverride;
  readonly clock: Clock;
  readonly exit: Exit;
  readonly print: Print;
}

/**
 * ProcessEnd contains the lifecycles that are shut down before the process exits, and records the progress of the exit.
 */
export class ProcessEnd {
  /** `checkpoints` contains the path of each checkpoint file that a lifecycle of this process writes. */
  readonly checkpoints = new Set<string>();
  /**
   * hasWarnedOfLauncher is true if a lifecycle of this process has already logged the warning about a launcher, such as
   * npm.
   */
  hasWarnedOfLauncher = false;
  readonly #options: ProcessEndOptions;
  readonly #process: NodeJS.Process;
  readonly #lifecycles: JoinedLifecycles;
  readonly #listening: Listening;
  readonly #ownListeners: OwnListeners;
  #state: State = { phase: 'running' };

  constructor(options: ProcessEndOptions) {
    this.#options = options;
    this.#process = options.override.process;
    this.#lifecycles = new JoinedLifecycles(options.clock);
    this.#listening = new Listening(options.override, (event, args) => {
      if (event !== 'message' || isShutdownMessage(event, args)) this.#onProcessSignal(event, undefined);
    });
    this.#ownListeners = new OwnListeners(this.#process, options.clock);
  }

  /**
   * isEnding tells whether the process exits after the shutdown, as it does after a process signal or an uncaught
   * error.
   */
  get isEnding(): boolean {
    return this.#state.phase !== 'running';
  }

  /**
   * `join()` adds a lifecycle to those that are shut down when the process receives a signal. `join()` listens for the
   * signals at once, even before the server listens (P-066). A process may have several lifecycles. The
   * returned function removes the lifecycle. If it was the last lifecycle, that function also removes lameduck's
   * listeners from the process (P-070).
   */
  join(lifecycle: JoinedLifecycle): () => void {
    if (this.#lifecycles.size === 0) this.#intercept();
    this.#lifecycles.add(lifecycle);
    for (const signal of lifecycle.shutdownSignals) this.#listening.listen(signal);
    if (lifecycle.takesShutdownMessage && this.#process.channel !== undefined) this.#listening.listen('message');
    const state = this.#state;
    // If a lifecycle is created while the process is already shutting down, shut down the lifecycle in the next tick.
    // By then, the program has registered the hooks of the lifecycle.
    if (state.phase !== 'running') this.#process.nextTick(() => this.#lifecycles.shutDown([lifecycle], state.cause));
    return () => {
      // While the process is ending, do not remove lameduck's signal listeners. Without a listener, a late signal would
      // kill the process.
      if (this.isEnding || !this.#lifecycles.delete(lifecycle)) return;
      for (const signal of lifecycle.shutdownSignals)
        if (!this.#lifecycles.haveShutdownSignal(signal)) this.#listening.forget(signal);
      if (!this.#lifecycles.takeShutdownMessage) this.#listening.forget('message');
      if (this.#lifecycles.size === 0) this.#options.override.stopIntercepting();
    };
  }

  /**
   * endAfterLoss ends the process with the exit code for lost leadership. If `isAtOnce` is true, it ends the process at
   * once. Otherwise, it first shuts down all lifecycles.
   */
  endAfterLoss(reason: string, isAtOnce: boolean): void {
    this.#handle({ kind: 'loss', reason, isAtOnce: isAtOnce || this.#lifecycles.size === 0 });
  }

  #intercept(): void {
    this.#options.override.intercept({
      take: (event, args) => this.#take(event, args),
      // `takeError` receives uncaught errors for which the program has no `uncaughtException` listener (P-063).
      // lameduck itself adds no such listener, because Sentry and PostHog exit only if their listener is the only one.
      // `node:domain` also adds one whenever another exists.
      takeError: (error, origin) => this.#handle({ kind: 'error', error, origin }),
      takeDisconnect: (disconnect) => this.#handle({ kind: 'disconnect', disconnect }),
    });
  }

  #take(event: string, args: readonly unknown[]): boolean {
    // Write the final line before the program's `exit` listeners run, because the program's logger may close its output
    // in such a listener (P-061).
    if (event === 'exit') this.#onExit(args[0] as number);
    if (event === 'removeListener') this.#listening.keep(args);
    const isMessage = this.#lifecycles.takeShutdownMessage && isShutdownMessage(event, args);
    if (!isMessage && !this.#lifecycles.haveShutdownSignal(event)) return false;
    const isTaken = this.#onProcessSignal(event, args);
    if (isTaken) this.#listening.callHidden(event, args);
    return isTaken;
  }

  #onProcessSignal(event: string, args: readonly unknown[] | undefined): boolean {
    const hasListeners = args !== undefined && this.#listening.othersOf(event).length > 0;
    const then = this.#lifecycles.some((lifecycle) => lifecycle.runsOwnListeners) ? 'call' : 'hold';
    const listeners = hasListeners ? then : 'none';
    return this.#handle({ kind: 'signal', event, args, listeners, at: this.#options.clock.now() });
  }

  // Performs the actions that `next()` returns for an event. Returns false if lameduck leaves the event to Node and to
  // the program's listeners.
  #handle(event: Event): boolean {
    const [state, ...actions] = next(this.#state, event);
    this.#state = state;
    for (const [name, ...args] of actions) (this.#actions[name] as (...args: readonly unknown[]) => void)(...args);
    return actions.every(([name]) => name !== 'pass');
  }

  readonly #actions: Actions = {
    begin: (cause) => {
      const { clock, exit } = this.#options;
      const lifecycles = [...this.#lifecycles];
      // A library may have replaced `process.emit`. For example, execa uses signal-exit, which replaces it. lameduck's
      // `emit` then misses the event `exit`, so also add a listener for `exit`.
      this.#process.prependListener('exit', (code) => {
        this.#onExit(code);
      });
      const endsAt = (): number => Math.max(...lifecycles.map((lifecycle) => lifecycle.endsAt() ?? -Infinity));
      startBudgetBackstop(clock, endsAt, () => {
        try {
          this.#handle({ kind: 'backstop' });
        } finally {
          exit.force(exitCodes.budgetRanOut);
        }
      });
      this.#actions.join(cause);
      void this.#lifecycles.ended().then((ended) => {
        this.#onDrained(ended);
      });
    },
    join: (cause) => {
      if (cause.kind === 'uncaught error') this.#options.print(cause.error, cause.origin);
      this.#lifecycles.shutDown([...this.#lifecycles], cause);
    },
    // If a process signal arrived while the event loop was blocked, Node delivers it at the latest in the next turn of
    // the event loop.
    settleSignal: () => {
      startImmediate(() =>
        startImmediate(() => this.#handle({ kind: 'signal settled', at: this.#options.clock.now() })),
      );
    },
    logHeldListeners: (signal) => {
      for (const lifecycle of this.#lifecycles) lifecycle.onListenersHeld(signal, this.#signalListeners().length);
    },
    callListeners: () => {
      this.#ownListeners.callAtOnce(this.#signalListeners(), this.#signal?.args ?? []);
    },
    callHeldListeners: (exitCode) => void this.#callHeldListeners(exitCode),
    endByItself: () => {
      this.#disconnect();
      // The listeners of the event `close` of the servers may clean up. So wait for the promises that they create.
      void this.#ownListeners.emitAndFollow(() => {
        for (const lifecycle of this.#lifecycles) lifecycle.afterListeners();
      });
      // The program's logger may close its output in its own `beforeExit` listener. So write the final line in a
      // `beforeExit` listener that runs before the logger's listener.
      this.#process.prependOnceListener('beforeExit', (code) => {
        this.#report(code, []);
      });
      this.#exitWhenIdle((holders) => {
        this.#report(this.#options.exit.code, holders);
      });
    },
    endWhenIdle: () => {
      this.#ownListeners.endsWhenIdle();
    },
    forgetSignals: () => {
      this.#listening.forgetAll();
    },
    pass: () => undefined,
    exit: (code, message) => {
      if (message !== undefined) for (const lifecycle of this.#lifecycles) lifecycle.warn(message);
      if (code !== undefined) this.#report(code, []);
      this.#options.exit.exit(code ?? this.#options.exit.code);
    },
    forceExit: (code = this.#options.exit.code) => {
      this.#report(code, this.#state.phase === 'drained' ? this.#options.exit.heldBy() : []);
      this.#options.exit.force(code);
    },
  };

  #onDrained({ exitCode, endsAt }: AllEnded): void {
    const { clock, exit } = this.#options;
    const isUnderRegister = this.#lifecycles.every((lifecycle) => lifecycle.isUnderRegister);
    // The process must end with an exit code, not by the signal that it received (P-059). After a clean shutdown, the
    // process keeps the exit code that the program has set.
    if (exitCode !== exitCodes.clean) this.#process.exitCode = exitCode;
    else if (!isUnderRegister) exit.passOverPendingAwait();
    this.#handle({
      kind: 'drained',
      exitCode,
      isUnderRegister,
      hasListeners: this.#signalListeners().length > 0,
    });
    // Remove lameduck's listener for messages of the parent process. It would keep the IPC channel open, and thus the
    // process alive.
    this.#listening.forget('message');
    clock.afterUnref(Math.max(0, endsAt - clock.now()), () => {
      this.#handle({ kind: 'budget over' });
    });
  }

  // Calls the program's signal listeners, which lameduck has delayed until the end of the shutdown. Write the final
  // line before that, because a listener may end the process, for example with a process signal (P-116).
  async #callHeldListeners(exitCode: number): Promise<void> {
    const listeners = this.#signalListeners();
    this.#report(exitCode, []);
    for (const lifecycle of this.#lifecycles) lifecycle.beforeListeners();
    const called = this.#ownListeners.callOneByOne(listeners, this.#signal?.args ?? []);
    this.#exitWhenIdle((holders) => {
      for (const lifecycle of this.#lifecycles) lifecycle.onHeldOpen(holders);
    });
    await called;
    for (const lifecycle of this.#lifecycles) lifecycle.afterListeners();
    this.#disconnect();
  }

  #exitWhenIdle(onHeldOpen: (holders: readonly string[]) => void): void {
    const patience = this.#lifecycles.every((lifecycle) => lifecycle.isDeveloped)
      ? exitPatienceInDevelopment
      : exitPatience;
    this.#ownListeners.whenIdleFor(patience, () => {
      onHeldOpen(this.#options.exit.heldBy());
      this.#actions.exit();
    });
  }

  #disconnect(): void {
    if (this.#state.phase !== 'running') this.#state.disconnect?.();
  }

  get #signal(): ProcessSignal | undefined {
    return this.#state.phase === 'running' ? undefined : this.#state.signal;
  }

  #signalListeners(): Listener[] {
    const signal = this.#signal;
    return signal?.args === undefined ? [] : this.#listening.othersOf(signal.event);
  }

  #onExit(code: number): void {
    // A program that calls `process.exit(0)` during a shutdown does not know whether the shutdown will fail. So
    // lameduck replaces the exit code 0 with the exit code of the shutdown.
    if (code === exitCodes.clean) {
      const owed = Math.max(...[...this.#lifecycles].map((lifecycle) => lifecycle.cutShort()));
      if (owed > exitCodes.clean) this.#process.exitCode = owed;
    }
    this.#report(Number(this.#process.exitCode ?? code), []);
    this.#ownListeners.callLeft();
  }

  // Writes the final line of each shutdown that has begun, even if the program itself exits the process.
  #report(exitCode: number, holders: readonly string[]): void {
    for (const lifecycle of this.#lifecycles) lifecycle.report(holders, exitCode);
  }
}

// Recognizes the message that PM2 sends with its option `shutdown_with_message`.
function isShutdownMessage(event: string, [message]: readonly unknown[]): boolean {
  return event === 'message' && message === 'shutdown';
}
