// Tells whether a function of the program, such as a hook or a health check, has returned a promise.

/** isThenable tells whether `value` has a method `then`, as every promise has. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
