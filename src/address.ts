// Formats addresses as text.
import type { AddressInfo } from 'node:net';

/** hostAndPort joins a host and a port as in a URL: an IPv6 address gets brackets. */
export function hostAndPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
}

/** addressText formats the `address()` of a server: host and port, or the path of a Unix socket. */
export function addressText(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') return `unix:${address ?? ''}`;
  return hostAndPort(address.address, address.port);
}
