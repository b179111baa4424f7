// How long a server keeps a connection without a request: the program's own timeouts, or the setting when there is one.
import type { Server } from '../server.ts';

// Node ends a connection on which nothing was ever sent by these two, not by `keepAliveTimeout`.
const headersMargin = 1_000;

/**
 * applyKeepAliveTimeout sets `keepAliveTimeout`, and `headersTimeout` where it would end a connection sooner on which a load
 * balancer has not sent anything yet. It changes nothing when there is no such setting.
 */
export function applyKeepAliveTimeout(server: Server, keepAliveTimeout: number | undefined): void {
  if (keepAliveTimeout === undefined || !('keepAliveTimeout' in server)) return;
  server.keepAliveTimeout = keepAliveTimeout;
  const { headersTimeout, requestTimeout } = server;
  // Beyond `requestTimeout` Node would take the one for the other, and let the body of a request take longer, too.
  const enough = Math.min(keepAliveTimeout + headersMargin, requestTimeout === 0 ? Infinity : requestTimeout);
  if (headersTimeout !== 0 && headersTimeout < enough) server.headersTimeout = enough;
}
