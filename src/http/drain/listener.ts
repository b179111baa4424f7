// Closes a listener without resetting connections that the server has not accepted yet.
import { Server as NetServer } from 'node:net';
import { type Clock, startImmediate, stopTimer, wait } from '../../clock.ts';
import { checkingInterval } from '../../node-internals.ts';

// When the listener is about to close, lameduck first delays the requests. The listener still accepts connections for
// this many milliseconds, so that connecting clients can finish.
const acceptWindow = 30;

// After `acceptWindow`, stopListening waits at most this many milliseconds for a turn of the event loop without a new
// connection.
const longestWait = 1_000;

// Close the listener after a turn of the event loop that took less than `quietTurn` milliseconds. A connection that
// arrives during a turn is accepted only in the next turn, and hardly any connection arrives in a short turn. If there
// is no short turn within `waitForQuiet` milliseconds, close the listener after any turn.
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
