// Redirects TCP connects of this process. Only this file patches how Node connects.
import type { TcpHandle } from '../node-internals.ts';

/** Connect is one attempt to connect, after every name has been looked up. */
export interface Connect {
  readonly address: string;
  readonly port: number;
  readonly handle: TcpHandle;
  /** toLoopback connects to a port of 127.0.0.1 instead. Returns whether the attempt has begun. */
  readonly toLoopback: (port: number) => boolean;
}

/** Redirect returns true if it has connected the handle by `toLoopback`. */
export type Redirect = (connect: Connect) => boolean;

const redirects = new Set<Redirect>();
let restore = (): void => undefined;

/**
 * redirectConnects calls `redirect` for every TCP connect of this thread, until the returned function is called. `handle` can
 * be any TCP handle. The prototype of the handles is patched, and not `Socket.prototype.connect`. The address is known only
 * after the lookup, and each attempt of `autoSelectFamily` has its own handle.
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
  // Called on the handle that they are taken for.
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
    // If another library has patched them since, its patch stays. It may still call these functions, which then redirect nothing.
    if (prototype.connect === patched.connect) prototype.connect = connect;
    if (prototype.connect6 === patched.connect6) prototype.connect6 = connect6;
  };
}
