// Parses /proc/net/tcp and /proc/net/tcp6 (proc_net_tcp.txt of the kernel): the sockets with bytes that their peer has not
// acknowledged. It reads no file.
import type { endianness } from 'node:os';

/** SocketRow is one TCP socket whose peer has not acknowledged everything. */
export interface SocketRow {
  readonly localPort: number;
  readonly remotePort: number;
  /** The peer, written as `remoteAddress` of a net.Socket is. */
  readonly remoteAddress: string;
  /** How many bytes the peer has not acknowledged; 0 if only the FIN is missing. */
  readonly bytes: number;
  /** How many retransmissions, or probes of a closed window, the peer has left unanswered since its last answer. */
  readonly unanswered: number;
  /** Whether no process has the socket open. The kernel then sends the rest on its own. */
  readonly isOrphan: boolean;
}

// The columns: slot, local and remote address, state, tx_queue:rx_queue, timer, retrnsmt, uid, timeout (which counts the
// unanswered probes) and inode.
const pattern =
  /^ *\d+: [\dA-F]+:([\dA-F]{4}) ([\dA-F]+):([\dA-F]{4}) ([\dA-F]{2}) (?!0{8}:)([\dA-F]{8}):[\dA-F]{8} [\dA-F]{2}:[\dA-F]+ ([\dA-F]{8}) +\d+ +(\d+) (\d+) /gm;

// FIN_WAIT1, LAST_ACK and CLOSING: a FIN of this process is in the send queue, where it counts as one byte.
const statesWithFin: readonly string[] = ['04', '09', '0B'];

/**
 * parseSocketTable reads whole lines of a table and returns the sockets with a send queue. The kernel writes an address as
 * 32-bit numbers, whose bytes are in the order of the machine.
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
  // A URL has the shortest form of an address, in brackets.
  return new URL(`http://[${digits.replace(/(.{4})(?!$)/g, '$1:')}]`).hostname.slice(1, -1);
}
