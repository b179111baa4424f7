// Tests what happens to a process that is still alive at the end of its shutdown budget.
import { describe } from 'node:test';
import type { Event, State } from '../../src/process/signals-and-errors.ts';
import { follows } from '../support/process-steps.ts';

const error = new Error('thrown');
const draining: State = { phase: 'draining', cause: { kind: 'stop', reason: 'SIGTERM' } };
const erring: State = {
  phase: 'draining',
  cause: { kind: 'uncaught error', error, origin: 'uncaughtException' },
  hasUncaughtError: true,
};
const ended: State = { ...draining, phase: 'drained', isUnderRegister: false };
const cleaning: State = { ...ended, hasCalledListeners: true };
const failed: State = { ...cleaning, hasUncaughtError: true };
const afterLoss: State = { ...cleaning, hasLostLeadership: true };

describe('if signal listeners of the program are still running at the end of the shutdown budget, the process exits', () => {
  const over: Event = { kind: 'budget over' };
  const why = "the program's own cleanup took longer than the shutdown budget: exiting";
  follows([
    [
      'P-075 at the end of the shutdown budget, the process exits with 80 if signal listeners of the program are still running',
      cleaning,
      over,
      cleaning,
      ['exit', 80, why],
    ],
    [
      'P-058, P-075 at the end of the shutdown budget after an uncaught error, the process exits with 82 if signal listeners of the program are still running',
      failed,
      over,
      failed,
      ['exit', 82, why],
    ],
    [
      'P-058, P-075 at the end of the shutdown budget after a loss of leadership, the process exits with 83 if signal listeners of the program are still running',
      afterLoss,
      over,
      afterLoss,
      ['exit', 83, why],
    ],
    [
      'P-058 the end of the shutdown budget has no effect while the process only waits for its event loop to be empty',
      ended,
      over,
      ended,
    ],
  ]);
});

describe('if the process is still alive shortly after its shutdown budget, the backstop timer ends it', () => {
  const overdue: Event = { kind: 'backstop' };
  follows([
    [
      'P-058 if the process is still draining, the backstop timer ends the process with exit code 80',
      draining,
      overdue,
      draining,
      ['forceExit', 80],
    ],
    [
      'P-058 if the process is still draining after an uncaught error, the backstop timer ends the process with exit code 82',
      erring,
      overdue,
      erring,
      ['forceExit', 82],
    ],
    [
      'P-058 the backstop timer ends a drained process with the exit code that the process already has',
      ended,
      overdue,
      ended,
      ['forceExit'],
    ],
    [
      'P-058 if signal listeners of the program are still running, the backstop timer ends the process with exit code 80',
      cleaning,
      overdue,
      cleaning,
      ['forceExit', 80],
    ],
    [
      'P-058 if signal listeners of the program are still running after an uncaught error, the backstop timer ends the process with exit code 82',
      failed,
      overdue,
      failed,
      ['forceExit', 82],
    ],
  ]);
});
