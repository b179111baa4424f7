// Hides chosen events of a server from all listeners of the server until the caller ends the hiding.
import type { Server } from 'node:net';
import { patchEmit } from '../patch-emit.ts';

/**
 * `withhold()` hides events of a server from all listeners of the server. It hides an event if `isWithheld` returns
 * true for the event. After a call of the returned function, `withhold()` hides no more events.
 */
export function withhold(
  server: Server,
  isWithheld: (event: string | symbol, args: readonly unknown[]) => boolean,
): () => void {
  let hasEnded = false;
  const restore = patchEmit(server, (original) => (event, ...args) => {
    return (hasEnded || !isWithheld(event, args)) && original().call(server, event, ...args);
  });
  return () => {
    hasEnded = true;
    restore();
  };
}
