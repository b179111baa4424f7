// The backstop: it ends the process shortly after the shutdown budget, whatever has become of the shutdown.
import { systemClock, startTimer } from '../clock.ts';
import { exitCodes } from '../exit-codes.ts';

// How long after the end of the budget the process is ended, in milliseconds; the shutdown itself ends before.
const margin = 250;

// The budget can be shortened, so the time that is left is computed again this often, in milliseconds.
const interval = 100;

// Kept when lameduck loads: the program may replace it.
const { reallyExit } = process as unknown as { readonly reallyExit: (this: unknown, code: number) => void };

/** BackstopOptions is what the backstop asks. */
export interface BackstopOptions {
  /** When the shutdown budget ends. It can come nearer. */
  readonly endsAt: () => number;
  /** Writes the final line and returns the exit code. */
  readonly giveUp: () => number;
}

/** startBackstop begins to watch the budget of the shutdown that begins now. It does not keep the process alive. */
export function startBackstop({ endsAt, giveUp }: BackstopOptions): void {
  const look = (): void => {
    const left = endsAt() + margin - systemClock.now();
    if (left > 0) startTimer(look, Math.min(left, interval)).unref();
    else endProcess(giveUp);
  };
  startTimer(look, interval).unref();
}

function endProcess(giveUp: () => number): void {
  let code: number = exitCodes.budgetRanOut;
  try {
    code = giveUp();
  } finally {
    exit(code);
    // A version of the program's own has returned.
    reallyExit.call(process, code);
  }
}

/** exit ends the process like `process.exit()`, also if the program has replaced that by a function that throws. */
export function exit(code: number): void {
  try {
    (process as { exit(code: number): unknown }).exit(code);
  } catch {
    reallyExit.call(process, code);
  }
}
