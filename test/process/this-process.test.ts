// Tests which process events lameduck listens for, and for how long. scenarios/process-*.test.ts tests how a process
// ends.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openCheckpoint } from '../../src/process/checkpoint.ts';
import type { JoinedLifecycle } from '../../src/process/joined-lifecycles.ts';
import { thisProcess } from '../../src/process/this-process.ts';
import { folder } from '../support/termination-log.ts';

function lifecycleFor(...shutdownSignals: NodeJS.Signals[]): JoinedLifecycle {
  return {
    shutdownSignals,
    begin: () => Promise.resolve({ exitCode: 0, durationMs: 0, budgetMs: 0 }),
    report: () => undefined,
    cutShort: () => 0,
    warn: () => undefined,
    onListenersHeld: () => undefined,
    onHeldOpen: () => undefined,
    beforeListeners: () => undefined,
    afterListeners: () => undefined,
    takesShutdownMessage: false,
    isUnderRegister: false,
    isDeveloped: false,
    runsOwnListeners: false,
    endsAt: () => undefined,
  };
}

const names = ['SIGTERM', 'SIGINT', 'SIGUSR2', 'uncaughtException', 'exit', 'beforeExit'];
const counts = (): number[] => names.map((name) => process.listenerCount(name));
const before = counts();
const added = (): number[] => counts().map((count, index) => count - (before[index] as number));

test('P-070, P-073 lifecycles share one listener for each process signal, and the last lifecycle to end removes the listener', () => {
  const leave = thisProcess().join(lifecycleFor('SIGTERM', 'SIGINT'));
  assert.deepEqual(added(), [1, 1, 0, 0, 0, 0]);
  const leaveToo = thisProcess().join(lifecycleFor('SIGTERM', 'SIGUSR2'));
  assert.deepEqual(added(), [1, 1, 1, 0, 0, 0]);
  leave();
  assert.deepEqual(added(), [1, 0, 1, 0, 0, 0]);
  leave();
  assert.deepEqual(added(), [1, 0, 1, 0, 0, 0]);
  leaveToo();
  assert.deepEqual(added(), [0, 0, 0, 0, 0, 0]);
});

test('if the program removes a signal listener of lameduck, lameduck adds this listener again, as long as the process has a lifecycle', () => {
  const leave = thisProcess().join(lifecycleFor('SIGTERM'));
  process.removeAllListeners('SIGTERM');
  assert.deepEqual(added(), [1, 0, 0, 0, 0, 0]);
  leave();
  assert.deepEqual(added(), [0, 0, 0, 0, 0, 0]);
});

test('P-070 the start and the end of a lifecycle do not change the order of the signal listeners of other code', () => {
  const other = (): void => undefined;
  process.on('SIGUSR2', other);
  const others = process.listeners('SIGUSR2');
  thisProcess().join(lifecycleFor('SIGUSR2'))();
  assert.deepEqual(process.listeners('SIGUSR2'), others);
  process.off('SIGUSR2', other);
});

test('P-070 a process can start a new lifecycle after all its earlier lifecycles have ended', () => {
  thisProcess().join(lifecycleFor('SIGTERM'))();
  const leave = thisProcess().join(lifecycleFor('SIGTERM'));
  assert.deepEqual(added(), [1, 0, 0, 0, 0, 0]);
  leave();
  assert.deepEqual(added(), [0, 0, 0, 0, 0, 0]);
  assert.equal(thisProcess().isEnding, false);
});

test('P-056 several copies of the package in one process share the signal listeners, which are removed when the last lifecycle of any copy ends', async () => {
  const copy = new URL('../../src/process/this-process.ts?copy', import.meta.url).href;
  const other = (await import(copy)) as { thisProcess: typeof thisProcess };
  assert.notEqual(other.thisProcess, thisProcess);
  const leave = thisProcess().join(lifecycleFor('SIGTERM'));
  const leaveOther = other.thisProcess().join(lifecycleFor('SIGTERM', 'SIGINT'));
  assert.deepEqual(added(), [1, 1, 0, 0, 0, 0]);
  assert.equal(other.thisProcess().isEnding, false);
  leave();
  assert.deepEqual(added(), [1, 1, 0, 0, 0, 0]);
  leaveOther();
  assert.deepEqual(added(), [0, 0, 0, 0, 0, 0]);
});

test('if two copies of the package in one process each have a lifecycle, the second lifecycle writes no checkpoint file as long as the first lifecycle uses the same file', async (t) => {
  const copy = new URL('../../src/process/checkpoint.ts?copy', import.meta.url).href;
  const other = (await import(copy)) as { openCheckpoint: typeof openCheckpoint };
  const path = join(folder(t), 'checkpoint.json');
  const failures: string[] = [];
  const lines = {
    onPreviousRun: () => undefined,
    onPreviousRunUnknown: () => undefined,
    onCheckpointFailure: (_path: string, { message }: Error) => void failures.push(message),
  };
  const first = openCheckpoint(path, lines);
  assert.equal(other.openCheckpoint(path, lines), undefined);
  assert.deepEqual(failures, ['another lifecycle of this process already writes the checkpoint file']);
  first?.end(0);
  other.openCheckpoint(path, lines)?.end(0);
  assert.equal(failures.length, 1);
});
