// What a function of the program's has returned, of which nobody knows whether it is asynchronous.

/** isThenable tells whether there is something to wait for. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
