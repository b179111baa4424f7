// Tests that a thousand lifecycles leave no resources in their process.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { disposed } from '../support/disposed.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';

interface Left {
  readonly listeners: Readonly<Record<string, number>>;
  readonly resources: readonly string[];
}

test('P-070, P-073 a thousand starts and stops leave no warning, listener, timer, handle or memory', async (t) => {
  const program = disposed(t, new ProcessUnderTest('starts-and-stops.ts', {}, ['--expose-gc']));
  const done = await program.line('the end', ({ msg }) => msg === 'done');
  const { before, after } = done as unknown as { before: Left; after: Left };
  assert.deepEqual(after, before);
  assert.deepEqual(
    program.lines.filter(({ msg }) => msg === 'warning'),
    [],
  );
  // The test program measures the heap size after each group of 50 servers. The test ignores the first sizes, because
  // the first groups fill caches of Node. The later sizes vary by some hundred KiB. They would grow by more than one
  // MiB if lifecycle signals were never freed.
  const heap = done['heap'] as number[];
  const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const growth = mean(heap.slice(-5)) - mean(heap.slice(5, 10));
  assert.ok(growth < 1_024 * 1_024, `the heap has grown by ${String(growth)} bytes in 500 lifecycles`);
  assert.deepEqual(await program.exit, { code: 0, signal: null });
  assert.equal(program.stderr, '');
});
