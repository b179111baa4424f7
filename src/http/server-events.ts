// Replaces `emit` on each server object, so that lameduck receives all events of the server's sockets and requests
// before the program does. lameduck adds no listener, because some listeners change how Node behaves (P-113).
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { Socket, type Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { patchEmit, type Emit } from '../patch-emit.ts';
import { continued } from './http1/expect.ts';
import { acceptorOf, connectionsOf, sessionsOf } from '../node-internals.ts';
import { endUnlessRead } from './http1/idle-timeout.ts';
import { isHttp2, isSecure, isTaken, take, type Server } from './server.ts';
import { visitEach } from './visit-each.ts';

/**
 * ServerEvents are the methods that lameduck's replacement of `emit` calls. If a method returns true, it has handled
 * the event, and the program does not receive the event.
 */
export interface ServerEvents {
  onListening(server: Server): void;
  /** onClose is called when the listener of a server has closed and no connection is open. */
  onClose(server: Server): boolean;
  /**
   * `fronts` are the servers of the program that have passed a socket to one of the HTTP servers. Such a server may read
   * the PROXY protocol, for example.
   */
  readonly fronts: ReadonlySet<NetServer>;
  /** onFront is called when a server passes a socket to one of the HTTP servers and is not in `fronts` yet. */
  onFront(front: NetServer): void;
  /**
   * onFrontEvent is called for each event of a front, which is a server that passes its sockets to an HTTP server. It
   * returns true if the program must not receive the event yet.
   */
  onFrontEvent(front: NetServer, event: string | symbol): boolean;
  /** onConnection is called for a new TCP connection of a server without TLS. */
  onConnection(socket: Socket): void;
  /** onHandshake is called when a TLS server has accepted a TCP connection, before the TLS handshake begins. */
  onHandshake(socket: Socket): void;
  onSecureConnection(socket: Socket): void;
  /**
   * onOlderConnection is called for each HTTP/1.1 connection that the server had accepted before lameduck replaced the
   * server's `emit`.
   */
  onOlderConnection(socket: Socket): void;
  /**
   * onRequest is called for each HTTP/1.1 request. It returns true if the program must not receive the request now. If
   * lameduck delays the request, onRequest later calls `proceed` with `event`, and the program receives the request.
   */
  onRequest(request: IncomingMessage, response: ServerResponse, event: string, proceed: Proceed): boolean;
  onUpgrade(request: IncomingMessage, socket: Duplex): boolean;
  onSession(session: ServerHttp2Session): void;
  /**
   * onStream is called for each HTTP/2 request. It returns true if the program must not receive the request now. If
   * lameduck delays the request, onStream later calls `proceed`, and the program receives the request.
   */
  onStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, proceed: () => void): boolean;
  /**
   * If the program's listener for an event throws, onThrow is called with the first argument of the event. If the audit
   * log is off, onThrow is undefined.
   */
  readonly onThrow?: ((subject: object) => void) | undefined;
  /**
   * onFailure is called if lameduck cannot record a connection that is older than its lifecycle, because the program
   * has changed the socket.
   */
  readonly onFailure: (error: unknown) => void;
  /**
   * signOfLife is called for each event, before all other methods. The event shows that the event loop is running. If
   * nothing watches the event loop, signOfLife is undefined.
   */
  readonly signOfLife?: (() => void) | undefined;
  /**
   * onCompatible is called with the request and response objects that node:http2's compatibility API has created for a
   * stream.
   */
  onCompatible(request: object, response: object): void;
}

/** Proceed passes an event to the program's listeners. */
export type Proceed = Emit;

/** interceptServerEvents replaces `emit` of a server, so that `events` gets each event before the program. */
export function interceptServerEvents(server: Server, events: ServerEvents): void {
  take(server);
  patchEmit(server, (original) => interceptorOf(server, events, original));
  passOlder(server, events);
}

function interceptorOf(server: Server, events: ServerEvents, original: () => Emit): Emit {
  const speaksHttp2 = isHttp2(server);
  const { onThrow, signOfLife } = events;
  const send: Proceed = (event, ...args) => original().call(server, continued(server, event, args), ...args);
  const proceed = onThrow === undefined ? send : watched(send, onThrow);

  // Nearly every event of a server is a request. Pass the two arguments of a request one by one. To spread them would
  // cost more time than all other code of lameduck for this event.
  const emitRequest = (request: IncomingMessage, response: ServerResponse): boolean =>
    events.onRequest(request, response, 'request', proceed) || original().call(server, 'request', request, response);

  return (event, ...args) => {
    signOfLife?.();
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
}

// Handles all events other than requests. Returns true if the event was handled.
function handleRare(
  server: Server,
  events: ServerEvents,
  event: string,
  args: readonly unknown[],
  proceed: Proceed,
): boolean {
  switch (event) {
    case 'connection':
      lookForFront(server, events, args[0] as Socket);
      events[isSecure(server) ? 'onHandshake' : 'onConnection'](args[0] as Socket);
      return false;
    case 'secureConnection':
      lookForFront(server, events, args[0] as Socket);
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

// Finds the front of a connection: a server of the program that has accepted the connection and passed its socket to the
// HTTP server. A front that is closed or has a lifecycle of its own is ignored.
function lookForFront(server: Server, events: ServerEvents, socket: Socket): void {
  const front = acceptorOf(socket);
  if (front === server || front === undefined || events.fronts.has(front) || isTaken(front) || !front.listening) return;
  patchEmit(
    front,
    (original) =>
      (event, ...args) =>
        events.onFrontEvent(front, event) || original().call(front, event, ...args),
  );
  events.onFront(front);
}

// Passes an event to the program's listeners, and reports if a listener throws. It uses `finally`, because `catch`
// would have to throw the error again. Node would then print a line of this file instead of the program's line.
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

// Creates records of the connections that the server accepted before lameduck replaced its `emit`, and of the requests
// on them (P-053).
function passOlder(server: Server, events: ServerEvents): void {
  const passOne = (socket: Socket): void => {
    lookForFront(server, events, socket);
    events.onOlderConnection(socket);
  };
  visitEach(connectionsOf(server), passOne, events.onFailure);
  visitEach(sessionsOf(server), events.onSession.bind(events), events.onFailure);
}

// Recognizes the `request` event that node:http2's compatibility API emits for a stream, after the event `stream`.
function isCompatible(event: string | symbol, [request]: readonly unknown[]): boolean {
  if (event !== 'request' && event !== 'checkContinue' && event !== 'checkExpectation' && event !== 'connect')
    return false;
  return (request as { httpVersionMajor?: number }).httpVersionMajor === 2;
}
