// Delays the effect of `server.close()` and similar methods until the drain has ended, if the program calls them on a
// server that the drain closes.
import type { AddressInfo, Server } from 'node:net';
import { promisify } from 'node:util';
import { removeStandIn, standIn, type ListenerHandle } from '../../node-internals.ts';
import { addressOf } from '../server.ts';

type Callback = (error?: Error) => void;
type Close = (this: Server, ...args: readonly [Callback?]) => Server;
type Address = (this: Server) => ReturnType<Server['address']>;

/**
 * Progress tells how far the shutdown has come. lameduck uses it to decide whether a program's call of `server.close()`
 * takes effect at once or later.
 */
export interface Progress {
  /** isDrained tells whether no server listens and no request is in flight. */
  readonly isDrained: () => boolean;
  /** `answered` resolves when no request is in flight. It resolves before lameduck calls the destroy hooks. */
  readonly answered: Promise<unknown>;
  readonly ended: Promise<unknown>;
}

/**
 * Drained describes a server that was listening when the shutdown began. `isClosed` says whether the program has called
 * `close()` of this server since the shutdown began.
 */
interface Drained {
  readonly address: ReturnType<Server['address']>;
  /**
   * `listeners` are those listeners of the event `close` that the program has added before the destroy hooks. One of
   * them may exit the process, so lameduck calls them only after the shutdown.
   */
  listeners: readonly unknown[];
  /**
   * isWithheld is true if Node has emitted the event `close` of the server and lameduck has not passed it to the
   * program yet.
   */
  isWithheld: boolean;
  /** isTold is true as soon as lameduck has begun to pass the event `close` to the program. */
  isTold: boolean;
  /** isClosed is true if the program itself has closed the server. */
  isClosed: boolean;
}

// Methods that close connections: two methods of Node, and one that Fastify adds to an HTTP/2 server.
const connectionClosers = ['closeIdleConnections', 'closeAllConnections', 'closeHttp2Sessions'];

/**
 * ProgramCloses lets the program call `close()` of its servers at any time. A call during the drain takes effect after
 * the drain. The first call after the drain succeeds, as if the server were still listening: its callback gets no
 * error, and the server emits `close` (P-116).
 */
export class ProgramCloses {
  readonly #progress: Progress;
  readonly #drained = new Map<Server, Drained>();
  #hasEnded = false;
  #isAwaited = false;

