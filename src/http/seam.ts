// The seam: one own-property `emit` per server, through which everything that happens to its sockets and requests passes.
// No listener is added, since some listeners change what Node does (P-113).
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { continued } from './http1/expect.ts';
import { connectionsOf, sessionsOf } from './node-internals.ts';
import { endUnlessRead } from './http1/idle-timeout.ts';
import { isHttp2, isSecure, take, type Server } from './server.ts';

/**
 * SeamEvents is what passes the seam. A method that returns true has dealt with the event, and the program never sees
 * it.
 */
export interface SeamEvents {
  onListening(server: Server): void;
  /** The listener is closed and no connection is left. */
  onClose(server: Server): boolean;
  /** A socket on which HTTP can begin. */
  onConnection(socket: Socket): void;
  /** A TCP connection on which TLS has to begin first. */
  onHandshake(socket: Socket): void;
  onSecureConnection(socket: Socket): void;
  /** A request that is held back is dealt with, too: it goes on to the program by `proceed` with its `event`. */
  onRequest(request: IncomingMessage, response: ServerResponse, event: string, proceed: Proceed): boolean;
  onUpgrade(request: IncomingMessage, socket: Duplex): boolean;
  onSession(session: ServerHttp2Session): void;
  /** A request on HTTP/2; one that is held back goes on by `proceed`. */
  onStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, proceed: () => void): boolean;
  /** The program's listener has thrown; called with the first argument of the event. Undefined if nobody wants to know. */
  readonly onThrow?: ((subject: object) => void) | undefined;
  /** The faces that the compatibility API gives to a stream which has passed already. */
  onCompatible(request: object, response: object): void;
}

/** Proceed lets an event go on to the program. */
export type Proceed = (event: string | symbol, ...args: unknown[]) => boolean;

type Emit = (this: unknown, event: string | symbol, ...args: unknown[]) => boolean;

/** installSeam puts the seam on a server. It composes with an `emit` that is there, and with one patched later (P-112). */
export function installSeam(server: Server, events: SeamEvents): void {
  take(server);
  // Called below on the server that it was taken from.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const own = Object.hasOwn(server, 'emit') ? (server.emit as Emit) : undefined;
  const prototype = Object.getPrototypeOf(server) as { emit: Emit };
  const speaksHttp2 = isHttp2(server);

  const send: Proceed = (event, ...args) =>
    (own ?? prototype.emit).call(server, continued(server, event, args), ...args);
  const { onThrow } = events;
  const proceed = onThrow === undefined ? send : watched(send, onThrow);

  // Nearly every event is this one, and to spread its arguments would cost it more than the rest of the seam.
  const emitRequest = (request: IncomingMessage, response: ServerResponse): boolean =>
    events.onRequest(request, response, 'request', proceed) ||
    (own ?? prototype.emit).call(server, 'request', request, response);

  const emit: Proceed = (event, ...args) => {
    if (event === 'request' && !speaksHttp2 && onThrow === undefined) {
      return emitRequest(args[0] as IncomingMessage, args[1] as ServerResponse);
    }
    if (speaksHttp2 && isCompatible(event, args)) {
      events.onCompatible(args[0] as object, args[1] as object);
    } else if (event === 'request' || event === 'checkContinue' || event === 'checkExpectation') {
      if (events.onRequest(args[0] as IncomingMessage, args[1] as ServerResponse, event, proceed)) return true;
    } else if (typeof event === 'string' && handleRare(server, events, event, args, proceed)) {
      return true;
    }
    return proceed(event, ...args);
  };

  server.emit = emit as Server['emit'];
  passOlder(server, events);
}

// Whatever is no request: returns true if it was dealt with.
function handleRare(
  server: Server,
  events: SeamEvents,
  event: string,
  args: readonly unknown[],
  proceed: Proceed,
): boolean {
  switch (event) {
    case 'connection':
      events[isSecure(server) ? 'onHandshake' : 'onConnection'](args[0] as Socket);
      return false;
    case 'secureConnection':
      events.onSecureConnection(args[0] as Socket);
      return false;
    case 'upgrade':
    case 'connect':
      return events.onUpgrade(args[0] as IncomingMessage, args[1] as Duplex);
    case 'session':
      events.onSession(args[0] as ServerHttp2Session);
      return false;
    case 'stream':
      return events.onStream(args[0] as ServerHttp2Stream, args[1] as IncomingHttpHeaders, () =>
        proceed(event, ...args),
      );
    case 'timeout':
      return args[0] instanceof Socket && endUnlessRead(server, args[0]);
    case 'listening':
      events.onListening(server);
      return false;
    case 'close':
      return events.onClose(server);
    default:
      return false;
  }
}

// By `finally`: after a `catch` that throws again, Node would print the line of the seam instead of the program's.
function watched(send: Proceed, onThrow: (subject: object) => void): Proceed {
  return (event, ...args) => {
    let hasReturned = false;
    try {
      const isHeard = send(event, ...args);
      hasReturned = true;
      return isHeard;
    } finally {
      if (!hasReturned && typeof args[0] === 'object' && args[0] !== null) onThrow(args[0]);
    }
  };
}

// Connections that were accepted before the seam was added are tracked too (P-053).
function passOlder(server: Server, events: SeamEvents): void {
  for (const socket of connectionsOf(server)) events.onConnection(socket);
  for (const session of sessionsOf(server)) events.onSession(session);
}

// The compatibility API emits the event of a stream again, under the event name of HTTP/1.1.
function isCompatible(event: string | symbol, [request]: readonly unknown[]): boolean {
  if (event !== 'request' && event !== 'checkContinue' && event !== 'checkExpectation' && event !== 'connect')
    return false;
  return (request as { httpVersionMajor?: number }).httpVersionMajor === 2;
}
