// How this process exits, with which code, and which resources keep it alive until then.
import { Socket } from 'node:net';
import { exitCodes } from '../exit-codes.ts';

// The exit code of Node for a top-level await that is pending when the event loop is empty.
const pendingAwait = 13;

type ReallyExit = (this: unknown, code: number) => void;

/** Exit ends a process. */
export class Exit {
  readonly #process: NodeJS.Process;
  readonly #reallyExit: ReallyExit;

  /** `reallyExit` is what `process.exit()` calls. It is given, because the program may replace that, too. */
  constructor(target: NodeJS.Process, reallyExit: ReallyExit) {
    this.#process = target;
    this.#reallyExit = reallyExit;
  }

  /** The exit code of the process as it is set so far. */
  get code(): number {
    return Number(this.#process.exitCode ?? exitCodes.clean);
  }

  /** exit ends the process like `process.exit()`, also if the program has replaced that by a function that throws. */
  exit(code: number): void {
    try {
      (this.#process as { exit(code: number): unknown }).exit(code);
    } catch {
      this.#reallyExit.call(this.#process, code);
    }
  }

  /** force is exit, also if the program has replaced `process.exit()` by a function that returns. */
  force(code: number): void {
    this.exit(code);
    this.#reallyExit.call(this.#process, code);
  }

  /** passOverPendingAwait keeps the exit code that is set so far if a top-level await is still pending at the end. */
  passOverPendingAwait(): void {
    // Node 20 replaces an unset exit code by 13, and Node 24 replaces 0 between the two events.
    this.#process.exitCode ??= exitCodes.clean;
    this.#process.once('beforeExit', (code) => {
      this.#process.prependOnceListener('exit', (later) => {
        if (later === pendingAwait) this.#process.exitCode = code;
      });
    });
  }

  /**
   * heldBy lists the resources that keep the event loop alive. It omits standard output and standard error, which Node lists
   * although they hold nothing.
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
