// Parses settings whose value is a list of URL paths that the program serves.
import type { Kind } from './kinds.ts';

const notLivez =
  'a list of paths without /livez, because the kubelet kills a container whose liveness probe gets a 503';

/** `paths` parses a list of URL paths that the program itself serves. If the list is empty, the setting has no effect. */
export const paths = listOfPaths('paths', '/health,/ready', /^\/livez(\/|$)/i, notLivez);

const notRoot = 'a list of paths without the path / itself, because every path begins with /';

/**
 * pathPrefixes parses a list of URL paths that the program itself serves. Each path stands for itself and for all paths
 * below it. If the list is empty, the setting has no effect.
 */
export const pathPrefixes = listOfPaths('path prefixes', '/socket.io,/watch', /^\/+$/, notRoot);

function listOfPaths(
  name: string,
  example: string,
  refused: RegExp,
  insteadOfRefused: string,
): Kind<readonly string[]> {
  const allowed = `one or more paths such as ${example}, each beginning with / and without a query, or the word off`;
  return {
    name,
    fromText(text) {
      return text === 'off' || text === '' ? { value: [] } : this.fromCode(text.split(',').map((one) => one.trim()));
    },
    fromCode(given) {
      if (typeof given === 'string') return this.fromText(given);
      // Copy the list, because `every` skips missing elements of a sparse array. In the copy, these elements are
      // undefined.
      const all: unknown[] = Array.isArray(given) ? [...(given as unknown[])] : [];
      if (all.length === 0 || !all.every(isPathname)) return { allowed };
      if (all.some((one) => refused.test(one))) return { allowed: insteadOfRefused };
      return { value: Object.freeze([...new Set(all)]) };
    },
    format: (value) => (value.length === 0 ? 'off' : value.join(',')),
  };
}

// Tells whether a value is the path of a URL. It may contain the characters that an HTTP request line allows, but no
// `?`, `#` or comma.
function isPathname(given: unknown): given is string {
  return typeof given === 'string' && /^\/[!-~]*$/.test(given) && !/[?#,]/.test(given);
}
