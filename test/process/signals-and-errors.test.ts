import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { next, type Action, type Cause, type Event, type State } from '../../src/process/signals-and-errors.ts';
import { follows } from '../support/process-steps.ts';

const term: Event = { kind: 'signal', event: 'SIGTERM', args: ['SIGTERM', 15], listeners: 'none', at: 1_000 };
const message: Event = { ...term, event: 'message', args: ['shutdown'] };
const error = new Error('thrown');
const thrown: Event = { kind: 'error', error, origin: 'uncaughtException' };
const loss: Event = { kind: 'loss', reason: 'leadership of a lost', isAtOnce: false };
const callback = (): void => undefined;
const disconnect: Event = { kind: 'disconnect', disconnect: callback };
const drained: Event = { kind: 'drained', exitCode: 0, isUnderRegister: false, hasListeners: false };

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
const ended: State = { ...draining, phase: 'drained', isUnderRegister: false };
const cleaning: State = { ...ended, hasCalledListeners: true };
const underRegister: State = { ...ended, isUnderRegister: true };

const unsettled = { signal: { ...signal, sameUntil: Infinity }, hasCalledListeners: false };
const begun: State = { phase: 'draining', cause: bySignal, ...unsettled };
const late = { ...term, at: 1_100 };
const second: Action = ['exit', 1, 'second process signal SIGTERM: exiting at once'];

describe('the first process signal begins the shutdown, and a second one ends the process', () => {
  follows([
    [
      'A-030 a process signal begins the shutdown of a running process',
      running,
      term,
      begun,
      ['begin', bySignal],
      ['settleSignal'],
    ],
    [
      "P-111 at a process signal the program's own listeners are not called until the drain has ended",
      running,
      { ...term, listeners: 'hold' },
      begun,
      ['begin', bySignal],
      ['settleSignal'],
      ['logHeldListeners', 'SIGTERM'],
    ],
    [
      "P-055 with ownSignalListeners=run a process signal calls the program's own listeners at once",
      running,
      { ...term, listeners: 'call' },
      { ...begun, hasCalledListeners: true },
      ['begin', bySignal],
      ['settleSignal'],
      ['callListeners'],
    ],
    [
      'P-056 a process signal during the shutdown for an uncaught error starts no second shutdown',
      erring,
      term,
      { ...erring, ...unsettled },
      ['join', bySignal],
      ['settleSignal'],
    ],
    [
      'P-057 a repeated process signal does not count as a second one until the first one has settled',
      draining0,
      late,
      draining0,
    ],
    [
      'P-057 a repeated process signal within 100 ms of the first one does not count as a second one',
      draining,
      { ...term, at: 1_099 },
      draining,
    ],
    [
      'A-031, P-057 a process signal 100 ms after the first one counts as a second one, and ends the process with exit code 1',
      draining,
      late,
      draining,
      second,
    ],
    [
      'A-031 a process signal of another kind also counts as a second one, and ends the process with exit code 1',
      draining,
      { ...late, event: 'SIGINT', args: ['SIGINT', 2] },
      draining,
      ['exit', 1, 'second process signal SIGINT: exiting at once'],
    ],
    [
      'P-068 the shutdown message of PM2 counts as a second process signal',
      draining,
      { ...message, at: 1_100 },
      draining,
      ['exit', 1, 'second process signal shutdown message: exiting at once'],
    ],
    [
      'A-031 a process signal counts as a second one while the drained process waits for its event loop to be empty',
      ended,
      late,
      ended,
      second,
    ],
    [
      'P-116 a process signal that the program sends to itself in its listeners ends the wait for an empty event loop',
      cleaning,
      term,
      cleaning,
      ['endWhenIdle'],
    ],
    [
      "P-116 a process signal 100 ms after the first one ends the process at once with the current exit code while the program's own listeners run",
      cleaning,
      late,
      cleaning,
      ['exit'],
    ],
    [
      'P-057 under lameduck/register a repeated process signal within 100 ms does not count as a second one, even after the drain',
      underRegister,
      term,
      underRegister,
    ],
    [
      'P-075 under lameduck/register, lameduck does not handle a process signal after the drain',
      underRegister,
      late,
      underRegister,
      ['pass'],
    ],
  ]);

  test('P-057 the 100 ms in which a repeated process signal does not count as a second signal begin when all pending process signals have been delivered', () => {
    assert.deepEqual(next(draining0, { kind: 'signal settled', at: 1_000 }), [draining]);
    assert.deepEqual(next(running, { kind: 'signal settled', at: 1_000 }), [running]);
  });
});

