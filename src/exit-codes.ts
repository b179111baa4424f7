// The exit codes with which lameduck ends a process. Node itself uses 1 to 14, and shells use 128 and up.

/** exitCodes maps each outcome of a shutdown to the exit code of the process. */
export const exitCodes = {
  /** clean: every request was answered, and every hook and step succeeded. */
  clean: 0,
  /** secondProcessSignal: a second process signal ended the process at once. */
  secondProcessSignal: 1,
  /**
   * budgetRanOut: some requests had no complete response when the shutdown budget ran out, or when the program called
   * `process.exit(0)`.
   */
  budgetRanOut: 80,
  /** hookFailed: every request was answered, but a hook failed or timed out, or a step of the shutdown failed. */
  hookFailed: 81,
  /** uncaughtError: an uncaught error began the shutdown or happened during it. */
  uncaughtError: 82,
  /**
   * leadershipLost: the process lost leadership with `onLoss: 'shutdown'`. With any value of `onLoss`, the process also
   * exits with 83 if leader-only work is still running at the end of the lease duration.
   */
  leadershipLost: 83,
} as const;

/**
 * `killed` is the exit code after SIGKILL: 128 + 9. The probe thread sends SIGKILL if the event loop is blocked at the
 * end of the shutdown budget. The kubelet sends it at the end of the grace period. The kernel sends it if memory runs
 * out.
 */
export const killed = 137;
