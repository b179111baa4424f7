// Requests of a program to itself: connections that the process makes to its own servers are accepted during the drain.
import { createServer, type AddressInfo, type Server as NetServer, type Socket } from 'node:net';
import { endsOf, endText, show, type Ends } from './ends.ts';
import { socketsMade, tcpHandleOf } from '../node-internals.ts';
import { reachOf, type Reach } from './reach.ts';
import { redirectConnects, type Connect } from './redirect.ts';
import type { Server } from '../server.ts';
import type { Traffic } from '../traffic.ts';

/** SelfRequestsOptions names the servers, which still listen, and what accepts their connections. */
export interface SelfRequestsOptions {
  readonly servers: readonly Server[];
  readonly traffic: Traffic;
  readonly warn: (message: string) => void;
}

interface Expected {
  readonly reach: Reach;
  readonly ends: Ends;
}

/**
 * SelfRequests hands the servers the connections that this process makes to them, from its construction until `end`. A
 * handler that calls its own server can thus finish while all other clients are refused. Such a connection goes through a
 * second listener, on 127.0.0.1, which closes the connections of other processes.
 */
export class SelfRequests {
  readonly #traffic: Traffic;
  readonly #reaches: readonly Reach[];
  readonly #listener: NetServer;
  /** The connections that have been redirected and not accepted yet, by the client's real address and port. */
  readonly #expected = new Map<string, Expected>();
  #stopRedirecting = (): void => undefined;
  #hasEnded = false;

  constructor({ servers, traffic, warn }: SelfRequestsOptions) {
    this.#traffic = traffic;
    this.#reaches = reachOf(servers);
    this.#listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.#accept(socket);
    });
    if (this.#reaches.length === 0) return;
    this.#recognizeEarlier();
    this.#listener.on('error', ({ message }) => {
      warn(`requests of the program to itself are refused once it has stopped listening: ${message}`);
    });
    // `exclusive` for a worker of node:cluster, whose primary would otherwise listen in its place.
    this.#listener.listen({ port: 0, host: '127.0.0.1', exclusive: true }, () => {
      this.#begin();
    });
    this.#listener.unref();
  }

  /** end stops redirecting. Connections that have been accepted go on. */
  end(): void {
    this.#hasEnded = true;
    this.#stopRedirecting();
    if (this.#listener.listening) this.#listener.close();
  }

  // The key has both ports: another process may use the same client port for another of these servers.
  #recognizeEarlier(): void {
    const ports = this.#reaches.map(({ port }) => port);
    const made = new Set<string>();
    for (const { connecting, localAddress, localPort, remotePort } of socketsMade()) {
      // While a socket is connecting, Node does not show its remote port: assume each.
      for (const port of ports) if (connecting || port === remotePort) made.add(pairOf(localAddress, localPort, port));
    }
    this.#traffic.own.recognize((socket) =>
      made.has(pairOf(socket.remoteAddress, socket.remotePort, socket.localPort)),
    );
  }

  #begin(): void {
    const handle = tcpHandleOf(this.#listener);
    // The program may have connected to itself while the listener was being opened.
    this.#recognizeEarlier();
    if (handle === undefined || this.#hasEnded) this.#listener.close();
    else this.#stopRedirecting = redirectConnects(handle, (connect) => this.#redirect(connect));
  }

  // A request of the program to itself is accepted only if a request of another process is in flight, which may wait for it.
  // Otherwise a program that calls itself in a loop would never drain.
  #redirect({ address, port, handle, toLoopback }: Connect): boolean {
    const reach = this.#reaches.find((one) => one.port === port && one.has(address));
    if (reach === undefined || !this.#servesOthers) return false;
    if (!toLoopback((this.#listener.address() as AddressInfo).port)) return false;
    // The kernel has bound the socket in `toLoopback`. The listener accepts in a later turn of the event loop.
    const bound: Partial<AddressInfo> = {};
    handle.getsockname(bound);
    const ends = endsOf(bound as AddressInfo, { address, port });
    this.#expected.set(endText(bound), { reach, ends });
    show(handle, ends.client, ends.server);
    return true;
  }

  // Whether another process waits for a request, or uses an upgraded connection.
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
    this.#traffic.own.add(socket);
    server.emit('connection', socket);
  }
}

function pairOf(address = '', clientPort = 0, serverPort = 0): string {
  return `${endText({ address, port: clientPort })} ${String(serverPort)}`;
}
