// Reads environment variables. It distinguishes variables of lameduck from Kubernetes' service links and from
// misspelled names.
import { quoted } from '../errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * disabledVariable disables lameduck if it is `1`. It is not a setting, because code must not be able to override it.
 */
export const disabledVariable = 'LAMEDUCK_DISABLED';

/**
 * isDisabled tells whether LAMEDUCK_DISABLED disables lameduck. It returns undefined if the variable has an invalid
 * value.
 */
export function isDisabled(environment: Environment): boolean | undefined {
  const text = (environment[disabledVariable] ?? '').trim().toLowerCase();
  if (text === '1' || text === 'true') return true;
  return text === '' || text === '0' || text === 'false' ? false : undefined;
}

// Matches Kubernetes' service links. A Service named `lameduck-api` adds LAMEDUCK_API_SERVICE_HOST,
// LAMEDUCK_API_PORT=tcp://… and LAMEDUCK_API_PORT_80_TCP… to every pod of its namespace (P-121).
const serviceLinkName = /_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/;
const serviceLinkValue = /^(tcp|udp|sctp):\/\//i;

/** isServiceLink tells whether Kubernetes has injected a variable for a Service. */
export function isServiceLink(name: string, value: string): boolean {
  return serviceLinkName.test(name) || (name.endsWith('_PORT') && serviceLinkValue.test(value));
}

/** valueOf returns the value of a variable, or undefined if the variable is empty, unset or a service link. */
export function valueOf(environment: Environment, variable: string): string | undefined {
  const text = (environment[variable] ?? '').trim();
  return text === '' || isServiceLink(variable, text) ? undefined : text;
}

const prefix = 'LAMEDUCK_';

/**
 * unknownVariables returns one warning, with the nearest known name, for each unknown `LAMEDUCK_` variable. A name that
 * differs only in letter case counts as unknown too, except on Windows.
 */
export function unknownVariables(environment: Environment, known: readonly string[]): string[] {
  const isOurs = (name: string): boolean => name === disabledVariable || known.includes(name);
  return Object.entries(environment)
    .filter(([name, value]) => /^LAMEDUCK_/i.test(name) && !isServiceLink(name, value ?? ''))
    .filter(([name, value]) => {
      const upper = name.toUpperCase();
      // On Windows, the names of variables are case-insensitive.
      return !(isOurs(name) || (isOurs(upper) && environment[upper] === value));
    })
    .map(([name]) => {
      // To find the variable with the most similar name, compare the names without the prefix `LAMEDUCK_`. With this
      // common prefix, all names would be similar.
      const near = nearest(
        name.slice(prefix.length),
        [...known, disabledVariable].map((one) => one.slice(prefix.length)),
      );
      return `unknown variable ${nameShown(name)}${near === undefined ? '' : `; the nearest is ${prefix}${near}`}`;
    });
}

/**
 * nameShown returns a name in the form in which messages show it. It quotes a name that is very long or has unusual
 * characters.
 */
export function nameShown(name: string): string {
  return /^[\w$.-]{1,100}$/.test(name) ? name : quoted(name);
}

/**
 * `nearest()` returns the candidate that is most similar to a name. A candidate that begins with the name, and is at
 * most twice as long, has the distance 0. The distance of every other candidate is its edit distance. If the smallest
 * distance is more than half of the name's length, `nearest()` returns undefined.
 */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates
    // Skip candidates that are less than half as long as the name. Their edit distance would be too large, and for a
    // very long name, computing it would be slow.
    .filter((candidate) => name.length <= candidate.length * 2)
    .map((candidate) => ({ candidate, distance: distance(name.toUpperCase(), candidate.toUpperCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= name.length / 2 ? best.candidate : undefined;
}

function distance(name: string, candidate: string): number {
  return candidate.startsWith(name) && name.length * 2 >= candidate.length ? 0 : editDistance(name, candidate);
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[j] as number) + 1, (current[j - 1] as number) + 1));
    }
    previous = current;
  }
  return previous[b.length] as number;
}
