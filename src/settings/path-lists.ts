// The kinds of value that are lists of the program's own paths.
import type { Kind } from './kinds.ts';

const notLivez =
  'paths other than /livez: remove it, since the kubelet kills a container whose liveness probe gets a 503';

/** paths is a list of paths of the program; the empty list is off. */
export const paths = listOfPaths('paths', '/health,/ready', /^\/livez(\/|$)/i, notLivez);

const notRoot = 'paths other than /: remove it, since every path begins with it';

/** pathPrefixes is a list of paths of the program, with all paths below them; the empty list is off. */
export const pathPrefixes = listOfPaths('path prefixes', '/socket.io,/watch', /^\/+$/, notRoot);

function listOfPaths(
  name: string,
  example: string,
  refused: RegExp,
  insteadOfRefused: string,
): Kind<readonly string[]> {
  const allowed = `one or more paths such as ${example}, each beginning with / and without a query, or off`;
  return {
    name,
    fromText(text) {
      return text === 'off' || text === '' ? { value: [] } : this.fromCode(text.split(',').map((one) => one.trim()));
    },
    fromCode(given) {
      if (typeof given === 'string') return this.fromText(given);
      // A copy has no holes, which `every` would pass over.
      const all: unknown[] = Array.isArray(given) ? [...(given as unknown[])] : [];
      if (all.length === 0 || !all.every(isPathname)) return { allowed };
      if (all.some((one) => refused.test(one))) return { allowed: insteadOfRefused };
      return { value: Object.freeze([...new Set(all)]) };
    },
    format: (value) => (value.length === 0 ? 'off' : value.join(',')),
  };
}

// Accepts the characters of a request line, except those that begin a query or a fragment, and the comma of the list.
function isPathname(given: unknown): given is string {
  return typeof given === 'string' && /^\/[!-~]*$/.test(given) && !/[?#,]/.test(given);
}
