// Closes a listener without resetting the connections that wait in its backlog.
import { Server as NetServer } from 'node:net';
import { type Clock, startImmediate, wait } from '../../clock.ts';
import { checkingInterval } from '../node-internals.ts';
import type { Server } from '../server.ts';

// How long the listener goes on accepting after requests are held, in milliseconds, so that clients that are connecting finish.
const acceptWindow = 30;

// How long to wait after that for a suitable turn of the event loop, in milliseconds.
const longestWait = 1_000;

// A connection that arrives during a turn of the event loop is accepted in the next one. So the listener closes after a turn
// that took less than `quietTurn`, or, if there is none for `waitForQuiet`, after any turn (milliseconds).
const quietTurn = 1;
const waitForQuiet = 200;

/**
 * stopListening closes the listener and not its connections: `http.Server`'s own `close` would destroy the idle ones (P-114).
 * The close resets each connection that the kernel has completed and the server has not accepted (P-018). It therefore follows
 * a turn of the event loop without a new connection and without an answer, after which a client might connect. While requests
 * are held, clients that wait for an answer open no new connection. `activity` counts connections and answers. It resolves
 * when the server no longer listens, and does nothing if the server does not listen (P-054, P-055). If `cut` is aborted, the
 * listener is closed at once.
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
    // Runs after the sockets of this turn have been read, and before those of the next turn.
    await new Promise((resolve) => startImmediate(resolve));
    now = clock.now();
    const isShort = now - since < quietTurn || now - begun > waitForQuiet;
    if (isShort && activity() === before) break;
  }
  // The program may have closed it in the meantime.
  if (server.listening as boolean) closeListener(server);
}

/** closeListener closes the listener now. Accepted connections go on. */
export function closeListener(server: Server): void {
  // In Bun, an HTTP server is not an instance of net.Server.
  if (server instanceof NetServer) NetServer.prototype.close.call(server);
  else (Object.getPrototypeOf(server) as NetServer).close.call(server);
}

/** retire closes a server for good: the listener, and Node's interval, which otherwise only `http.Server`'s own close clears. */
export function retire(server: Server): void {
  if (server.listening) closeListener(server);
  clearInterval(checkingInterval(server));
}
