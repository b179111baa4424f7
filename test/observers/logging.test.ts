import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Logger } from '../../src/observers/logger.ts';
import { createLogging, silent } from '../../src/observers/logging.ts';
import type { ShutdownRecord } from '../../src/observer.ts';
import { version } from '../../src/version.ts';
import { usualLog } from '../support/usual-log.ts';

type Call = readonly [string, ...unknown[]];

function recordedLogger(): { logger: Logger; calls: Call[] } {
  const calls: Call[] = [];
  const logger: Logger = {
    info: (details, message) => calls.push(['info', details, message]),
    warn: (details, message) => calls.push(['warn', details, message]),
    error: (details, message) => calls.push(['error', details, message]),
    flush: () => calls.push(['flush']),
  };
  return { logger, calls };
}

const record: ShutdownRecord = {
  schema: 'lameduck/shutdown/v1',
  reason: 'SIGTERM',
  exitCode: 0,
  phases: { ShutdownInitiated: 0 },
  durationMs: 12,
  budgetMs: 28_000,
  requests: { answered: 1, refused: 0, aborted: 0, cut: 0 },
  longRunningEnded: 0,
  unfinished: [],
  hookFailures: [],
  stepFailures: [],
  heldBy: [],
};

test('the start line of the log has the version, the sum of the shutdown budget, the addresses and the settings that are set', () => {
  const { logger, calls } = recordedLogger();
  createLogging(logger, usualLog).onStart({
    budgetSum: 'a - b = c',
    settings: { a: '1 (code)' },
    addresses: ['127.0.0.1:80'],
  });
  assert.deepEqual(calls, [
    ['info', { version, addresses: ['127.0.0.1:80'], settings: { a: '1 (code)' } }, 'lifecycle started: a - b = c'],
  ]);
});

test('P-101 each lifecycle signal is logged as one line at info level with its name, duration and counts', () => {
  const { logger, calls } = recordedLogger();
  const logging = createLogging(logger, usualLog);
  const counts = { durationMs: 7, connections: 2, requestsInFlight: 1, longRunningRequests: 0 };
  logging.onSignal({ name: 'HasBeenReady', ...counts });
  logging.onSignal({ name: 'ShutdownInitiated', ...counts });
  assert.deepEqual(calls, [
    ['info', { name: 'HasBeenReady', ...counts }, 'lifecycle event'],
    ['info', { name: 'ShutdownInitiated', ...counts }, 'shutdown event'],
  ]);
});

test('a warning, a failed hook and an uncaught error cause one log line each', () => {
  const { logger, calls } = recordedLogger();
  const logging = createLogging(logger, usualLog);
  const error = new Error('no');
  logging.onWarning('look here');
  logging.onHookFailure({ kind: 'destroy', name: 'pool', error });
  logging.onUncaughtError(error);
  assert.deepEqual(calls, [
    ['warn', {}, 'look here'],
    ['error', { kind: 'destroy', name: 'pool', err: error }, 'hook failed'],
    ['error', { err: error }, 'uncaught error'],
  ]);
});

test('P-083 a failing check is logged as a warning with its reason, and another line is logged when the check passes again', () => {
  const { logger, calls } = recordedLogger();
  const logging = createLogging(logger, usualLog);
  logging.onCheckChange('readyz', 'database', new Error('refused'));
  logging.onCheckChange('readyz', 'database', undefined);
  assert.deepEqual(calls, [
    ['warn', { endpoint: 'readyz', check: 'database', reason: 'refused' }, 'check fails'],
    ['info', { endpoint: 'readyz', check: 'database' }, 'check passes again'],
  ]);
});

test('P-023, P-027 each cut request is logged in one line, with its method, route, age and client address', () => {
  const { logger, calls } = recordedLogger();
  const request = { method: 'POST', route: '/orders', ageMs: 26_000, peer: '10.0.0.9:4711' };
  createLogging(logger, usualLog).onUnfinished([request, { ...request, route: '/b' }]);
  assert.deepEqual(calls[0], ['error', request, 'request without an answer']);
  assert.equal(calls.length, 2);
});

test("P-025 each response that its client has not acknowledged is logged in one line, with the client's address and the number of unacknowledged bytes", () => {
  const { logger, calls } = recordedLogger();
  const facts = { ageMs: 28_000, peer: '10.0.0.9:4711', unacknowledgedBytes: 4096 };
  createLogging(logger, usualLog).onUnfinished([{ method: '*', route: '*', ...facts }]);
  assert.deepEqual(calls, [['error', facts, 'response not acknowledged']]);
});

test('the final log line has the fields of the shutdown record, and the logger is flushed after this line', () => {
  const { logger, calls } = recordedLogger();
  createLogging(logger, usualLog).onEnd(record);
  assert.deepEqual(calls, [['info', record, 'shutdown ended'], ['flush']]);
});

test('the final log line of a failed shutdown has the level error, so that no log level hides it', () => {
  const { logger, calls } = recordedLogger();
  createLogging(logger, usualLog).onEnd({ ...record, exitCode: 80 });
  assert.equal(calls[0]?.[0], 'error');
});

test('a logger without flush is accepted', () => {
  const { logger, calls } = recordedLogger();
  delete logger.flush;
  const logging = createLogging(logger, usualLog);
  logging.onEnd(record);
  assert.equal(calls.length, 1);
});

test('with the log level silent, the observer of the lifecycle logs nothing', () => {
  assert.equal(silent.onEnd(record), undefined);
});

test('a check that fails after the final log line causes no further line', () => {
  const { logger, calls } = recordedLogger();
  const logging = createLogging(logger, usualLog);
  logging.onEnd(record);
  logging.onCheckChange('readyz', 'database', new Error('the client is destroyed'));
  assert.deepEqual(calls, [['info', record, 'shutdown ended'], ['flush']]);
});

test("if the flush of the program's logger throws or rejects after the final log line, no uncaught error is raised", async (t) => {
  const failed: unknown[] = [];
  const onRejection = (error: unknown): void => void failed.push(error);
  process.on('unhandledRejection', onRejection);
  t.after(() => process.off('unhandledRejection', onRejection));
  const throws = (): void => {
    throw new Error('no');
  };
  for (const flush of [throws, async (): Promise<never> => Promise.reject(new Error('no'))]) {
    createLogging({ ...recordedLogger().logger, flush }, usualLog).onEnd(record);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(failed, []);
});
