import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { next, type Action, type Cause, type Event, type State } from '../../src/process/signals-and-errors.ts';

const term: Event = { kind: 'signal', event: 'SIGTERM', args: ['SIGTERM', 15], listeners: 'none', at: 1_000 };
const message: Event = { ...term, event: 'message', args: ['shutdown'] };
const error = new Error('thrown');
const thrown: Event = { kind: 'error', error, origin: 'uncaughtException' };
const loss: Event = { kind: 'loss', reason: 'leadership of a lost', isAtOnce: false };
const callback = (): void => undefined;
const disconnect: Event = { kind: 'disconnect', disconnect: callback };
const drained: Event = { kind: 'drained', exitCode: 0, isGuest: false, hasListeners: false };

const bySignal: Cause = { kind: 'stop', reason: 'SIGTERM' };
const byError: Cause = { kind: 'uncaught error', error, origin: 'uncaughtException' };
const byLoss: Cause = { kind: 'leadership lost', reason: 'leadership of a lost' };
const byDisconnect: Cause = { kind: 'stop', reason: 'cluster disconnect' };

const signal = { event: 'SIGTERM', args: ['SIGTERM', 15], sameUntil: 1_100 };
const running: State = { phase: 'running' };
const draining: State = { phase: 'draining', cause: bySignal, signal };
const draining0: State = { ...draining, signal: { ...signal, sameUntil: Infinity } };
const erring: State = { phase: 'draining', cause: byError, hasUncaughtError: true };
const leaving: State = { phase: 'draining', cause: byDisconnect, disconnect: callback };
const ended: State = { ...draining, phase: 'drained', isGuest: false };
const cleaning: State = { ...ended, hasCalledListeners: true };
const guest: State = { ...ended, isGuest: true };

const unsettled = { signal: { ...signal, sameUntil: Infinity }, hasCalledListeners: false };
const begun: State = { phase: 'draining', cause: bySignal, ...unsettled };
const late = { ...term, at: 1_100 };
const second: Action = ['exit', 1, 'second process signal SIGTERM: exiting at once'];

type Row = readonly [title: string, state: State, event: Event, after: State, ...actions: readonly Action[]];

function follows(rows: readonly Row[]): void {
  for (const [title, state, event, after, ...actions] of rows) {
    test(title, () => {
      assert.deepEqual(next(state, event), [after, ...actions]);
    });
  }
}

describe('a process signal', () => {
  follows([
    ['A-030 begins the shutdown of a process that runs', running, term, begun, ['begin', bySignal], ['settleSignal']],
    [
      "P-111 holds the program's own listeners until the drain has ended",
      running,
      { ...term, listeners: 'hold' },
      begun,
      ['begin', bySignal],
      ['settleSignal'],
      ['logHeldListeners', 'SIGTERM'],
    ],
    [
      "P-055 with ownSignalListeners run calls the program's own listeners at once",
      running,
      { ...term, listeners: 'call' },
      { ...begun, hasCalledListeners: true },
      ['begin', bySignal],
      ['settleSignal'],
      ['callListeners'],
    ],
    [
      'P-056 joins the shutdown of an uncaught error',
      erring,
      term,
      { ...erring, ...unsettled },
      ['join', bySignal],
      ['settleSignal'],
    ],
    ['P-057 counts as the first one until that has settled', draining0, late, draining0],
    ['P-057 counts as the first one for 100 ms', draining, { ...term, at: 1_099 }, draining],
    ['A-031, P-057 is a second one after 100 ms, and exits with 1', draining, late, draining, second],
    [
      'A-031 is a second one also if it is another one',
      draining,
      { ...late, event: 'SIGINT', args: ['SIGINT', 2] },
      draining,
      ['exit', 1, 'second process signal SIGINT: exiting at once'],
    ],
    [
      'P-068 can be the message of PM2',
      draining,
      { ...message, at: 1_100 },
      draining,
      ['exit', 1, 'second process signal shutdown message: exiting at once'],
    ],
    [
      'A-031 is a second one also while the drained process waits for its event loop to be empty',
      ended,
      late,
      ended,
      second,
    ],
    ['P-116 that the program sends itself when it is done ends the wait', cleaning, term, cleaning, ['endWhenIdle']],
    ["P-116 exits as is while the program's own listeners run", cleaning, late, cleaning, ['exit']],
    ['P-057 counts as the first one also after the drain of a guest', guest, term, guest],
    ['P-075 after the drain of a guest is its own', guest, late, guest, ['pass']],
  ]);

  test('P-057 has settled when no other one waits', () => {
    assert.deepEqual(next(draining0, { kind: 'signal settled', at: 1_000 }), [draining]);
    assert.deepEqual(next(running, { kind: 'signal settled', at: 1_000 }), [running]);
  });
});

