// The seam: one own-property `emit` per server, through which everything that happens to its sockets and requests passes.
// No listener is added, since some listeners change what Node does (P-113).
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connectionsOf, take, type Server } from './server.ts';

/**
 * SeamEvents is what passes the seam. A method that returns true has dealt with the event, and the program never sees
 * it.
 */
export interface SeamEvents {
  onListening(server: Server): void;
  /** A socket on which HTTP can begin. */
  onConnection(socket: Socket): void;
  /** A TCP connection on which TLS has to begin first. */
  onHandshake(socket: Socket): void;
  onSecureConnection(socket: Socket): void;
  /** A request that is held back is dealt with, too: it goes on to the program by `proceed` with its `event`. */
  onRequest(request: IncomingMessage, response: ServerResponse, event: string, proceed: Proceed): boolean;
  onUpgrade(request: IncomingMessage, socket: Duplex): boolean;
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
  const isSecure = server instanceof HttpsServer;

  const proceed: Proceed = (event, ...args) => (own ?? prototype.emit).call(server, event, ...args);

  const emit: Proceed = (event, ...args) => {
    if (event === 'request' || event === 'checkContinue' || event === 'checkExpectation') {
      if (events.onRequest(args[0] as IncomingMessage, args[1] as ServerResponse, event, proceed)) return true;
    } else if (typeof event === 'string' && handleRare(event, args)) {
      return true;
    }
    return proceed(event, ...args);
  };

  function handleRare(event: string, args: readonly unknown[]): boolean {
    switch (event) {
      case 'connection':
        if (isSecure) events.onHandshake(args[0] as Socket);
        else events.onConnection(args[0] as Socket);
        return false;
      case 'secureConnection':
        events.onSecureConnection(args[0] as Socket);
        return false;
      case 'upgrade':
      case 'connect':
        return events.onUpgrade(args[0] as IncomingMessage, args[1] as Duplex);
      case 'listening':
        events.onListening(server);
        return false;
      default:
        return false;
    }
  }

  server.emit = emit as Server['emit'];
  // What was there before the seam leaves with the rest (P-053).
  for (const socket of connectionsOf(server)) events.onConnection(socket);
}
