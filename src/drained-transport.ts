// The interface of each transport that drains together with the HTTP servers: a gRPC server, the workers of a cluster,
// the worker threads. To drain a further transport, implement this interface and call `shutdown.drainWith`.

/**
 * DrainedTransport is a kind of server other than an HTTP server, such as a gRPC server. It drains at the same time as
 * the HTTP servers.
 */
export interface DrainedTransport {
  /**
   * `transport` is the name of the protocol that is drained, such as `gRPC`, or of the group of workers. The log shows
   * this name in the names of steps, such as `drain gRPC`.
   */
  readonly transport: string;
  /**
   * `drain()` begins the drain of this transport, for example of a gRPC server. From then on, the transport accepts no
   * new requests. The promise of `drain()` resolves when all requests in flight on the transport have been answered.
   */
  drain(): Promise<void>;
  /**
   * `cut()` immediately ends all requests that are still in flight. If `cut()` returns a promise, the shutdown waits
   * for this promise.
   */
  cut(): unknown;
}
