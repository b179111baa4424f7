// Parses the text of /proc/net/tcp and /proc/net/tcp6 to find the sockets with unacknowledged bytes. The kernel
// documents the format in proc_net_tcp.txt. The caller reads the files.
import type { endianness } from 'node:os';

/** SocketRow is one TCP socket whose peer has not acknowledged all bytes, or has not acknowledged the FIN. */
export interface SocketRow {
  readonly localPort: number;
  readonly remotePort: number;
  /** remoteAddress is the peer's address, in the form of `remoteAddress` of a net.Socket. */
  readonly remoteAddress: string;
  /** `bytes` is the number of bytes that the peer has not acknowledged. It is 0 if only the FIN is unacknowledged. */
  readonly bytes: number;
  /**
   * `unanswered` is the number of TCP retransmissions, or of TCP zero-window probes, since the peer last sent
   * something.
   */
  readonly unanswered: number;
  /**
   * isOrphan is true if no process has the socket open any more. The kernel then sends the remaining bytes on its own.
   */
  readonly isOrphan: boolean;
}

// Matches one row of /proc/net/tcp. The columns of a row are slot, local address, remote address, state,
// tx_queue:rx_queue, timer, retrnsmt, uid, timeout and inode. The column `timeout` is the number of unanswered
// zero-window probes.
const pattern =
  /^ *\d+: [\dA-F]+:([\dA-F]{4}) ([\dA-F]+):([\dA-F]{4}) ([\dA-F]{2}) (?!0{8}:)([\dA-F]{8}):[\dA-F]{8} [\dA-F]{2}:[\dA-F]+ ([\dA-F]{8}) +\d+ +(\d+) (\d+) /gm;

// The TCP states FIN_WAIT1, LAST_ACK and CLOSING. In these states, the send queue of the socket still contains the FIN
// of this process. The FIN counts as one byte.
const statesWithFin: readonly string[] = ['04', '09', '0B'];

/**
 * parseSocketTable parses complete lines of /proc/net/tcp or /proc/net/tcp6, and returns the sockets whose send queue
 * is not empty. The kernel writes an address as 32-bit numbers in the byte order of the machine.
 */
export function parseSocketTable(text: string, byteOrder: ReturnType<typeof endianness>): SocketRow[] {
  return Array.from(text.matchAll(pattern), (match) => {
    const [, local, address, remote, state, queue, retransmissions, probes, inode] = match as unknown as string[];
    const hasFin = statesWithFin.includes(state as string);
    return {
      localPort: fromHex(local),
      remotePort: fromHex(remote),
      remoteAddress: addressOf(address as string, byteOrder),
      bytes: fromHex(queue) - (hasFin ? 1 : 0),
      unanswered: Math.max(fromHex(retransmissions), Number(probes)),
      isOrphan: hasFin && inode === '0',
    };
  });
}

function fromHex(digits: string | undefined): number {
  return Number.parseInt(digits ?? '', 16);
}

function addressOf(hex: string, byteOrder: ReturnType<typeof endianness>): string {
  const bytes = Buffer.from(hex, 'hex');
  if (byteOrder === 'LE') bytes.swap32();
  if (bytes.length === 4) return bytes.join('.');
  const digits = bytes.toString('hex');
  if (digits.startsWith('0'.repeat(20) + 'ffff')) return `::ffff:${bytes.subarray(12).join('.')}`;
  // `URL` writes an IPv6 address in its shortest form, in brackets.
  return new URL(`http://[${digits.replace(/(.{4})(?!$)/g, '$1:')}]`).hostname.slice(1, -1);
}
