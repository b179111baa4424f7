// Sends signals to processes.

/** sendSignal sends a signal to a process. It does nothing if the process has exited. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // process.kill() throws if the process has already exited.
  }
}

/**
 * `kill()` sends SIGKILL to this process. The probe thread uses `kill()`, because a thread cannot make the process
 * exit. If the process is PID 1 of its container, the kernel ignores the signal, and the process continues (P-118).
 */
export function kill(): void {
  process.kill(process.pid, 'SIGKILL');
}
