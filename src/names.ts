// Names of hooks and checks: they stand in probe paths and in log lines, so they are checked where they are given.
import { LameduckError } from './errors.ts';
import { quoted } from './settings/kinds.ts';

const pattern = /^[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?$/;

/** checkName throws LAMEDUCK_ERR_NAME_INVALID unless `name` can stand in a probe path. */
export function checkName(what: string, name: unknown): asserts name is string {
  if (typeof name === 'string' && pattern.test(name)) return;
  throw new LameduckError(
    'LAMEDUCK_ERR_NAME_INVALID',
    `name of ${what}: ${quoted(name)}: allowed are letters, digits, ".", "_", "-" and "/", with a letter or digit at both ends`,
  );
}

/** checkFunction throws LAMEDUCK_ERR_FUNCTION_INVALID unless `given` can be called. */
export function checkFunction(what: string, given: unknown): void {
  if (typeof given === 'function') return;
  throw new LameduckError('LAMEDUCK_ERR_FUNCTION_INVALID', `${what}: ${quoted(given)}: allowed is a function`);
}
