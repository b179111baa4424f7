// The check that every endpoint has if the probe thread watches the event loop.

/** stallCheck is its name. On the main thread it always passes: a response from there shows that the event loop runs. */
export const stallCheck = 'event-loop';
