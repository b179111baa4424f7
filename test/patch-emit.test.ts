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

test("P-112 a patched emit calls the prototype's current emit, and the emitter is restored afterwards", () => {
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

test("P-112 a patched emit calls the emitter's own emit, and restores it afterwards", () => {
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

test("an emit with which another library has replaced lameduck's patched emit stays in place", () => {
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
