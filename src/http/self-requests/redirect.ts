// Redirects outgoing TCP connections of this process to 127.0.0.1. Only this file replaces functions with which Node
// opens outgoing connections.
import type { TcpHandle } from '../../node-internals.ts';

/** Connect is one attempt of this process to open a TCP connection, after the lookup of the host name. */
export interface Connect {
  readonly address: string;
  readonly port: number;
  readonly handle: TcpHandle;
  /**
   * toLoopback connects to a port of 127.0.0.1 instead of the requested address. It returns false if this connect fails
   * at once.
   */
  readonly toLoopback: (port: number) => boolean;
}

/**
 * Redirect is a function that is called for each attempt of this process to open a TCP connection. It may redirect the
 * attempt with `toLoopback`, and then returns true.
 */
export type Redirect = (connect: Connect) => boolean;

// The functions that were passed to `redirectConnects`. All of them share one set, because lameduck patches the
// prototype of all TCP handles only once.
const redirects = new Set<Redirect>();
let restore = (): void => undefined;

/**
 * redirectConnects calls `redirect` for every TCP connect of this thread, until the returned function is called. It
 * patches the prototype of `handle`, which all TCP handles share. `Socket.prototype.connect` is not patched, because
 * Node calls it before the lookup of the host name. After the lookup, `autoSelectFamily` may also make several
 * attempts, each with its own handle.
 */
export function redirectConnects(handle: TcpHandle, redirect: Redirect): () => void {
  if (redirects.size === 0) restore = patch(Object.getPrototypeOf(handle) as TcpHandle);
  redirects.add(redirect);
  return () => {
    if (redirects.delete(redirect) && redirects.size === 0) restore();
  };
}

type Method = TcpHandle['connect'];

function patch(prototype: TcpHandle): () => void {
  // These methods are called with their handle as `this`.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const { connect, connect6 } = prototype;
  const redirected = (original: Method): Method =>
    function (this: TcpHandle, request, address, port, ...rest) {
      const toLoopback = (other: number): boolean => connect.call(this, request, '127.0.0.1', other) === 0;
      for (const redirect of redirects) if (redirect({ address, port, handle: this, toLoopback })) return 0;
      return original.call(this, request, address, port, ...rest);
    };
  const patched = { connect: redirected(connect), connect6: redirected(connect6) };
  Object.assign(prototype, patched);
  return () => {
    // Another library may have replaced `connect` or `connect6` after lameduck. In this case, keep the library's
    // function. It may still call lameduck's function, which now redirects nothing and only calls Node's original
    // function.
    if (prototype.connect === patched.connect) prototype.connect = connect;
    if (prototype.connect6 === patched.connect6) prototype.connect6 = connect6;
  };
}
