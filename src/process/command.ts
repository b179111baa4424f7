// The process of a command: Ctrl-C and SIGTERM if it has to clean up, and its exit code.

/** onInterrupt calls back at the first SIGINT, SIGTERM or SIGHUP; a second one ends the process. The returned function stops listening. */
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

/** endWith lets the process end with a code, once nothing holds it any more. */
export function endWith(code: number): void {
  process.exitCode = code;
}
