// How a thread other than the main thread ends the process.

/**
 * kill ends this process by SIGKILL, since a thread cannot make it exit. The kernel ignores the signal if the process is
 * PID 1 of its container (P-118).
 */
export function kill(): void {
  process.kill(process.pid, 'SIGKILL');
}
