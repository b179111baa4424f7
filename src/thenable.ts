// Detects whether a function of the program was asynchronous.

/** isThenable tells whether a result is a promise. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
