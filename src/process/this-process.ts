// Creates the ProcessEnd of this process, which shuts down all lifecycles and then exits the process. All copies of
// this package in the process share one ProcessEnd.
import { systemClock } from '../clock.ts';
import { reallyExitOf } from '../node-internals.ts';
import { standardError, writeOut } from '../standard-output.ts';
import { emitOverride } from './emit-override.ts';
import { Exit, type Print } from './exit.ts';
import { ProcessEnd } from './process-end.ts';
import { describeUncaught } from './uncaught-error.ts';

// Save `process.reallyExit` when lameduck loads, because the program may replace it later.
const reallyExit = reallyExitOf(process);

const print: Print = (error, origin) => {
  writeOut(standardError, describeUncaught(error, origin));
};

// The key of the global symbol under which all copies of this package find the ProcessEnd of the process. Change the
// key when the type JoinedLifecycle or the public members of ProcessEnd change.
const key = Symbol.for('lameduck.process-end/v2');

/**
 * thisProcess returns the ProcessEnd of this process, which ends the process after all shutdowns. The first copy of
 * this package that is used creates it for all copies. If a process had two ProcessEnds, one would end the process
 * while the other still drains. Each would also mistake the other's listeners for listeners of the program.
 */
export function thisProcess(): ProcessEnd {
  const registry = globalThis as unknown as Record<symbol, ProcessEnd | undefined>;
  return (registry[key] ??= new ProcessEnd({
    override: emitOverride(),
    clock: systemClock,
    exit: new Exit(process, reallyExit, print),
    print,
  }));
}
