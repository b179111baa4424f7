// The headers of a response that ends its connection, in whatever form the handler gave its own.
import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';

/**
 * GivenHeaders is what `writeHead` accepts: an object, a flat list of names and values, or (undocumented) a list of
 * pairs.
 */
export type GivenHeaders =
  OutgoingHttpHeaders | readonly (OutgoingHttpHeader | readonly OutgoingHttpHeader[])[] | undefined;

/**
 * closingHeaders returns the given headers with `Connection: close` in place of whatever they say of the connection.
 * Setting `shouldKeepAlive` would not do: an explicit `Connection: keep-alive` beats it (P-120).
 */
export function closingHeaders(
  response: ServerResponse,
  given: GivenHeaders,
): OutgoingHttpHeaders | OutgoingHttpHeader[] {
  response.removeHeader('Keep-Alive');
  // Of a flat list only the names are surely no lists themselves.
  if (Array.isArray(given)) {
    return closingList((Array.isArray(given[0]) ? given.flat() : given) as OutgoingHttpHeader[]);
  }
  const headers: OutgoingHttpHeaders = { Connection: 'close' };
  for (const [name, value] of Object.entries((given ?? {}) as OutgoingHttpHeaders)) {
    if (!isOfConnection(name)) headers[name] = value;
  }
  return headers;
}

function closingList(given: readonly OutgoingHttpHeader[]): OutgoingHttpHeader[] {
  const headers: OutgoingHttpHeader[] = [];
  for (let index = 0; index < given.length; index += 2) {
    if (!isOfConnection(String(given[index]))) headers.push(...given.slice(index, index + 2));
  }
  headers.push('Connection', 'close');
  return headers;
}

function isOfConnection(name: string): boolean {
  const lower = name.toLowerCase();
  return lower === 'connection' || lower === 'keep-alive';
}
