// Process signals that lameduck sends.

/** sendSignal sends a signal to a process. It does nothing if the process has ended. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

/**
 * kill ends this process by SIGKILL, since a thread cannot make it exit. The kernel ignores the signal if the process is
 * PID 1 of its container (P-118).
 */
export function kill(): void {
  process.kill(process.pid, 'SIGKILL');
}
