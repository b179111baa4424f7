// On SIGTERM or SIGINT, ends a program that runs as PID 1 of its container and has no listener for this signal yet.
// Without this file, the kernel would drop the signal, and nothing sends the signal again. The container would then be
// killed at the end of its grace period.
'use strict';

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, () => {
    if (process.listenerCount(signal) === 0) process.exit();
  });
}
