// Tests how `emit` of an emitter is replaced and restored.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { patchEmit } from '../src/patch-emit.ts';

function heard(emitter: EventEmitter): unknown[] {
  const events: unknown[] = [];
  emitter.on('a', (...args: unknown[]) => events.push(...args));
  return events;
}

test('P-112 if the prototype gets another `emit` after patchEmit(), the patch calls the new `emit`; the function that patchEmit() returns removes the patch', () => {
  class Emitter extends EventEmitter {}
  const emitter = new Emitter();
  const events = heard(emitter);
  const restore = patchEmit(
    emitter,
    (original) =>
      (event, ...args) =>
        original().call(emitter, event, 'seen', ...args),
  );
  emitter.emit('a', 1);
  Emitter.prototype.emit = function (this: Emitter, event: string, ...args: unknown[]) {
    return EventEmitter.prototype.emit.call(this, event, 'late', ...args);
  };
  emitter.emit('a', 2);
  assert.deepEqual(events, ['seen', 1, 'late', 'seen', 2]);
  restore();
  assert.equal(Object.hasOwn(emitter, 'emit'), false);
});

test("P-112 if an emitter had the program's own `emit` before patchEmit(), the patch calls this `emit`; the function that patchEmit() returns puts this `emit` back", () => {
  const emitter = new EventEmitter();
  emitter.emit = () => false;
  const restore = patchEmit(
    emitter,
    (original) =>
      (event, ...args) =>
        !original().call(emitter, event, ...args),
  );
  assert.equal(emitter.emit('a'), true);
  restore();
  assert.equal(emitter.emit('a'), false);
});

test('if another library has replaced the `emit` that patchEmit() installed, the removal of the patch leaves the `emit` of that library in place', () => {
  const emitter = new EventEmitter();
  const restore = patchEmit(
    emitter,
    (original) =>
      (event, ...args) =>
        original().call(emitter, event, ...args),
  );
  const patched = emitter.emit.bind(emitter);
  emitter.emit = (event: string | symbol, ...args: unknown[]) => patched(event, ...args, 'other');
  restore();
  const events = heard(emitter);
  emitter.emit('a', 1);
  assert.deepEqual(events, [1, 'other']);
});
