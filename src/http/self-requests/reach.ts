// The addresses at which a process can reach its own servers.
import { BlockList, isIPv4, type AddressInfo, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { addressOf } from '../server.ts';

/**
 * Reach describes how this process can connect to a server: the port on which the server listens, and the addresses
 * that lead to this port.
 */
export interface Reach {
  readonly server: Server;
  readonly port: number;
  /** isIPv6 tells whether the server listens on an IPv6 socket. */
  readonly isIPv6: boolean;
  has(address: string): boolean;
}

/** reachOf lists the ports on which the servers listen now. A server on a Unix socket or a pipe has no port. */
export function reachOf(servers: readonly Server[]): Reach[] {
  const all = servers.flatMap((server) => {
    const address = addressOf(server);
    return address === null || typeof address === 'string' ? [] : [reach(server, address)];
  });
  // Sort the listening sockets by IP version, because an IPv4 and an IPv6 socket may listen on the same port. The IPv4
  // socket comes first: it gets the IPv4 connections, even if the IPv6 socket also listens on IPv4 addresses.
  return all.sort((a, b) => Number(a.isIPv6) - Number(b.isIPv6));
}

function reach(server: Server, { address, port, family }: AddressInfo): Reach {
  const addresses = new BlockList();
  const add = (one: string): void => {
    addresses.addAddress(one, familyOf(one));
  };
  const isIPv6 = family === 'IPv6';
  if (address === '0.0.0.0' || address === '::') {
    // A server on `::` also accepts IPv4 connections, unless it was started with `ipv6Only`. Neither `address()` nor
    // the handle shows this option, so add the IPv4 addresses whether or not it is set.
    const own = ownAddresses().filter((one) => isIPv6 || isIPv4(one));
    for (const one of own) add(one);
    addresses.addSubnet('127.0.0.0', 8);
  } else add(withoutZone(address));
  return {
    server,
    port,
    isIPv6,
    has: (one) => addresses.check(withoutZone(one), familyOf(one)),
  };
}

function interfaceAddresses(): string[] {
  try {
    return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => withoutZone(address)));
  } catch {
    // Some sandboxes forbid listing the network interfaces. lameduck then knows only the loopback addresses.
    return [];
  }
}

// Returns all addresses of this machine. They include 0.0.0.0 and ::, because Linux connects a client that uses these
// addresses to the machine itself.
function ownAddresses(): string[] {
  return ['0.0.0.0', '::', '::1', ...interfaceAddresses()];
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6';
}

// Removes the zone from a link-local address. The zone is the name of a network interface, such as `%eth0` in
// `fe80::1%eth0`.
function withoutZone(address: string): string {
  return address.split('%', 1)[0] as string;
}
