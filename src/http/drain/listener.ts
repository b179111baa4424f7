// Closes a listener without resetting connections that the server has not accepted yet.
import { Server as NetServer } from 'node:net';
import { type Clock, startImmediate, stopTimer, wait } from '../../clock.ts';
import { checkingInterval } from '../../node-internals.ts';

// How long the listener still accepts connections after lameduck has begun to delay requests, in milliseconds. Clients
// that are connecting can finish in that time.
const acceptWindow = 30;

// After `acceptWindow`, stopListening waits at most this many milliseconds for a turn of the event loop without a new
// connection.
const longestWait = 1_000;

// If a connection arrives during a turn of the event loop, Node accepts it in the next turn. A turn that takes less
// than `quietTurn` milliseconds leaves little time for that, so the listener is closed after such a turn. If there is
// no such turn for `waitForQuiet` milliseconds, the listener is closed after any turn.
const quietTurn = 1;
const waitForQuiet = 200;

/**
 * stopListening closes the listener and keeps its connections. `http.Server`'s own `close` would destroy idle
 * connections (P-114). When a listener is closed, the kernel resets each completed connection that the server has not
 * accepted yet (P-018). So stopListening first waits for a turn of the event loop in which no connection arrives. No
 * response may be sent in this turn either, because a client may open a connection after a response. A client whose
 * request lameduck delays opens no new connection.
 *
 * The function `activity` returns the number of connections and responses so far. stopListening resolves when the
 * server no longer listens. If the server does not listen at all, stopListening resolves at once (P-054, P-055). If the
 * signal `cut` is aborted, stopListening closes the listener without a further wait.
 */
export async function stopListening(
  server: NetServer,
  clock: Clock,
  activity: () => number,
  cut?: AbortSignal,
): Promise<void> {
  if (!server.listening) return;
  await wait(clock, acceptWindow, cut);
  const begun = clock.now();
  for (let now = begun; now < begun + longestWait && cut?.aborted !== true;) {
    const before = activity();
    const since = now;
    // Wait for the phase of the event loop in which Node has just read all sockets.
    await new Promise((resolve) => startImmediate(resolve));
    now = clock.now();
    const isShort = now - since < quietTurn || now - begun > waitForQuiet;
    if (isShort && activity() === before) break;
  }
  // The program may have closed the server during the wait.
  if (server.listening as boolean) closeListener(server);
}

/** closeListener closes the listener now. Connections that were already accepted stay open. */
export function closeListener(server: NetServer): void {
  // In Bun, an HTTP server is not an instance of net.Server.
  if (server instanceof NetServer) NetServer.prototype.close.call(server);
  else (Object.getPrototypeOf(server) as NetServer).close.call(server);
}

/**
 * retire closes a server for good. It closes the listener, and stops the timer with which Node checks the server's
 * connections. Only `http.Server`'s own `close`, which lameduck does not call, would stop this timer.
 */
export function retire(server: NetServer): void {
  if (server.listening) closeListener(server);
  stopTimer(checkingInterval(server));
}
