// A program may send requests to its own servers. During the drain, the servers still accept the TCP connections of
// these requests.
import { createServer, type AddressInfo, type Server as NetServer, type Socket } from 'node:net';
import { endsOf, endText, show, type Ends } from './ends.ts';
import { socketsMade, tcpHandleOf } from '../../node-internals.ts';
import { reachOf, type Reach } from './reach.ts';
import { redirectConnects, type Connect } from './redirect.ts';
import { take } from '../server.ts';
import type { Traffic } from '../traffic.ts';

/** SelfRequestsOptions contains the servers of the program. They must still listen when SelfRequests is created. */
export interface SelfRequestsOptions {
  readonly servers: readonly NetServer[];
  readonly traffic: Traffic;
  readonly warn: (message: string) => void;
}

interface Expected {
  readonly reach: Reach;
  readonly ends: Ends;
}

/**
 * While an instance of SelfRequests exists, this process can connect to its own servers, although they refuse all other
 * clients. A handler that calls its own server can thus finish. When the process connects to its own server,
 * SelfRequests redirects the connection to a second listening socket on 127.0.0.1. That socket closes the connections
 * of other processes. `end()` stops the redirection.
 */
export class SelfRequests {
  readonly #traffic: Traffic;
  readonly #reaches: readonly Reach[];
  readonly #listener: NetServer;
  /**
   * `#expected` contains each redirected connection that the second listening socket has not accepted yet. Its key is
   * the client's real address and port.
   */
  readonly #expected = new Map<string, Expected>();
  #stopRedirecting = (): void => undefined;
  #hasEnded = false;

  constructor({ servers, traffic, warn }: SelfRequestsOptions) {
    this.#traffic = traffic;
    this.#reaches = reachOf(servers);
    this.#listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.#accept(socket);
    });
    // `#listener` only passes its sockets to the servers of the program. Mark it as taken, so that lameduck does not
    // treat it as a server of the program and close it during the drain.
    take(this.#listener);
    if (this.#reaches.length === 0) return;
    this.#recognizeEarlier();
    this.#listener.on('error', ({ message }) => {
      warn(`requests that the program sends to its own servers will fail during the drain: ${message}`);
    });
    // Without the option `exclusive`, a worker of node:cluster would not listen itself: the primary would listen for
    // it.
    this.#listener.listen({ port: 0, host: '127.0.0.1', exclusive: true }, () => {
      this.#begin();
    });
    this.#listener.unref();
  }

  /** After `end()`, no new connection is redirected. Connections that were redirected earlier stay open. */
  end(): void {
    this.#hasEnded = true;
    this.#stopRedirecting();
    if (this.#listener.listening) this.#listener.close();
  }

  // Recognizes connections that this process opened to its own servers before the shutdown. A connection is identified
  // by the client's address and port and the server's port. The client's port alone is not enough, because another
  // process may use the same one.
  #recognizeEarlier(): void {
    const ports = this.#reaches.map(({ port }) => port);
    const made = new Set<string>();
    for (const { connecting, localAddress, localPort, remotePort } of socketsMade()) {
      // While a socket is connecting, Node does not show its remote port. So add one entry to `made` for each
      // combination of this socket and a port of the program's servers.
      for (const port of ports) if (connecting || port === remotePort) made.add(pairOf(localAddress, localPort, port));
    }
    this.#traffic.own.recognize((socket) =>
      made.has(pairOf(socket.remoteAddress, socket.remotePort, socket.localPort)),
    );
  }

  #begin(): void {
    const handle = tcpHandleOf(this.#listener);
    // While lameduck opened its second listening socket, the program may have opened connections to its own servers.
    // Record these connections as connections of the process to itself.
    this.#recognizeEarlier();
    if (handle === undefined || this.#hasEnded) this.#listener.close();
    else this.#stopRedirecting = redirectConnects(handle, (connect) => this.#redirect(connect));
  }

  // Redirects a connection attempt to lameduck's second listening socket if the attempt leads to a server of this
  // process. It does so only while a client outside this process waits for a response, because the handler may need the
  // connection. Without this condition, a program that calls itself in a loop would never drain.
  #redirect({ address, port, handle, toLoopback }: Connect): boolean {
    const reach = this.#reaches.find((one) => one.port === port && one.has(address));
    if (reach === undefined || !this.#servesOthers) return false;
    if (!toLoopback((this.#listener.address() as AddressInfo).port)) return false;
    // Store the local port of the client's socket, which `toLoopback` has already bound. The second listening socket
    // accepts the connection in a later turn of the event loop, and recognizes the connection by this port.
    const bound: Partial<AddressInfo> = {};
    handle.getsockname(bound);
    const ends = endsOf(bound as AddressInfo, { address, port });
    this.#expected.set(endText(bound), { reach, ends });
    show(handle, ends.client, ends.server);
    return true;
  }

  // Tells whether a client outside this process waits for a response or uses an upgraded connection.
  get #servesOthers(): boolean {
    const { connections, own } = this.#traffic;
    for (const { socket, upgraded, unansweredCount } of connections) {
      if ((upgraded !== undefined || unansweredCount > 0) && !own.has(socket)) return true;
    }
    return false;
  }

  #accept(socket: Socket): void {
    const handle = tcpHandleOf(socket);
    const peer: Partial<AddressInfo> = {};
    handle?.getpeername(peer);
    const expected = this.#expected.get(endText(peer));
    this.#expected.delete(endText(peer));
    if (handle === undefined || expected === undefined) {
      socket.destroy();
      return;
    }
    const { reach, ends } = expected;
    const { server } = reach;
    show(handle, ends.server, ends.client, reach.isIPv6);
    socket.allowHalfOpen = (server as { allowHalfOpen?: boolean }).allowHalfOpen === true;
    this.#traffic.own.pass(server, socket);
  }
}

function pairOf(address = '', clientPort = 0, serverPort = 0): string {
  return `${endText({ address, port: clientPort })} ${String(serverPort)}`;
}
