// Signals to other processes.

/** sendSignal sends a signal to a process. One that has ended is left alone. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