describe('the first uncaught error begins the shutdown, and a second uncaught error ends the process at once', () => {
  follows([
    ['P-063 an uncaught error begins the shutdown of a running process', running, thrown, erring, ['begin', byError]],
    [
      'P-056, P-063 an uncaught error during the shutdown for a process signal starts no second shutdown',
      draining,
      thrown,
      { ...draining, hasUncaughtError: true },
      ['join', byError],
    ],
    [
      'P-063 a second uncaught error exits with 82',
      erring,
      thrown,
      erring,
      ['join', byError],
      ['exit', 82, 'second uncaught error: exiting at once'],
    ],
    [
      'P-063 an uncaught error after the drain ends the process with exit code 82',
      ended,
      thrown,
      { ...ended, hasUncaughtError: true },
      ['join', byError],
      ['exit', 82, 'uncaught error after the drain: exiting at once'],
    ],
    [
      'P-075 under lameduck/register, lameduck does not handle an uncaught error after the drain',
      underRegister,
      thrown,
      underRegister,
      ['pass'],
    ],
  ]);
});

describe('a loss of leadership begins the shutdown; if the work of the former leader has not stopped, the process exits at once with exit code 83', () => {
  const exit: Action = ['exit', 83, 'leadership of a lost: exiting at once'];
  const lost: State = { phase: 'draining', cause: byLoss, hasLostLeadership: true };
  follows([
    ['a loss of leadership begins the shutdown of the process', running, loss, lost, ['begin', byLoss]],
    [
      'a loss of leadership during a shutdown starts no second shutdown',
      draining,
      loss,
      { ...draining, hasLostLeadership: true },
      ['join', byLoss],
    ],
    [
      'if the work of the former leader has not stopped after a loss of leadership, the process exits at once with exit code 83',
      running,
      { ...loss, isAtOnce: true },
      lost,
      ['begin', byLoss],
      exit,
    ],
  ]);
});

describe('disconnect() of a node:cluster worker begins the shutdown, and the worker disconnects only after the drain', () => {
  follows([
    [
      'P-071 disconnect() of a cluster worker begins the shutdown, and takes effect after the drain',
      running,
      disconnect,
      leaving,
      ['begin', byDisconnect],
    ],
    [
      'P-071 disconnect() of a cluster worker during a shutdown takes effect after the drain',
      draining,
      disconnect,
      { ...draining, disconnect: callback },
    ],
    ['P-071 disconnect() of a cluster worker after the drain takes effect at once', ended, disconnect, ended, ['pass']],
  ]);
});

describe('lameduck ends the process only when the shutdowns of all lifecycles of the process have ended', () => {
  const asGuest: Event = { ...drained, isUnderRegister: true };
  const withListeners: Event = { ...drained, hasListeners: true };
  const calledAtOnce: State = { ...draining, hasCalledListeners: true };
  const idle = { ...ended, hasCalledListeners: false };
  const closedUnderRegister: State = { ...leaving, phase: 'drained', isUnderRegister: true, hasCalledListeners: false };
  follows([
    ['P-058 after all shutdowns the process can end by itself', draining, drained, idle, ['endByItself']],
    [
      "P-111 after all shutdowns the program's own listeners are called",
      draining,
      withListeners,
      cleaning,
      ['callHeldListeners', 0],
    ],
    [
      'P-055 after all shutdowns, listeners that were called at the process signal are not called again',
      calledAtOnce,
      withListeners,
      cleaning,
      ['endByItself'],
    ],
    [
      'P-075 under lameduck/register the process exits after the drain if the process signal would have ended it',
      draining,
      asGuest,
      { ...idle, isUnderRegister: true },
      ['exit'],
      ['endByItself'],
      ['forgetSignals'],
    ],
    [
      'P-075 under lameduck/register the listeners of the program decide after the drain how the process ends',
      draining,
      { ...asGuest, hasListeners: true },
      { ...cleaning, isUnderRegister: true },
      ['callHeldListeners', 0],
      ['forgetSignals'],
    ],
    [
      'P-071 under lameduck/register a disconnected cluster worker can end by itself after the drain',
      leaving,
      asGuest,
      closedUnderRegister,
      ['endByItself'],
      ['forgetSignals'],
    ],
  ]);
});
