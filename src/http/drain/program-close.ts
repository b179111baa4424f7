// `server.close()` and similar methods, called by the program on a server that the drain closes.
import type { AddressInfo } from 'node:net';
import type { Server } from '../server.ts';

type Callback = (error?: Error) => void;
type Close = (this: Server, callback?: Callback) => Server;

/** The part of a server's handle that Node uses after the server has stopped listening. */
interface Handle {
  close(): void;
  ref(): void;
  unref(): void;
  getsockname?(out: Partial<AddressInfo>): number;
}

interface Handled {
  _handle: Handle | null;
}

/** Progress is what a close has to know of the shutdown. */
export interface Progress {
  /** Whether no server listens and no request is in flight. */
  readonly isDrained: () => boolean;
  readonly ended: Promise<unknown>;
}

/** The state of a server that listened when the shutdown began. */
interface Drained {
  readonly address: ReturnType<Server['address']>;
  /** Whether Node has emitted `close`, and the event was kept from the program. */
  isWithheld: boolean;
  /** Whether the program may see `close` now. */
  isTold: boolean;
  /** Whether the program itself has closed the server. */
  isClosed: boolean;
}

// The first two are methods of Node's, the last is one that Fastify adds to a server of HTTP/2.
const connectionClosers = ['closeIdleConnections', 'closeAllConnections', 'closeHttp2Sessions'];

/**
 * ProgramCloses lets the program close its servers at any time. During the drain, a close takes effect after the drain. The
 * first close after the drain gets its callback and the event `close` without an error, as if the server had listened until
 * then (P-116).
 */
export class ProgramCloses {
  readonly #progress: Progress;
  readonly #drained = new Map<Server, Drained>();
  #hasEnded = false;

  constructor(progress: Progress) {
    this.#progress = progress;
    void progress.ended.then(() => {
      this.#hasEnded = true;
    });
  }

  /** begin replaces the methods that close a server, if it listens when the shutdown begins. */
  begin(server: Server): void {
    if (!server.listening) return;
    const drained = { address: server.address(), isWithheld: false, isTold: false, isClosed: false };
    this.#drained.set(server, drained);
    this.#replace(server, drained);
  }

  /** withholds tells whether a server's event `close` is kept from the program for now. */
  withholds(server: Server): boolean {
    const drained = this.#drained.get(server);
    if (drained === undefined || drained.isTold) return false;
    drained.isWithheld = true;
    return true;
  }

  /** reopen makes the servers look as if they listened, for a program that reads `listening` before it closes them. */
  reopen(): void {
    for (const [server, drained] of this.#drained) if (!drained.isClosed) reopen(server, drained);
  }

  /** settle makes the servers look closed, and emits the events `close` that were kept from the program. */
  settle(): void {
    for (const [server, drained] of this.#drained) {
      if (drained.isTold) continue;
      drained.isTold = true;
      const handled = server as unknown as Handled;
      if (handled._handle instanceof StandIn) handled._handle = null;
      if (drained.isWithheld) server.emit('close');
    }
  }

  #replace(server: Server, drained: Drained): void {
    // Called below on the server that it was taken from.
    // eslint-disable-next-line @typescript-eslint/unbound-method
    const close = server.close as Close;
    server.close = ((callback?: Callback) => this.#close(server, close, drained, callback)) as Server['close'];
    const closers = server as unknown as Record<string, (() => void) | undefined>;
    for (const name of connectionClosers) {
      const closeConnections = closers[name];
      if (typeof closeConnections !== 'function') continue;
      closers[name] = () => {
        if (this.#hasEnded) closeConnections.call(server);
      };
    }
  }

  #close(server: Server, close: Close, drained: Drained, callback?: Callback): Server {
    if (this.#hasEnded) return closeDrained(server, close, drained, callback);
    // After the drain the callback is called at once: a destroy hook may wait for it, and the shutdown waits for the hook.
    const later = this.#progress.isDrained() ? undefined : callback;
    if (later === undefined && typeof callback === 'function') process.nextTick(callback);
    void this.#progress.ended.then(() => closeDrained(server, close, drained, later));
    return server;
  }
}

// Only the first close finds a server that seems to listen. A second one gets Node's error ERR_SERVER_NOT_RUNNING.
function closeDrained(server: Server, close: Close, drained: Drained, callback?: Callback): Server {
  if (!drained.isClosed) reopen(server, drained);
  return close.call(server, callback);
}

function reopen(server: Server, drained: Drained): void {
  (server as unknown as Handled)._handle ??= new StandIn(drained);
}

/** StandIn replaces the handle of a server that the drain has closed, so that the program can close the server by any method. */
class StandIn implements Handle {
  readonly getsockname?: (out: Partial<AddressInfo>) => number;
  readonly #drained: Drained;

  constructor(drained: Drained) {
    this.#drained = drained;
    const { address } = drained;
    // The server itself keeps the path of a Unix socket.
    if (typeof address !== 'object' || address === null) return;
    this.getsockname = (out) => {
      Object.assign(out, address);
      return 0;
    };
  }

  close(): void {
    this.#drained.isClosed = true;
    this.#drained.isTold = true;
  }

  ref(): void {}
  unref(): void {}
}
