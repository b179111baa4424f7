// Node's timers, saved when lameduck loads. If a test installs fake timers later, lameduck continues to use the real
// timers, so the fake timers cannot stop a shutdown. `lameduck/register` loads this file before the program. So even
// fake timers that the program installs at its start cannot stop a shutdown.
import timers from 'node:timers';

export const { clearTimeout: stopTimer, setImmediate: startImmediate, setTimeout: startTimer } = timers;

export const hrtime = process.hrtime.bind(process);
