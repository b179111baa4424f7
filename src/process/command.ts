// Interrupts and exit codes of the command `lameduck`.

/**
 * onInterrupt calls `callback` at the first SIGINT, SIGTERM or SIGHUP. A second signal ends the process. The returned
 * function removes the listeners.
 */
export function onInterrupt(callback: () => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const stop = (): void => {
    for (const signal of signals) process.off(signal, onSignal);
  };
  const onSignal = (): void => {
    stop();
    callback();
  };
  for (const signal of signals) process.on(signal, onSignal);
  return stop;
}

/** endWith sets the exit code of the process, and does not exit. The process exits when its event loop is empty. */
export function endWith(code: number): void {
  process.exitCode = code;
}
