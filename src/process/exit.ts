// Exits this process even if the program has replaced `process.exit()`, and lists the resources that keep the process
// alive.
import { Socket } from 'node:net';
import { exitCodes } from '../exit-codes.ts';
import type { ReallyExit } from '../node-internals.ts';

// The exit code of Node if the event loop is empty while a top-level await is still pending.
const pendingAwait = 13;

/** Print is a function that prints an uncaught error in the form that Node uses. */
export type Print = (error: unknown, origin: NodeJS.UncaughtExceptionOrigin) => void;

export class Exit {
  readonly #process: NodeJS.Process;
  readonly #reallyExit: ReallyExit;
  readonly #print: Print;

  /**
   * `reallyExit` is the value that `process.reallyExit` had when lameduck was loaded. `process.exit()` calls
   * `process.reallyExit`, but the program may replace this property later. `print` prints an uncaught error in the form
   * that Node uses.
   */
  constructor(target: NodeJS.Process, reallyExit: ReallyExit, print: Print) {
    this.#process = target;
    this.#reallyExit = reallyExit;
    this.#print = print;
  }

  /** `code` is the exit code that the process would have if it exited now. */
  get code(): number {
    return Number(this.#process.exitCode ?? exitCodes.clean);
  }

  /**
   * `exit()` ends the process as `process.exit()` does, even if the program has replaced `process.exit()` with a
   * function that throws. The `exit` listeners of the program are called. If one of them throws, its error is an uncaught
   * error.
   */
  exit(code: number): void {
    let isExiting = false as boolean;
    this.#process.prependOnceListener('exit', () => {
      isExiting = true;
    });
    try {
      (this.#process as { exit(code: number): unknown }).exit(code);
    } catch (error) {
      const thrown = isExiting ? { error } : this.#callExitListeners(code);
      if (thrown !== undefined) this.#print(thrown.error, 'uncaughtException');
      this.#reallyExit.call(this.#process, thrown === undefined ? this.code : this.code || exitCodes.uncaughtError);
    }
  }

  // Calls the `exit` listeners of the program, as the original `process.exit()` does. Returns the error that a listener
  // has thrown, or undefined.
  #callExitListeners(code: number): { readonly error: unknown } | undefined {
    try {
      this.#process.exitCode = code;
      this.#process.emit('exit', code);
      return undefined;
    } catch (error) {
      return { error };
    }
  }

  /**
   * `force()` ends the process even if the program has replaced `process.exit()` with a function that does not exit. If
   * the program had replaced `process.reallyExit()` before lameduck was loaded, the process ends with SIGABRT. Unlike
   * SIGKILL, SIGABRT also ends a process that is PID 1.
   */
  force(code: number): void {
    this.exit(code);
    this.#reallyExit.call(this.#process, code);
    this.#process.abort();
  }

  /**
   * passOverPendingAwait makes the process exit with the exit code that it has now, even if a top-level await is still
   * pending. Otherwise, Node would exit with 13.
   */
  passOverPendingAwait(): void {
    // If a top-level await is still pending when the process exits, Node changes the exit code to 13. Node 20 does this
    // only if no exit code has been set. Node 24 does this between the events `beforeExit` and `exit`, and only if the
    // exit code is 0.
    this.#process.exitCode ??= exitCodes.clean;
    this.#process.once('beforeExit', (code) => {
      this.#process.prependOnceListener('exit', (later) => {
        if (later === pendingAwait) this.#process.exitCode = code;
      });
    });
  }

  /**
   * heldBy lists the resources that keep the event loop alive. It omits standard output and standard error: Node lists
   * them, but they keep nothing alive.
   */
  heldBy(): string[] {
    const { stdout, stderr } = this.#process;
    const holders = this.#process.getActiveResourcesInfo();
    for (const output of [stdout, stderr] as const) {
      const index = holders.indexOf(output.isTTY ? 'TTYWrap' : 'PipeWrap');
      if (index !== -1 && output instanceof Socket) holders.splice(index, 1);
    }
    return holders;
  }
}
