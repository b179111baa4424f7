// Sets how long a server leaves an idle connection open. Without the setting `keepAliveTimeout`, the timeouts of the
// server do not change.
import type { Server } from '../server.ts';

// `headersTimeout` of a server is raised to `keepAliveTimeout` plus this margin, in milliseconds. If a connection has
// no first request, Node closes it after `headersTimeout`.
const headersMargin = 1_000;

/**
 * applyKeepAliveTimeout sets `keepAliveTimeout` of a server. It also raises a shorter `headersTimeout`, which limits
 * how long a connection, for example of a load balancer, may wait for its first request. If the setting is unset, the
 * server does not change.
 */
export function applyKeepAliveTimeout(server: Server, keepAliveTimeout: number | undefined): void {
  if (keepAliveTimeout === undefined || !('keepAliveTimeout' in server)) return;
  server.keepAliveTimeout = keepAliveTimeout;
  const { headersTimeout, requestTimeout } = server;
  // Never raise `headersTimeout` above `requestTimeout`: Node would then swap the two values, and a request body could
  // take longer than the program allows.
  const enough = Math.min(keepAliveTimeout + headersMargin, requestTimeout === 0 ? Infinity : requestTimeout);
  if (headersTimeout !== 0 && headersTimeout < enough) server.headersTimeout = enough;
}
