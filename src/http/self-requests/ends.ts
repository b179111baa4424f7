// The two ends of a connection that this process makes to its own server. A redirected connection shows the ends that it would
// have without the redirect.
import { isIPv4 } from 'node:net';
import { hostAndPort } from '../../address.ts';
import type { TcpHandle } from '../node-internals.ts';

/** End is the address and port of one end of a connection. */
export interface End {
  readonly address: string;
  readonly port: number;
}

/** Ends are both ends of a connection. */
export interface Ends {
  readonly client: End;
  readonly server: End;
}

/** endText writes an end as `address:port`. An IPv4 address that an IPv6 socket shows as mapped is written as IPv4. */
export function endText({ address = '', port = 0 }: Partial<End>): string {
  return hostAndPort(unmapped(address), port);
}

const anyAddress: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/**
 * endsOf returns the ends that a redirected connection would have if it went to `asked`, which the program has passed to
 * `connect()`. `bound` is the real client end of the redirected connection.
 */
export function endsOf(bound: End, asked: End): Ends {
  const server = { ...asked, address: anyAddress[asked.address] ?? asked.address };
  const isLoopback = isIPv4(server.address) && server.address.startsWith('127.');
  const usual = isLoopback ? '127.0.0.1' : server.address;
  // If the client address is not 127.0.0.1, the program has set it by `localAddress`.
  const client = { ...bound, address: bound.address === '127.0.0.1' ? usual : bound.address };
  return { client, server };
}

/**
 * show makes a handle name these ends instead of its real ones: a program may trust the loopback address, or refuse to call
 * it. `isIPv6` is given for an accepted socket, and tells whether its server listens on IPv6, where Node shows an IPv4
 * address as mapped.
 */
export function show(handle: TcpHandle, own: End, peer: End, isIPv6?: boolean): void {
  handle.getsockname = tell(own, isIPv6);
  handle.getpeername = tell(peer, isIPv6);
}

function tell({ address: plain, port }: End, isIPv6: boolean | undefined): TcpHandle['getsockname'] {
  const mapped = isIPv6 === true && isIPv4(plain) ? `::ffff:${plain}` : plain;
  const address = isIPv6 === false ? unmapped(plain) : mapped;
  return (out) => {
    Object.assign(out, { address, family: isIPv4(address) ? 'IPv4' : 'IPv6', port });
    return 0;
  };
}

function unmapped(address: string): string {
  return address.replace(/^::ffff:(?=[0-9.]+$)/i, '');
}
