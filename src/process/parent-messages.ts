// The messages by which the parent process ends this one over the IPC channel.

/** isShutdownMessage tells the message of PM2's option `shutdown_with_message`. */
export function isShutdownMessage(event: string, [message]: readonly unknown[]): boolean {
  return event === 'message' && message === 'shutdown';
}
