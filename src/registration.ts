// Checks of arguments: names, functions, options, limits.
import { LameduckError, quoted } from './errors.ts';
import type { Duration } from './settings/duration.ts';
import { limit } from './settings/kinds.ts';

// Names are parts of probe paths and log lines.
const namePattern = /^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$/;

/** checkName throws LAMEDUCK_ERR_NAME_INVALID unless `name` is valid in a probe path. */
export function checkName(what: string, name: unknown): asserts name is string {
  if (typeof name === 'string' && namePattern.test(name)) return;
  throw new LameduckError(
    'LAMEDUCK_ERR_NAME_INVALID',
    `name of ${what}: ${quoted(name)}: allowed are letters, digits, ".", "_", "-" and "/", with a letter or digit at both ends`,
  );
}

/** checkFunction throws LAMEDUCK_ERR_FUNCTION_INVALID unless `given` can be called. */
export function checkFunction(what: string, given: unknown): void {
  if (typeof given === 'function') return;
  throw new LameduckError('LAMEDUCK_ERR_FUNCTION_INVALID', `${what}: ${quoted(given)}: expected a function`);
}

/**
 * checkOptions throws LAMEDUCK_ERR_OPTIONS_INVALID unless `given` is undefined or an object. If `known` is given, the object must
 * have no other options.
 */
export function checkOptions(what: string, given: unknown, known?: readonly string[]): void {
  if (given === undefined) return;
  // A promise or a Map has no property of an option: its values would be ignored.
  const isContainer = Array.isArray(given) || given instanceof Promise || given instanceof Map;
  const isObject = typeof given === 'object' && given !== null && !isContainer;
  if (isObject && (known === undefined || Object.keys(given).every((name) => known.includes(name)))) return;
  throw new LameduckError(
    'LAMEDUCK_ERR_OPTIONS_INVALID',
    `options of ${what}: ${quoted(given)}: expected an object${known === undefined ? '' : ` with ${known.join(', ')}`}`,
  );
}

/** readLimit returns a duration of at least 1ms in milliseconds. Throws LAMEDUCK_ERR_TIMEOUT_INVALID for anything else. */
export function readLimit(what: string, given: Duration): number {
  const reading = limit.fromCode(given);
  if ('value' in reading) return reading.value;
  throw new LameduckError('LAMEDUCK_ERR_TIMEOUT_INVALID', `${what}: ${quoted(given)}: expected ${reading.allowed}`);
}
