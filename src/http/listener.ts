// Ending a listener without resetting the connections that wait in its backlog.
import { Server as NetServer } from 'node:net';
import { wait, type Clock } from '../clock.ts';
import { checkingInterval } from './hidden-fields.ts';
import type { Server } from './server.ts';

// How long accepting goes on after requests have begun to be held, so that whoever was connecting is done.
const acceptWindow = 30;

// How long the end of the listener may wait for the right turn of the event loop after that.
const longestWait = 1_000;

// What arrives while a turn deals with its sockets is seen in the next one only: a short turn is the better one to close
// behind, and a busy server is given this long to have one.
const quietTurn = 1;
const waitForQuiet = 200;

/**
 * stopListening closes the listener and leaves its connections alone: `http.Server`'s own `close` would destroy the
 * idle ones (P-114). A connection that the kernel has completed and nobody has accepted is reset by the close (P-018), so
 * it comes right behind a turn of the event loop, a short one if possible, in which none was waiting and nobody was
 * answered, who might be connecting now; while requests are held, clients that wait for an answer make no new
 * connection. `activity` counts both. Resolves when the server no longer listens; one that does not is left as it is
 * (P-054, P-055). If `cut` is aborted, the listener is closed at once.
 */
export async function stopListening(
  server: Server,
  clock: Clock,
  activity: () => number,
  cut?: AbortSignal,
): Promise<void> {
  if (!server.listening) return;
  await wait(clock, acceptWindow, cut);
  const begun = clock.now();
  for (let now = begun; now < begun + longestWait && cut?.aborted !== true;) {
    const [before, since] = [activity(), now];
    // Runs after the sockets of this turn have been dealt with, and before those of the next.
    await new Promise((resolve) => setImmediate(resolve));
    now = clock.now();
    const isShort = now - since < quietTurn || now - begun > waitForQuiet;
    if (isShort && activity() === before) break;
  }
  // Somebody else may have closed it in the meantime.
  if (server.listening as boolean) closeListener(server);
}

/** closeListener closes the listener now; what has been accepted goes on. */
export function closeListener(server: Server): void {
  // In Bun a server of HTTP is none of node:net.
  if (server instanceof NetServer) NetServer.prototype.close.call(server);
  else (Object.getPrototypeOf(server) as NetServer).close.call(server);
}

/** retire closes a server for good: with its listener goes Node's interval, which only `http.Server`'s own close ends. */
export function retire(server: Server): void {
  if (server.listening) closeListener(server);
  clearInterval(checkingInterval(server));
}
