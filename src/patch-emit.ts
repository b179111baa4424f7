// Replaces the `emit` of one event emitter by setting an own property. A listener would not suffice, because the
// presence of some listeners changes what Node does (P-113).
import type { EventEmitter } from 'node:events';

export type Emit = (event: string | symbol, ...args: unknown[]) => boolean;

/**
 * patchEmit replaces the `emit` of an emitter with the function that `replace` returns. In that function, `original()`
 * returns the previous `emit`. If the previous `emit` was inherited, `original()` reads it from the prototype at each
 * call, because a library may patch the prototype later (P-112). patchEmit returns a function that restores the
 * previous `emit`. If another library has replaced `emit` in the meantime, that function does nothing.
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
