import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exitCodes } from '../src/exit-codes.ts';

test('P-058 each end of the process has an exit code that no other end has', () => {
  const codes = Object.values(exitCodes);
  assert.deepEqual([...new Set(codes)], codes);
});

test('P-058 the codes of our own are neither Node’s nor a shell’s', () => {
  const { clean: _clean, secondProcessSignal: _secondProcessSignal, ...own } = exitCodes;
  for (const code of Object.values(own)) assert.ok(code > 14 && code < 128);
});
