// Signal handling and exit codes of the command `lameduck`.

/**
 * onInterrupt calls `first` at the first SIGINT, SIGTERM or SIGHUP. At a second signal, it calls `second` and ends the
 * process. The returned function removes the signal listeners.
 */
export function onInterrupt(first: () => void, second: () => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  let isInterrupted = false;
  const stop = (): void => {
    for (const signal of signals) process.off(signal, onSignal);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (!isInterrupted) {
      isInterrupted = true;
      first();
      return;
    }
    stop();
    second();
    process.kill(process.pid, signal);
  };
  for (const signal of signals) process.on(signal, onSignal);
  return stop;
}

/** endWith sets the exit code of the process, but does not exit. The process exits when its event loop is empty. */
export function endWith(code: number): void {
  process.exitCode = code;
}
