// Parses the URL of a probe.
import type { EndpointName } from './endpoint.ts';

/** ProbeUrl is a parsed probe URL: the endpoint, the decoded path below the endpoint, and the query. */
export interface ProbeUrl {
  readonly endpoint: EndpointName;
  readonly path: string;
  readonly query: string | undefined;
}

/**
 * parseProbeUrl parses the URL of a probe. It returns undefined for any other URL (P-080), such as an absolute URL,
 * which is a request to a forward proxy.
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

// Decodes a path, because the apiserver compares decoded paths. If a path cannot be decoded, it stays encoded and
// matches no check.
function decoded(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

const probeUrl = /^\/(readyz|livez|healthz)(\/[^?]*)?(?:\?([^]*))?$/i;
