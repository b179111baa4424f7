// Keeps an event of a server from the program for a while.
import type { Server } from 'node:net';

type Emit = (this: Server, event: string | symbol, ...args: unknown[]) => boolean;

/** withhold suppresses the events for which `isWithheld` returns true, until the returned function is called. */
export function withhold(
  server: Server,
  isWithheld: (event: string | symbol, args: readonly unknown[]) => boolean,
): () => void {
  // Called below on the server that it was taken from.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const own = Object.hasOwn(server, 'emit') ? server.emit : undefined;
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const emit = server.emit as Emit;
  const emitOthers: Emit = function (event, ...args) {
    return !isWithheld(event, args) && emit.call(this, event, ...args);
  };
  server.emit = emitOthers as Server['emit'];
  return () => {
    if (own === undefined) Reflect.deleteProperty(server, 'emit');
    else server.emit = own;
  };
}
