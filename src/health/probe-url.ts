// Parses the URL of a probe request, such as `/readyz?verbose`.
import type { EndpointName } from './endpoint.ts';

/** ProbeUrl is a parsed probe URL: the endpoint, the decoded path below the endpoint, and the query. */
export interface ProbeUrl {
  readonly endpoint: EndpointName;
  readonly path: string;
  readonly query: string | undefined;
}

/**
 * parseProbeUrl parses the URL of a probe. For any other URL, it returns undefined (P-080). An absolute URL is not a
 * probe, because it is a request to a forward proxy.
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

// Decodes the path of a probe, because the apiserver compares decoded paths. If a path cannot be decoded, it stays
// encoded and matches no check.
function decoded(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

const probeUrl = /^\/(readyz|livez|healthz)(\/[^?]*)?(?:\?([^]*))?$/i;
