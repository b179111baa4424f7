import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino, type DestinationStream } from 'pino';
import { flushOf } from '../../src/observers/flush.ts';
import type { Logger } from '../../src/observers/logger.ts';
import { createLogging } from '../../src/observers/logging.ts';
import { settled } from '../support/fake-clock.ts';
import { usualLog } from '../support/usual-log.ts';

const levels = { info: () => undefined, warn: () => undefined, error: () => undefined };

type Callback = (error?: unknown) => void;

async function stateOf(flush: () => unknown): Promise<string> {
  let state = 'pending';
  Promise.resolve()
    .then(flush)
    .then(
      () => (state = 'done'),
      () => (state = 'failed'),
    );
  await settled();
  return state;
}

function flushed(flush: unknown): Promise<string> {
  const flushing = flushOf({ ...levels, flush } as Logger);
  assert.ok(flushing !== undefined);
  return stateOf(flushing);
}

const failing = new Error('disk full');

test('A-077 if the property flush of a logger is missing or not a function, lameduck does not flush the logger', () => {
  for (const logger of [levels, { ...levels, flush: undefined }, { ...levels, flush: true }]) {
    assert.equal(flushOf(logger as Logger), undefined);
    assert.equal(createLogging(logger as Logger, usualLog).flushed, undefined);
  }
});

const outcomes: readonly (readonly [string, unknown, string])[] = [
  ['without a parameter is done when it returns', () => undefined, 'done'],
  [
    'without a parameter that throws has failed',
    () => {
      throw failing;
    },
    'failed',
  ],
  ['without a parameter is waited for when it returns a promise', () => new Promise(() => undefined), 'pending'],
  ['without a parameter is done when its promise resolves', () => Promise.resolve(7), 'done'],
  ['without a parameter has failed when its promise rejects', () => Promise.reject(failing), 'failed'],
  ['with a parameter that is no callback is done when it returns', (_force: unknown) => undefined, 'done'],
  [
    'with a callback is done when it calls back',
    (done: Callback) => {
      done();
    },
    'done',
  ],
  [
    'with a callback is done when it calls back with null',
    (done: Callback) => {
      done(null);
    },
    'done',
  ],
  [
    'with a callback that has not called back yet is done when it returns',
    (done: Callback) => {
      setImmediate(done);
    },
    'done',
  ],
  [
    'with a callback has failed when it calls back with an error',
    (done: Callback) => {
      done(failing);
    },
    'failed',
  ],
  [
    'with a callback that throws has failed',
    (_done: Callback) => {
      throw failing;
    },
    'failed',
  ],
  ['with another parameter is done when its promise resolves', (_timeout: unknown) => Promise.resolve(true), 'done'],
  [
    'with another parameter has failed when its promise rejects',
    (_timeout: unknown) => Promise.reject(failing),
    'failed',
  ],
  [
    'that calls back twice is done once',
    (done: Callback) => {
      done();
      done(failing);
    },
    'done',
  ],
];

for (const [what, flush, expected] of outcomes) {
  test(`A-077 a flush function ${what}`, async () => {
    assert.equal(await flushed(flush), expected);
  });
}

test("A-077 once the logger's flush function has called its callback, lameduck waits for the callback at each later flush", async () => {
  const waiting: Callback[] = [];
  const flushing = flushOf({ ...levels, flush: (done: Callback) => waiting.push(done) });
  const flushes: Promise<unknown>[] = [];
  const flush = (): Promise<string> => stateOf(() => (flushes[flushes.length] = Promise.resolve(flushing?.())));
  assert.equal(await flush(), 'done', 'lameduck cannot know yet that this flush calls back');
  waiting[0]?.(failing);
  assert.equal(await flush(), 'pending');
  assert.equal(await flush(), 'pending');
  waiting[1]?.();
  await flushes[1];
  waiting[2]?.(failing);
  await assert.rejects(flushes[2] as Promise<unknown>, { message: 'flush failed', cause: failing });
});

test("A-077 if the logger's flush function has a parameter for a callback but never calls the callback, each flush is complete when the flush function returns", async () => {
  const flushing = flushOf({ ...levels, flush: (_force: unknown) => true });
  for (let time = 0; time < 3; time++) assert.equal(await stateOf(() => flushing?.()), 'done');
});

test('A-077 lameduck calls the flush function as a method of its logger', async () => {
  class Own implements Logger {
    readonly info = levels.info;
    readonly warn = levels.warn;
    readonly error = levels.error;
    readonly flushes: string[] = [];
    flush(): void {
      this.flushes.push('flushed');
    }
  }
  const logger = new Own();
  assert.equal(await stateOf(() => createLogging(logger, usualLog).flushed?.()), 'done');
  assert.deepEqual(logger.flushes, ['flushed']);
});

test("A-077 lameduck waits for the callback of pino's flush function, whatever destination pino writes to", async () => {
  const waiting: Callback[] = [];
  const slow = { write: () => true, flush: (done: Callback) => waiting.push(done) };
  const flushing = flushOf(pino({}, slow as unknown as DestinationStream));
  assert.equal(await stateOf(() => flushing?.()), 'done', 'the first flush must be complete');
  waiting.shift()?.();
  let state = 'pending';
  const done = Promise.resolve(flushing?.()).then(() => (state = 'done'));
  await settled();
  assert.equal(state, 'pending');
  waiting[0]?.();
  assert.equal(await done, 'done');
  assert.equal(
    await stateOf(() => flushOf(pino({}, { write: () => true }))?.()),
    'done',
    'a destination without a flush function must count as flushed',
  );
  assert.equal(await stateOf(() => flushOf(pino({ enabled: false }))?.()), 'done');
});

test('A-077 while a process reads standard output, a flush of the default log is complete at once', () => {
  assert.equal(createLogging(undefined, usualLog).flushed?.(), undefined);
});
