// Which endpoint a URL asks for.
import type { EndpointName } from './endpoint.ts';

/** ProbeUrl is a URL of a probe: its endpoint, the path below that, decoded, and the query. */
export interface ProbeUrl {
  readonly endpoint: EndpointName;
  readonly path: string;
  readonly query: string | undefined;
}

/**
 * parseProbeUrl returns undefined for a URL that is no probe's (P-080). One in absolute form is a forward proxy's, and
 * about another server.
 */
export function parseProbeUrl(url: string): ProbeUrl | undefined {
  const match = probeUrl.exec(url);
  if (match === null) return undefined;
  return {
    endpoint: (match[1] as string).toLowerCase() as EndpointName,
    path: decoded(match[2] ?? ''),
    query: match[3],
  };
}

// The apiserver compares decoded paths. One that cannot be decoded stays as it is, and names no check.
function decoded(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

const probeUrl = /^\/(readyz|livez|healthz)(\/[^?]*)?(?:\?([^]*))?$/i;
