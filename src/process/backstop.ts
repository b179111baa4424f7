// The backstop: a timer that ends the process shortly after the end of the shutdown budget, if it is still alive.
import { systemClock, startTimer } from '../clock.ts';
import { exitCodes } from '../exit-codes.ts';

// Milliseconds from the end of the budget to the end of the process. The shutdown itself ends with the budget.
const margin = 250;

// Milliseconds between two looks at the time that is left: a later call can shorten the budget.
const interval = 100;

// Read when lameduck loads, because the program may replace it later.
const { reallyExit } = process as unknown as { readonly reallyExit: (this: unknown, code: number) => void };

/** BackstopOptions is what the backstop calls. */
export interface BackstopOptions {
  /** When the shutdown budget ends, by the system clock. It can move to an earlier time. */
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
    // The program has replaced `process.exit()` by a function that returns.
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
