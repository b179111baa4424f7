import assert from 'node:assert/strict';
import { test } from 'node:test';
import { otherRuntime, runtimeWarning } from '../../src/process/runtime.ts';

test('Node is recognized as Node, and Bun and Deno as other runtimes, whatever version of Node they claim', () => {
  assert.equal(otherRuntime(), undefined);
  assert.equal(otherRuntime({ ...process.versions, bun: '1.4.5' }), 'Bun 1.4.5');
  assert.equal(otherRuntime({ ...process.versions, deno: '2.9.6' }), 'Deno 2.9.6');
  assert.equal(runtimeWarning(), undefined);
  assert.match(runtimeWarning('Bun 1.4.5') ?? '', /^Bun 1\.4\.5 runs this program: .* can lose requests$/);
});
