// Checks arguments that the program passes: names, functions, options and limits.
import { LameduckError, quoted } from './errors.ts';
import type { Duration } from './settings/duration.ts';
import { limit } from './settings/kinds.ts';

// The valid names of hooks, checks and groups. A name occurs in the path of a probe and in log lines.
const namePattern = /^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$/;

/** checkName throws LAMEDUCK_ERR_NAME_INVALID unless `name` is valid in a probe path. */
export function checkName(what: string, name: unknown): asserts name is string {
  if (typeof name === 'string' && namePattern.test(name)) return;
  throw new LameduckError(
    'LAMEDUCK_ERR_NAME_INVALID',
    `name of ${what}: ${quoted(name)}: expected letters, digits, ".", "_", "-" and "/", with a letter or digit at both ends`,
  );
}

/** checkFunction throws LAMEDUCK_ERR_FUNCTION_INVALID unless `given` can be called. */
export function checkFunction(what: string, given: unknown): void {
  if (typeof given === 'function') return;
  throw new LameduckError('LAMEDUCK_ERR_FUNCTION_INVALID', `${what}: ${quoted(given)}: expected a function`);
}

/**
 * checkOptions throws LAMEDUCK_ERR_OPTIONS_INVALID unless `given` is undefined or an object. If `known` is passed, it
 * also throws if `given` has an option that `known` does not list.
 */
export function checkOptions(what: string, given: unknown, known?: readonly string[]): void {
  if (given === undefined) return;
  // Reject an array, a promise and a Map: they are objects, but their properties are not options. A program that has
  // forgotten `await` passes a promise instead of the options.
  const isContainer = Array.isArray(given) || given instanceof Promise || given instanceof Map;
  const isObject = typeof given === 'object' && given !== null && !isContainer;
  if (isObject && (known === undefined || Object.keys(given).every((name) => known.includes(name)))) return;
  throw new LameduckError(
    'LAMEDUCK_ERR_OPTIONS_INVALID',
    `options of ${what}: ${quoted(given)}: expected an object${known === undefined ? '' : ` with ${known.join(', ')}`}`,
  );
}

/**
 * readLimit converts a duration to milliseconds. If the duration is shorter than 1 ms, readLimit throws
 * LAMEDUCK_ERR_TIMEOUT_INVALID.
 */
export function readLimit(what: string, given: Duration): number {
  const reading = limit.fromCode(given);
  if ('value' in reading) return reading.value;
  throw new LameduckError('LAMEDUCK_ERR_TIMEOUT_INVALID', `${what}: ${quoted(given)}: expected ${reading.allowed}`);
}
