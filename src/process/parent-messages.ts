// What the parent process sends over the IPC channel to end this one.

/** isShutdownMessage tells the message of PM2's option `shutdown_with_message`. */
export function isShutdownMessage(event: string, [message]: readonly unknown[]): boolean {
  return event === 'message' && message === 'shutdown';
}

/**
 * isClusterDisconnect tells `worker.disconnect()` of the primary of `node:cluster`. Node tells a worker of it by an internal
 * message, and closes the worker's servers at once.
 */
export function isClusterDisconnect(event: string, [message]: readonly unknown[]): boolean {
  if (event !== 'internalMessage' || typeof message !== 'object' || message === null) return false;
  const { cmd, act } = message as { readonly cmd?: unknown; readonly act?: unknown };
  return cmd === 'NODE_CLUSTER' && act === 'disconnect';
}
