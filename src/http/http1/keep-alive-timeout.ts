// Sets how long a server leaves an idle connection open. If the setting is missing, the server keeps its own timeouts.
import type { Server } from '../server.ts';

// `headersTimeout` is raised to `keepAliveTimeout` plus this margin, in milliseconds. Node closes a connection without a
// first request after `headersTimeout`.
const headersMargin = 1_000;

/**
 * applyKeepAliveTimeout sets `keepAliveTimeout` of a server. It raises a shorter `headersTimeout`, which also limits
 * how long a connection may wait for its first request, for example from a load balancer. If the setting is missing,
 * it changes nothing.
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
