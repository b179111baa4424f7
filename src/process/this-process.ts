// The ProcessEnd of this process, once for all copies of this package.
import { systemClock } from '../clock.ts';
import { standardError, writeOut } from '../standard-output.ts';
import { emitOverride } from './emit-override.ts';
import { Exit } from './exit.ts';
import { ProcessEnd } from './process-end.ts';
import { describeUncaught } from './uncaught-error.ts';

// Read when lameduck loads, because the program may replace it later.
const { reallyExit } = process as unknown as { readonly reallyExit: (this: unknown, code: number) => void };

// Change the key when the public members of ProcessEnd, or Member, change.
const key = Symbol.for('lameduck.process-end/v1');

/**
 * thisProcess returns the ProcessEnd of this process. One copy of this package would end the process during the drain of
 * another, and each would take the other's listener for the program's own. Therefore the first copy that is used serves all.
 */
export function thisProcess(): ProcessEnd {
  const registry = globalThis as unknown as Record<symbol, ProcessEnd | undefined>;
  return (registry[key] ??= new ProcessEnd({
    override: emitOverride(),
    clock: systemClock,
    exit: new Exit(process, reallyExit),
    print(error, origin) {
      writeOut(standardError, describeUncaught(error, origin));
    },
  }));
}
