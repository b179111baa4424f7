import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exitCodes } from '../src/exit-codes.ts';

test('P-058 each cause for which lameduck ends a process has a different exit code', () => {
  const codes = Object.values(exitCodes);
  assert.deepEqual([...new Set(codes)], codes);
});

test('P-058 every exit code of lameduck except 0 and 1 differs from those of Node and of shells', () => {
  const { clean: _clean, secondProcessSignal: _secondProcessSignal, ...own } = exitCodes;
  for (const code of Object.values(own)) assert.ok(code > 14 && code < 128);
});
