// Tells from the result of a function of the program whether the function has returned a promise.

/** isThenable tells whether a result is a promise. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
