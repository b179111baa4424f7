// Where something listens or asks, as it is written.
import type { AddressInfo } from 'node:net';

/** hostAndPort writes the two as one, as a URL has them. */
export function hostAndPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
}

/** addressText writes what `address()` of a server returns: a host with a port, or the path of a socket. */
export function addressText(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') return `unix:${address ?? ''}`;
  return hostAndPort(address.address, address.port);
}
