// The status with which a program answers a request for an upgrade. The program writes that response itself, to the socket.
import type { Duplex } from 'node:stream';

const statusLine = /^HTTP\/1\.[01] (\d{3})/;

type Write = (this: Duplex, chunk?: unknown, ...rest: unknown[]) => unknown;

/** onFirstStatus calls back with the status of the response if the first bytes that are written to `socket` are a status line. */
export function onFirstStatus(socket: Duplex, callback: (status: number) => void): void {
  const stop = [before(socket, 'write', look), before(socket, 'end', look)];
  function look(chunk: unknown): void {
    // `end()` may be called with a callback alone.
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
    for (const restore of stop) restore();
    const head = typeof chunk === 'string' ? chunk.slice(0, 12) : Buffer.from(chunk.subarray(0, 12)).toString('latin1');
    const status = statusLine.exec(head)?.[1];
    if (status !== undefined) callback(Number(status));
  }
}

// Calls `look` with the first argument of each call of a method, until the returned function is called.
function before(socket: Duplex, name: 'write' | 'end', look: (chunk: unknown) => void): () => void {
  // Called below on the socket that it was taken from.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const method = socket[name] as Write;
  const wrapped: Write = function (...args) {
    look(args[0]);
    return method.apply(this, args);
  };
  const own = Object.getOwnPropertyDescriptor(socket, name);
  Object.defineProperty(socket, name, { value: wrapped, configurable: true, writable: true });
  return () => {
    // The program may have put a method of its own over this one.
    if (socket[name] !== wrapped) return;
    if (own === undefined) Reflect.deleteProperty(socket, name);
    else Object.defineProperty(socket, name, own);
  };
}
