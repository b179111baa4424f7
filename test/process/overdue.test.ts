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

describe('what lameduck decides at the end of the shutdown budget', () => {
  const over: Event = { kind: 'budget over' };
  const why = "the program's own cleanup took longer than the shutdown budget: exiting";
  follows([
    ["P-075 the end of the budget ends the program's listeners with 80", cleaning, over, cleaning, ['exit', 80, why]],
    [
      "P-058, P-075 the end of the budget ends the program's own listeners with 82 after an uncaught error",
      failed,
      over,
      failed,
      ['exit', 82, why],
    ],
    [
      "P-058, P-075 the end of the budget ends the program's own listeners with 83 after a loss of leadership",
      afterLoss,
      over,
      afterLoss,
      ['exit', 83, why],
    ],
    [
      'P-058 the end of the budget has no effect while the process only waits for its event loop to be empty',
      ended,
      over,
      ended,
    ],
  ]);
});

describe('the decision of the backstop', () => {
  const overdue: Event = { kind: 'backstop' };
  follows([
    ['P-058 the backstop ends a drain with 80', draining, overdue, draining, ['forceExit', 80]],
    ['P-058 the backstop ends a drain after an uncaught error with 82', erring, overdue, erring, ['forceExit', 82]],
    ['P-058 the backstop ends a drained process with its exit code', ended, overdue, ended, ['forceExit']],
    ["P-058 the backstop ends the program's own listeners with 80", cleaning, overdue, cleaning, ['forceExit', 80]],
    [
      "P-058 the backstop ends the program's own listeners after an uncaught error with 82",
      failed,
      overdue,
      failed,
      ['forceExit', 82],
    ],
  ]);
});
