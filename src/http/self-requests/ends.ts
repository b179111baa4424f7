// If this process connects to its own server during the drain, lameduck redirects the connection to a second listening
// socket. This file computes the addresses of client and server that the connection would have without this
// redirection. The program sees these addresses.
import { isIPv4 } from 'node:net';
import { hostAndPort } from '../../address.ts';
import type { TcpHandle } from '../../node-internals.ts';

/** End is one of the two ends of a TCP connection, client or server: its address and port. */
export interface End {
  readonly address: string;
  readonly port: number;
}

/** Ends contains the addresses and ports of a TCP connection: those of its client and those of its server. */
export interface Ends {
  readonly client: End;
  readonly server: End;
}

/**
 * endText formats the address and port of a client or server as `address:port`. An IPv4 address in IPv6 form, such as
 * `::ffff:10.0.0.1`, is written as IPv4.
 */
export function endText({ address = '', port = 0 }: Partial<End>): string {
  return hostAndPort(unmapped(address), port);
}

const anyAddress: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/**
 * endsOf returns the addresses that the client and the server of a connection would have if lameduck had not redirected
 * the connection. `bound` is the real address of the client. `asked` is the server address to which the program
 * connected with `connect()`.
 */
export function endsOf(bound: End, asked: End): Ends {
  const server = { ...asked, address: anyAddress[asked.address] ?? asked.address };
  const isLoopback = isIPv4(server.address) && server.address.startsWith('127.');
  const usual = isLoopback ? '127.0.0.1' : server.address;
  // If lameduck redirects a connection of the program to the program's own server, the client's real address is
  // 127.0.0.1. The client has another address only if the program has set the option `localAddress`.
  const client = { ...bound, address: bound.address === '127.0.0.1' ? usual : bound.address };
  return { client, server };
}

/**
 * `show()` makes the TCP handle of a redirected connection report the addresses `own` and `peer` instead of its real
 * addresses. A program may check the addresses of its connections. `isIPv6` is passed only for a socket that a server
 * has accepted. If `isIPv6` is true, the server listens on IPv6. For such a server, Node shows an IPv4 address in IPv6
 * form, such as `::ffff:10.0.0.1`.
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
