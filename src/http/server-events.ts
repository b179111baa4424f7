// Replaces `emit` on each server object, so that lameduck receives all events of the server's sockets and requests
// before the program does. lameduck adds no event listener, because some event listeners change how Node behaves
// (P-113).
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { Socket, type Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { patchEmit, type Emit } from '../patch-emit.ts';
import { continued } from './http1/expect.ts';
import { acceptorOf, connectionsOf, sessionsOf } from '../node-internals.ts';
import { endUnlessRead } from './http1/idle-timeout.ts';
import { isHttp2, isSecure, isTaken, take, type Server } from './server.ts';
import { visitEach } from './visit-each.ts';

/**
 * ServerEvents are the methods that lameduck calls for the events of a server, before the program receives the event.
 * If a method returns true, the program does not receive the event.
 */
export interface ServerEvents {
  onListening(server: Server): void;
  /** onClose is called when a server has closed its listening socket and its last connection. */
  onClose(server: Server): boolean;
  /**
   * `fronts` are the servers of the program that accept connections and pass the sockets to one of the HTTP servers.
   * Such a server may read the PROXY protocol, for example.
   */
  readonly fronts: ReadonlySet<NetServer>;
  /** onFront is called when a server that is not in `fronts` yet passes a socket to one of the HTTP servers. */
  onFront(front: NetServer): void;
  /**
   * onFrontEvent is called for each event of a server that passes its sockets to the program's HTTP server. It returns
   * true if the program must not receive the event yet.
   */
  onFrontEvent(front: NetServer, event: string | symbol, argument: unknown): boolean;
  /** onConnection is called for a new TCP connection of a server without TLS. */
  onConnection(socket: Socket): void;
  /** onHandshake is called when a TLS server has accepted a TCP connection, before the TLS handshake begins. */
  onHandshake(socket: Socket): void;
  onSecureConnection(socket: Socket): void;
  /**
   * onOlderConnection is called for each HTTP/1.1 connection that the server had accepted before lameduck began to
   * intercept the server's events.
   */
  onOlderConnection(socket: Socket): void;
  /**
   * onRequest is called for each HTTP/1.1 request. It returns true if the program must not receive the request now. If
   * lameduck delays the request, onRequest later calls `proceed` with `event`, and the program receives the request.
   */
  onRequest(request: IncomingMessage, response: ServerResponse, event: string, proceed: Proceed): boolean;
  /**
   * onUpgrade is called for each upgrade and CONNECT request of HTTP/1.1. It returns true if the program must not
   * receive the request now. If lameduck delays the request, onUpgrade later calls `goOn`, and the program receives the
   * request.
   */
  onUpgrade(request: IncomingMessage, socket: Duplex, goOn: () => void): boolean;
  onSession(session: ServerHttp2Session): void;
  /**
   * onStream is called for each HTTP/2 request. It returns true if the program must not receive the request now,
   * because lameduck answers or delays it. At the end of a delay, onStream calls `proceed`, which passes the event
   * `stream` and its arguments to the program.
   */
  onStream(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    flags: number,
    rawHeaders: readonly string[],
    proceed: Proceed,
  ): boolean;
  /**
   * onThrow is called if a listener of the program throws. Its argument is the first argument of the event, such as the
   * request. If the audit log is off, onThrow is undefined.
   */
  readonly onThrow?: ((subject: object) => void) | undefined;
  /**
   * onFailure is called if lameduck cannot record a connection that the server accepted before the lifecycle was
   * created. The cause is a change that the program has made to the socket object.
   */
  readonly onFailure: (error: unknown) => void;
  /**
   * signOfLife is called first for each event of a server, because the event shows that the event loop is running. If
   * no thread watches the event loop, signOfLife is undefined.
   */
  readonly signOfLife?: (() => void) | undefined;
  /**
   * onCompatible is called with the request and response objects that node:http2's compatibility API has created for a
   * stream.
   */
  onCompatible(request: Partial<Http2ServerRequest>, response: object): void;
}

type StreamArguments = [ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, rawHeaders: readonly string[]];

/** Proceed is the function that passes an intercepted event to the program's listeners. */
export type Proceed = Emit;

/**
 * interceptServerEvents replaces `emit` of a server. The callbacks in `events` then receive each event of the server
 * before the program's listeners.
 */
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

  // Nearly every event of a server is a request, so pass the arguments of these events one by one. Passing `...args`
  // would take more time per request than all other code of lameduck together.
  const emitRequest = (request: IncomingMessage, response: ServerResponse): boolean =>
    events.onRequest(request, response, 'request', proceed) || original().call(server, 'request', request, response);
  const emitCompatible = (request: Http2ServerRequest, response: object): boolean => {
    events.onCompatible(request, response);
    return original().call(server, 'request', request, response);
  };
  const emitStream = (
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    flags: number,
    rawHeaders: readonly string[],
  ): boolean =>
    events.onStream(stream, headers, flags, rawHeaders, proceed) ||
    original().call(server, 'stream', stream, headers, flags, rawHeaders);

  return (event, ...args) => {
    signOfLife?.();
    if (onThrow === undefined) {
      if (event === 'request') {
        return speaksHttp2 && isCompatible(event, args)
          ? emitCompatible(args[0] as Http2ServerRequest, args[1] as object)
          : emitRequest(args[0] as IncomingMessage, args[1] as ServerResponse);
      }
      if (event === 'stream') {
        const headers = args[1] as IncomingHttpHeaders;
        return emitStream(args[0] as ServerHttp2Stream, headers, args[2] as number, args[3] as readonly string[]);
      }
    }
    if (speaksHttp2 && isCompatible(event, args)) {
      events.onCompatible(args[0] as Http2ServerRequest, args[1] as object);
    } else if (event === 'request' || event === 'checkContinue' || event === 'checkExpectation') {
      if (events.onRequest(args[0] as IncomingMessage, args[1] as ServerResponse, event, proceed)) return true;
    } else if (typeof event === 'string' && handleRare(server, events, event, args, proceed)) {
      return true;
    }
    return proceed(event, ...args);
  };
}

