// The endpoint of a URL.
import type { EndpointName } from './endpoint.ts';

/** ProbeUrl is the URL of a probe: its endpoint, the decoded path below the endpoint, and the query. */
export interface ProbeUrl {
  readonly endpoint: EndpointName;
  readonly path: string;
  readonly query: string | undefined;
}

/**
 * parseProbeUrl returns undefined for a URL that is not a probe's (P-080). A URL in absolute form is a request to a forward
 * proxy, so it is not a probe of this server.
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

// The apiserver compares decoded paths. A path that cannot be decoded stays as it is, and matches no check.
function decoded(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

const probeUrl = /^\/(readyz|livez|healthz)(\/[^?]*)?(?:\?([^]*))?$/i;
