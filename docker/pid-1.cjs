// Ends a program that is the first process of its container and does not listen for SIGTERM itself yet. The kernel
// drops a signal for which the first process has no listener, and the signal is not sent again. The container would be
// killed at the end of its grace period.
'use strict';

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, () => {
    if (process.listenerCount(signal) === 0) process.exit();
  });
}
