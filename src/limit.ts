// Limits that are given in a call instead of a setting.
import { LameduckError } from './errors.ts';
import { duration, quoted } from './settings/kinds.ts';
import type { Duration } from './settings/duration.ts';

/** readLimit returns a duration above 0 in milliseconds. Throws LAMEDUCK_ERR_TIMEOUT_INVALID for anything else. */
export function readLimit(what: string, given: Duration): number {
  const reading = duration.fromCode(given);
  if ('value' in reading && reading.value > 0) return reading.value;
  throw new LameduckError('LAMEDUCK_ERR_TIMEOUT_INVALID', `${what}: ${quoted(given)}: allowed is a duration above 0s`);
}
