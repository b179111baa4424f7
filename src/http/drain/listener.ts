// Closes the listening socket of a server without resetting connections that the server has not accepted yet.
import { Server as NetServer } from 'node:net';
import { type Clock, startImmediate, stopTimer, wait } from '../../clock.ts';
import { checkingInterval } from '../../node-internals.ts';

// How many milliseconds the listening socket still accepts connections before it closes, so that clients that are
// connecting can finish. During this time, lameduck delays all requests except probes.
const acceptWindow = 30;

// After `acceptWindow`, stopListening waits for a turn of the event loop in which no connection arrives. This wait
// lasts at most this many milliseconds.
const longestWait = 1_000;

// Close the listening socket after a turn of the event loop that took less than `quietTurn` milliseconds. A connection
// that arrives during a turn is accepted only in the next turn, and hardly any connection arrives in a short turn. If
// there is no short turn within `waitForQuiet` milliseconds, close the listening socket after any turn.
const quietTurn = 1;
const waitForQuiet = 200;

/**
 * stopListening closes the listening socket of a server and keeps the server's connections. The method `close` of
 * `http.Server` would also destroy idle connections (P-114).
 *
 * When a listening socket is closed, the kernel resets each connection whose TCP handshake is complete and that the
 * server has not accepted yet (P-018). So stopListening first waits for a turn of the event loop in which no connection
 * arrives and no response is sent. After a response, the client may open a new connection. A client whose request
 * lameduck delays opens no new connection.
 *
 * `activity` returns how many connections have arrived and how many responses have been sent so far. The promise of
 * stopListening resolves when the server no longer listens. If the server was not listening, the promise resolves at
 * once (P-054, P-055). If `cut` is aborted, stopListening closes the listening socket without waiting longer.
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
    // Wait with startImmediate, because its callback runs when Node has just read all sockets.
    await new Promise((resolve) => startImmediate(resolve));
    now = clock.now();
    const isShort = now - since < quietTurn || now - begun > waitForQuiet;
    if (isShort && activity() === before) break;
  }
  // While lameduck waited for a quiet turn of the event loop, the program may have closed the server.
  if (server.listening as boolean) closeListener(server);
}

/**
 * closeListener closes the listening socket of a server at once. Connections that the server has accepted stay open.
 */
export function closeListener(server: NetServer): void {
  // In Bun, an HTTP server is not an instance of net.Server.
  if (server instanceof NetServer) NetServer.prototype.close.call(server);
  else (Object.getPrototypeOf(server) as NetServer).close.call(server);
}

/**
 * retire closes the listening socket of a server, and stops the timer with which Node checks the server's connections.
 * lameduck must stop this timer itself, because it does not call `http.Server`'s own `close`.
 */
export function retire(server: NetServer): void {
  if (server.listening) closeListener(server);
  stopTimer(checkingInterval(server));
}
