// The exit codes of a process whose end lameduck brings about. Node itself uses 1 to 14, shells 128 and up.

/** exitCodes says what each code means. */
export const exitCodes = {
  /** Everything was drained. */
  clean: 0,
  /** A second process signal ended the process at once. */
  secondProcessSignal: 1,
  /** Requests had no answer when the shutdown budget ran out, or when the program called `process.exit(0)`. */
  budgetRanOut: 80,
  /** Drained, but a hook failed or timed out, or a step of the shutdown failed. */
  hookFailed: 81,
  /** An uncaught error began the shutdown, or happened during it. */
  uncaughtError: 82,
  /** Leadership was lost: `onLoss` is `shutdown`, or the work had not stopped at the end of the lease duration. */
  leadershipLost: 83,
} as const;

/**
 * killed is the exit code after SIGKILL (128 + 9). The probe thread sends SIGKILL if the event loop is blocked at the end of
 * the shutdown budget. The kubelet sends SIGKILL at the end of the grace period, and the kernel if memory runs out.
 */
export const killed = 137;
