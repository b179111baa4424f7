// Node's timers, saved when lameduck loads. Fake timers that a test installs later then cannot stop a shutdown.
// `lameduck/register` loads this file before the program, so that even fake timers from the start of the program have
// no effect.
import timers from 'node:timers';

export const { clearTimeout: stopTimer, setImmediate: startImmediate, setTimeout: startTimer } = timers;

export const hrtime = process.hrtime.bind(process);