// Handles all events of a server except `request`, `checkContinue` and `checkExpectation`. Returns true if the program
// must not receive the event.
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
      return events.onUpgrade(args[0] as IncomingMessage, args[1] as Duplex, () => proceed(event, ...args));
    case 'session':
      events.onSession(args[0] as ServerHttp2Session);
      return false;
    case 'stream':
      return events.onStream(...(args as StreamArguments), proceed);
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

// Finds the front of a connection, if there is one. A front is another server of the program that accepted the
// connection and passed its socket to the HTTP server. A front that is closed or has a lifecycle of its own is ignored.
function lookForFront(server: Server, events: ServerEvents, socket: Socket): void {
  const front = acceptorOf(socket);
  if (front === server || front === undefined || events.fronts.has(front) || isTaken(front) || !front.listening) return;
  patchEmit(
    front,
    (original) =>
      (event, ...args) =>
        events.onFrontEvent(front, event, args[0]) || original().call(front, event, ...args),
  );
  events.onFront(front);
}

// Passes an event to the program's listeners, and calls `onThrow` if a listener throws. It uses `finally`, because
// `catch` would have to throw the error again. Node's report of the error would then quote a line of this file instead
// of the program's line.
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

// Creates records of the connections that a server accepted before lameduck replaced the server's `emit`, and of the
// requests on these connections (P-053).
function passOlder(server: Server, events: ServerEvents): void {
  const passOne = (socket: Socket): void => {
    lookForFront(server, events, socket);
    events.onOlderConnection(socket);
  };
  visitEach(connectionsOf(server), passOne, events.onFailure);
  visitEach(sessionsOf(server), events.onSession.bind(events), events.onFailure);
}

// Tells whether node:http2's compatibility API has emitted an event for an HTTP/2 request. lameduck does not count the
// request again, because the server has already emitted `stream` for it.
function isCompatible(event: string | symbol, [request]: readonly unknown[]): boolean {
  if (event !== 'request' && event !== 'checkContinue' && event !== 'checkExpectation' && event !== 'connect')
    return false;
  return (request as { httpVersionMajor?: number }).httpVersionMajor === 2;
}
