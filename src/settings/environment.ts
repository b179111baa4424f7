// What the environment says: which variables are ours, which are Kubernetes' service links, and which are typing errors.
import { quoted } from '../errors.ts';

/** Environment is the variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * disabledVariable switches everything off when it is `1`; it is no setting, since code must not be able to overrule
 * it.
 */
export const disabledVariable = 'LAMEDUCK_DISABLED';

/** isDisabled tells whether the environment switches lameduck off; undefined is a value that says neither. */
export function isDisabled(environment: Environment): boolean | undefined {
  const text = (environment[disabledVariable] ?? '').trim().toLowerCase();
  if (text === '1' || text === 'true') return true;
  return text === '' || text === '0' || text === 'false' ? false : undefined;
}

// A Service named `lameduck-api` puts LAMEDUCK_API_SERVICE_HOST, LAMEDUCK_API_PORT=tcp://… and LAMEDUCK_API_PORT_80_TCP…
// into every pod of its namespace (P-121).
const serviceLinkName = /_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/;
const serviceLinkValue = /^(tcp|udp|sctp):\/\//i;

/** isServiceLink tells a variable that Kubernetes injected for a Service from one that somebody meant for us. */
export function isServiceLink(name: string, value: string): boolean {
  return serviceLinkName.test(name) || (name.endsWith('_PORT') && serviceLinkValue.test(value));
}

/** valueOf returns what a variable is set to; undefined for one that is not, or that is a service link. */
export function valueOf(environment: Environment, variable: string): string | undefined {
  const text = (environment[variable] ?? '').trim();
  return text === '' || isServiceLink(variable, text) ? undefined : text;
}

const prefix = 'LAMEDUCK_';

/**
 * unknownVariables returns one warning for each `LAMEDUCK_` variable that means nothing, with the nearest name. One that
 * differs from ours in its letter case is not read either.
 */
export function unknownVariables(environment: Environment, known: readonly string[]): string[] {
  const isOurs = (name: string): boolean => name === disabledVariable || known.includes(name);
  return Object.entries(environment)
    .filter(([name, value]) => /^LAMEDUCK_/i.test(name) && !isServiceLink(name, value ?? ''))
    .filter(([name, value]) => {
      const upper = name.toUpperCase();
      // Windows finds a variable in any letter case.
      return !(isOurs(name) || (isOurs(upper) && environment[upper] === value));
    })
    .map(([name]) => {
      // What all have in common makes no two of them alike.
      const near = nearest(
        name.slice(prefix.length),
        [...known, disabledVariable].map((one) => one.slice(prefix.length)),
      );
      return `unknown variable ${nameShown(name)}${near === undefined ? '' : `; the nearest is ${prefix}${near}`}`;
    });
}

/** nameShown writes a name that somebody else has chosen, quoted where it would not stand out or is very long. */
export function nameShown(name: string): string {
  return /^[\w$.-]{1,100}$/.test(name) ? name : quoted(name);
}

/**
 * nearest returns the candidate with the fewest letters to change, if it is near enough to be what was meant. One that
 * only goes on after the name is the nearest.
 */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates
    // No other can be near enough, and a name may be very long.
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
