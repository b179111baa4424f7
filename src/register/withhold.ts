// Suppresses some events of a server for a limited time, so that no event listener of the server receives them.
import type { Server } from 'node:net';
import { patchEmit } from '../patch-emit.ts';

/**
 * `withhold()` suppresses the events of a server for which `isWithheld` returns true: no listener receives them. The
 * returned function ends the suppression.
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
