// Replaces `emit` of one event emitter by setting it as an own property of this object. Adding an event listener
// instead would not suffice, because Node behaves differently if some listeners are present (P-113).
import type { EventEmitter } from 'node:events';

export type Emit = (event: string | symbol, ...args: unknown[]) => boolean;

/**
 * patchEmit replaces the `emit` of an emitter with the function that `replace` returns. That function calls
 * `original()` to get the previous `emit`. If the emitter had inherited its `emit`, `original()` reads it from the
 * prototype at each call, because a library may patch the prototype later (P-112). patchEmit returns a function that
 * restores the previous `emit`. The restoring function does nothing if another library has replaced `emit` since then.
 */
export function patchEmit(emitter: EventEmitter, replace: (original: () => Emit) => Emit): () => void {
  const own = Object.getOwnPropertyDescriptor(emitter, 'emit');
  const prototype = Object.getPrototypeOf(emitter) as { emit: Emit };
  const patched = replace(() => (own?.value as Emit | undefined) ?? prototype.emit);
  emitter.emit = patched;
  return () => {
    if (emitter.emit !== patched) return;
    if (own === undefined) Reflect.deleteProperty(emitter, 'emit');
    else Object.defineProperty(emitter, 'emit', own);
  };
}
