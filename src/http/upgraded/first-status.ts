// Reads the status of the response with which a program answers an upgrade. The program writes this response directly
// to the socket, so there is no response object.
import type { Duplex } from 'node:stream';

const statusLine = /^HTTP\/1\.[01] (\d{3})/;

type Write = (this: Duplex, chunk?: unknown, ...rest: unknown[]) => unknown;

/**
 * onFirstStatus waits for the first bytes that are written to `socket`. If they are the status line of a response, it
 * calls `callback` with the status.
 */
export function onFirstStatus(socket: Duplex, callback: (status: number) => void): void {
  const stop = [before(socket, 'write', look), before(socket, 'end', look)];
  function look(chunk: unknown): void {
    // The first argument of the socket's `end()` may be a callback. A callback contains no status, so ignore it.
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
    for (const restore of stop) restore();
    const head = typeof chunk === 'string' ? chunk.slice(0, 12) : Buffer.from(chunk.subarray(0, 12)).toString('latin1');
    const status = statusLine.exec(head)?.[1];
    if (status !== undefined) callback(Number(status));
  }
}

// Replaces a method of the socket. The replacement passes its first argument to `look`, and then calls the original
// method. The returned function restores the original method.
function before(socket: Duplex, name: 'write' | 'end', look: (chunk: unknown) => void): () => void {
  // The method is called with the socket as its `this`.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const method = socket[name] as Write;
  const wrapped: Write = function (...args) {
    look(args[0]);
    return method.apply(this, args);
  };
  const own = Object.getOwnPropertyDescriptor(socket, name);
  Object.defineProperty(socket, name, { value: wrapped, configurable: true, writable: true });
  return () => {
    // If the program has replaced the method of the socket after lameduck wrapped it, leave the program's method in
    // place.
    if (socket[name] !== wrapped) return;
    if (own === undefined) Reflect.deleteProperty(socket, name);
    else Object.defineProperty(socket, name, own);
  };
}
