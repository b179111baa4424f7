// What the parent process sends over the IPC channel to end this one.

/** isShutdownMessage tells the message of PM2's option `shutdown_with_message`. */
export function isShutdownMessage(event: string, [message]: readonly unknown[]): boolean {
  return event === 'message' && message === 'shutdown';
}
