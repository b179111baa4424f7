// What a program owes as the first process of its container until it listens for SIGTERM itself: the kernel drops what such
// a process does not listen for, nobody sends it again, and the container would be killed at the end of its grace period.
'use strict';

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, () => {
    if (process.listenerCount(signal) === 0) process.exit();
  });
}