describe('an uncaught error', () => {
  follows([
    ['P-063 begins the shutdown of a process that runs', running, thrown, erring, ['begin', byError]],
    [
      'P-056, P-063 joins the shutdown of a process signal',
      draining,
      thrown,
      { ...draining, hasUncaughtError: true },
      ['join', byError],
    ],
    [
      'P-063 that is the second exits with 82',
      erring,
      thrown,
      erring,
      ['join', byError],
      ['exit', 82, 'second uncaught error: exiting at once'],
    ],
    [
      'P-063 after the drain exits with 82',
      ended,
      thrown,
      { ...ended, hasUncaughtError: true },
      ['join', byError],
      ['exit', 82, 'uncaught error after the drain: exiting at once'],
    ],
    ['P-075 after the drain of a guest is its own', guest, thrown, guest, ['pass']],
  ]);
});

describe('a loss of leadership', () => {
  const exit: Action = ['exit', 83, 'leadership of a lost: exiting at once'];
  const lost: State = { phase: 'draining', cause: byLoss };
  follows([
    ['begins the shutdown', running, loss, lost, ['begin', byLoss]],
    ['joins a shutdown', draining, loss, draining, ['join', byLoss]],
    ['exits at once with 83 if work goes on', running, { ...loss, isAtOnce: true }, lost, ['begin', byLoss], exit],
  ]);
});

describe('the disconnect of a worker of node:cluster', () => {
  follows([
    ['P-071 begins the shutdown, and is held', running, disconnect, leaving, ['begin', byDisconnect]],
    ['P-071 is held during a shutdown', draining, disconnect, { ...draining, disconnect: callback }],
    ['P-071 after the drain is not held', ended, disconnect, ended, ['pass']],
  ]);
});

describe('the end of all shutdowns', () => {
  const asGuest: Event = { ...drained, isGuest: true };
  const withListeners: Event = { ...drained, hasListeners: true };
  const calledAtOnce: State = { ...draining, hasCalledListeners: true };
  const idle = { ...ended, hasCalledListeners: false };
  const guestLeaving: State = { ...leaving, phase: 'drained', isGuest: true, hasCalledListeners: false };
  follows([
    ['P-058 lets the process end by itself', draining, drained, idle, ['endByItself']],
    ["P-111 calls the program's own listeners", draining, withListeners, cleaning, ['callHeldListeners', 0]],
    ['P-055 does not call listeners again', calledAtOnce, withListeners, cleaning, ['endByItself']],
    [
      'P-075 exits from a guest that the signal would have ended',
      draining,
      asGuest,
      { ...idle, isGuest: true },
      ['exit'],
      ['endByItself'],
      ['forgetSignals'],
    ],
    [
      'P-075 leaves a guest to its own listeners',
      draining,
      { ...asGuest, hasListeners: true },
      { ...cleaning, isGuest: true },
      ['callHeldListeners', 0],
      ['forgetSignals'],
    ],
    [
      'P-071 lets a guest that is a disconnected worker end by itself',
      leaving,
      asGuest,
      guestLeaving,
      ['endByItself'],
      ['forgetSignals'],
    ],
  ]);
});

describe('the end of the budget', () => {
  const over: Event = { kind: 'budget over' };
  const message80 = "the program's own cleanup took longer than the shutdown budget: exiting";
  follows([
    ["P-075 ends the program's own listeners with 80", cleaning, over, cleaning, ['exit', 80, message80]],
    ['P-058 is no event for a process that only waits for its event loop', ended, over, ended],
  ]);
});

describe('the watchdog', () => {
  const overdue: Event = { kind: 'watchdog' };
  const failed: State = { ...cleaning, hasUncaughtError: true };
  follows([
    ['P-058 ends a drain with 80', draining, overdue, draining, ['forceExit', 80]],
    ['P-058 ends a drain after an uncaught error with 82', erring, overdue, erring, ['forceExit', 82]],
    ['P-058 ends a drained process with its exit code', ended, overdue, ended, ['forceExit']],
    ["P-058 ends the program's own listeners with 80", cleaning, overdue, cleaning, ['forceExit', 80]],
    [
      "P-058 ends the program's own listeners after an uncaught error with 82",
      failed,
      overdue,
      failed,
      ['forceExit', 82],
    ],
  ]);
});
