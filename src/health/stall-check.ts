// The check of every endpoint that a process has when its event loop is watched from beside it.

/** stallCheck is its name. On the main thread it passes: where an answer is made there, the loop turns. */
export const stallCheck = 'event-loop';