  constructor(progress: Progress) {
    this.#progress = progress;
    void progress.answered.then(() => {
      for (const [server, drained] of this.#drained) drained.listeners = server.rawListeners('close');
    });
    void progress.ended.then(() => {
      this.#hasEnded = true;
    });
  }

  /**
   * `begin()` replaces the methods of a server that close the server or its connections. It does nothing if the server
   * does not listen. During the drain, `address()` of the server still returns its address, because a handler may need
   * the address for a request to its own server.
   */
  begin(server: Server): void {
    if (!server.listening) return;
    const listeners = server.rawListeners('close');
    const drained = { address: addressOf(server), listeners, isWithheld: false, isTold: false, isClosed: false };
    this.#drained.set(server, drained);
    this.#replace(server, drained);
  }

  /** isAwaited tells whether the program has called `close()` of a server before the end of the drain. */
  get isAwaited(): boolean {
    return this.#isAwaited;
  }

  /** `withholds()` returns true as long as the program must not receive the event `close` of the server. */
  withholds(server: Server): boolean {
    const drained = this.#drained.get(server);
    if (drained === undefined || drained.isTold) return false;
    drained.isWithheld = true;
    return true;
  }

  /**
   * During the shutdown, `reopen()` makes `listening` of the servers true again, because a program may read `listening`
   * before it closes a server.
   */
  reopen(): void {
    for (const [server, drained] of this.#drained) if (!drained.isClosed) reopen(server, drained);
  }

  /**
   * `settle()` makes the property `listening` of each server false. It also emits each event `close` that lameduck has
   * withheld from the program so far.
   */
  settle(): void {
    for (const [server, drained] of this.#drained) {
      if (drained.isTold) continue;
      drained.isTold = true;
      removeStandIn(server, (handle) => handle instanceof StandIn);
      if (drained.isWithheld) server.emit('close');
    }
  }

  #replace(server: Server, drained: Drained): void {
    // `close` is called with `server` as its `this`.
    // eslint-disable-next-line @typescript-eslint/unbound-method
    const close: Close = server.close;
    const isAsync = returnsPromise(server, close);
    server.close = ((...args: readonly [Callback?]) => {
      const closed = this.#close(server, close, drained, args);
      return isAsync ? closed : server;
    }) as Server['close'];
    if (disposesWithoutClose(server)) server[Symbol.asyncDispose] = () => promisify(server.close.bind(server))();
    // `address` is called with `server` as its `this`.
    // eslint-disable-next-line @typescript-eslint/unbound-method
    const address: Address = server.address;
    server.address = () => address.call(server) ?? (this.#hasEnded ? null : drained.address);
    const closers = server as unknown as Record<string, (() => void) | undefined>;
    for (const name of connectionClosers) {
      const closeConnections = closers[name];
      if (typeof closeConnections !== 'function') continue;
      closers[name] = () => {
        if (this.#hasEnded) closeConnections.call(server);
      };
    }
  }

  #close(server: Server, close: Close, drained: Drained, args: readonly [Callback?]): unknown {
    if (this.#hasEnded) return closeDrained(server, close, drained, args);
    if (!this.#progress.isDrained()) {
      this.#isAwaited = true;
      return this.#closeLater(server, close, drained, args);
    }
    // After the drain, call the callback that the program passed to `close()` at once, because a destroy hook may wait
    // for this callback. The promise `ended` would be too late for the callback: it resolves only after the destroy
    // hooks. For the same reason, call the listeners that a destroy hook has added for the event `close`.
    const [callback] = args;
    if (typeof callback === 'function') process.nextTick(callback);
    process.nextTick(callNewListeners, server, drained);
    void this.#closeLater(server, close, drained, []);
    return Promise.resolve();
  }

  async #closeLater(server: Server, close: Close, drained: Drained, args: readonly [Callback?]): Promise<unknown> {
    await this.#progress.ended;
    return closeDrained(server, close, drained, args);
  }
}

// Tells whether `Symbol.asyncDispose` of a server is the method of Node's HTTP/2 server without TLS. This method calls
// `close` of net.Server, and not `close` of the server, as the methods of all other servers do.
function disposesWithoutClose(server: Server): boolean {
  let prototype: object | null = server;
  while (prototype !== null && !Object.hasOwn(prototype, Symbol.asyncDispose)) {
    prototype = Object.getPrototypeOf(prototype) as object | null;
  }
  return prototype !== server && prototype?.constructor.name === 'Http2Server';
}

// Tells whether the original `close()` of the server returns a promise. This is assumed if the program has set its own
// `close` on the server, or if `close` is an async function. lameduck's `close()` then also returns a promise, which
// settles as the original promise does.
function returnsPromise(server: Server, close: Close): boolean {
  return Object.hasOwn(server, 'close') || Object.prototype.toString.call(close) === '[object AsyncFunction]';
}

// Calls those listeners of the event `close` that a destroy hook has added, and removes them. Otherwise, they would be
// called a second time after the shutdown.
function callNewListeners(server: Server, { listeners }: Drained): void {
  for (const listener of server.rawListeners('close') as ((this: Server) => void)[]) {
    if (listeners.includes(listener)) continue;
    server.removeListener('close', listener);
    listener.call(server);
  }
}

// Calls `close()` of a server after the drain. For the program's first call, lameduck makes the server appear to
// listen, so that the call succeeds. A second call fails with Node's error ERR_SERVER_NOT_RUNNING.
function closeDrained(server: Server, close: Close, drained: Drained, args: readonly [Callback?]): Server {
  if (!drained.isClosed) reopen(server, drained);
  return close.apply(server, [...args]);
}

function reopen(server: Server, drained: Drained): void {
  standIn(server, new StandIn(drained));
}

/**
 * StandIn replaces Node's internal handle of a listening socket that the drain has closed. With a StandIn, every method
 * that closes a server works as if the server were still listening.
 */
class StandIn implements ListenerHandle {
  readonly getsockname?: (out: Partial<AddressInfo>) => number;
  readonly #drained: Drained;

  constructor(drained: Drained) {
    this.#drained = drained;
    const { address } = drained;
    // If a server listens on a Unix socket, its `address()` returns the path without reading the handle. So a StandIn
    // for such a server needs no address.
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
