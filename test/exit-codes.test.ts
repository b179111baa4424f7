import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exitCodes } from '../src/exit-codes.ts';

test('P-058 each end of the process has the exit code that is documented for it', () => {
  assert.deepEqual(exitCodes, { clean: 0, secondSignal: 1, budgetRanOut: 80, hookFailed: 81, uncaughtError: 82 });
});

test('P-058 the codes of our own are neither Node’s nor a shell’s', () => {
  const { clean: _clean, secondSignal: _secondSignal, ...own } = exitCodes;
  for (const code of Object.values(own)) assert.ok(code > 14 && code < 128);
});
