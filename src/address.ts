// Where something listens, in the words of the log.
import type { AddressInfo } from 'node:net';

/** addressText writes what `address()` of a server returns: a host with a port, or the path of a socket. */
export function addressText(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') return `unix:${address ?? ''}`;
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `${host}:${String(address.port)}`;
}
