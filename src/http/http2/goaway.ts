// The first of the two steps in which a session of HTTP/2 in clear text leaves: a GOAWAY that refuses nothing.
import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { wait, type Clock } from '../../clock.ts';
import { queuedBytes } from '../node-internals.ts';
import { roundTrip } from './round-trip.ts';
import { ignoreResets } from '../responses/socket-errors.ts';

// GOAWAY, NO_ERROR, with the highest stream identifier there is: it announces the end, and refuses nothing yet (RFC 9113, 6.8).
const goaway = Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0]);

// How long the client has to answer the ping behind the announcement.
const longestRoundTrip = 3_000;

// How long a session that always has much on its way out is waited for, and how long between two looks at it. Its client
// waits meanwhile.
const longestWait = 500;
const pause = 20;

// So many bytes that the client has not acknowledged leave room in the smallest buffer that a kernel gives a connection.
const unacknowledged = 16_384;

/**
 * announce tells a client to open no more streams, and gives it a round trip in which those that it has on its way arrive
 * (P-043). nghttp2 has no such GOAWAY in Node, so the bytes go onto the socket beside it. Resolves with
 * false, and has told nothing, when the socket never had room for them.
 */
export async function announce(session: ServerHttp2Session, socket: Socket, clock: Clock): Promise<boolean> {
  const until = clock.now() + longestWait;
  for (;;) {
    const { bytesWritten } = socket;
    const isHeard = await roundTrip(session, clock, until - clock.now());
    if (isHeard && hasRoom(session, socket, bytesWritten)) break;
    await wait(clock, pause);
    if (clock.now() >= until || session.closed || session.destroyed) return false;
  }
  ignoreResets(socket);
  socket.write(goaway);
  await roundTrip(session, clock, longestRoundTrip);
  return true;
}

// Node aborts the process when a write beside its own has to wait for the kernel. One that does not wait, with nothing of
// Node's queued, lies between two frames.
function hasRoom(session: ServerHttp2Session, socket: Socket, acknowledged: number): boolean {
  if (session.closed || session.destroyed || socket.destroyed) return false;
  const queued = (queuedBytes(socket) ?? 1) + socket.writableLength + (session.state.outboundQueueSize ?? 0);
  return queued === 0 && socket.bytesWritten - acknowledged <= unacknowledged;
}
