import assert from 'node:assert/strict';
import { test } from 'node:test';
import { combineObservers } from '../../src/observers/combine-observers.ts';
import { silent } from '../../src/observers/logging.ts';
import { RecordingObserver } from '../support/recording-observer.ts';

test('each observer of a lifecycle receives every call, and the observers are called in their order', () => {
  const order: string[] = [];
  const names = Object.keys(silent) as (keyof typeof silent)[];
  const recording = (who: string): typeof silent =>
    Object.fromEntries(
      names.map((name) => [name, (...args: unknown[]) => order.push(`${who} ${name} ${String(args)}`)]),
    ) as never;
  const all = combineObservers([recording('first'), recording('second')]);
  assert.deepEqual(Object.keys(all).sort(), [...names].sort());
  for (const name of names) (all as never as Record<string, (...args: unknown[]) => void>)[name]?.('a', 'b');
  assert.deepEqual(
    order,
    names.flatMap((name) => [`first ${name} a,b`, `second ${name} a,b`]),
  );
});

test('combineObservers() calls each method of an observer with the observer as `this`', () => {
  const observer = new RecordingObserver();
  combineObservers([observer]).onCheckResult('readyz', 'ping', true);
  assert.deepEqual(observer.checkResults, ['readyz ping: passed']);
});
