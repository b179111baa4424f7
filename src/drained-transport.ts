// The interface of each transport that drains together with the HTTP servers: a gRPC server, the workers of a cluster,
// the worker threads. To drain a further transport, implement this interface and call `shutdown.drainWith`.

/**
 * DrainedTransport receives requests through other servers than the HTTP servers. It drains at the same time as the
 * HTTP servers.
 */
export interface DrainedTransport {
  /** transport is the name of the transport, which the log shows in the names of steps such as `drain gRPC`. */
  readonly transport: string;
  /** drain makes the transport reject new requests. It resolves when all requests in flight have been answered. */
  drain(): Promise<void>;
  /** cut ends all remaining requests immediately. If it returns a promise, the shutdown waits for it. */
  cut(): unknown;
}
