// Recognizes the connections that this process makes to its own servers. During the drain, a server must accept them.
// It treats them like connections that it accepted before the shutdown.
import { AsyncResource } from 'node:async_hooks';
import type { Server, Socket } from 'node:net';
import type { Connection } from '../connection.ts';
import { tcpSocketOf } from '../../node-internals.ts';

/** OwnConnections records the accepted sockets whose client is this same process. */
export class OwnConnections {
  readonly #sockets = new WeakSet<Socket>();
  readonly #contexts = new WeakMap<Server, AsyncResource>();
  #isEarlier: (socket: Socket) => boolean = () => false;

  /**
   * noteContext is called when a server begins to listen. It keeps the async context in which the program has called
   * `listen()`. Node runs the handlers of the server in this context, so that they have the program's stores of
   * AsyncLocalStorage.
   */
  noteContext(server: Server): void {
    const context = new AsyncResource('lameduck', { requireManualDestroy: true });
    // Jest reports each resource that has no end as an open handle. The context is still usable after its end.
    context.emitDestroy();
    this.#contexts.set(server, context);
  }

  /**
   * `pass()` passes a socket whose client is this process itself to a server. The handlers of the server then run in
   * the same async context as for any other client. If the server listened before lameduck managed it, this context is
   * not known.
   */
  pass(server: Server, socket: Socket): void {
    this.#sockets.add(socket);
    const emit = (): boolean => server.emit('connection', socket);
    const context = this.#contexts.get(server);
    if (context === undefined) emit();
    else context.runInAsyncScope(emit);
  }

  /**
   * `recognize()` stores the function `isEarlier`. For a socket that a server accepted before the shutdown, `isEarlier`
   * tells whether this process itself opened the connection.
   */
  recognize(isEarlier: (socket: Socket) => boolean): void {
    this.#isEarlier = isEarlier;
  }

  /**
   * `has()` tells whether the client of an accepted socket is this process itself. For a TLS socket, it checks the
   * underlying TCP socket.
   */
  has(socket: Socket): boolean {
    return this.#sockets.has(tcpSocketOf(socket)) || this.#isEarlier(socket);
  }

  /**
   * endLast returns the silent connections that the drain may end now. The drain ends the connections of this process
   * to itself last, because a handler that answers another client may still need them.
   */
  endLast(silent: readonly Connection[], all: Iterable<Connection>): readonly Connection[] {
    const others = silent.filter(({ socket }) => !this.has(socket));
    if (others.length > 0) return others;
    for (const { isClosing, isBusy, isLate, isGone, socket } of all) {
      if ((!isClosing || isBusy) && !isLate && !isGone && !this.has(socket)) return others;
    }
    return silent;
  }
}
