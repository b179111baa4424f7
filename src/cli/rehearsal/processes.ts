// Reads the descendants, the listening ports and the signal handlers of a process from /proc. On a system without
// /proc, they are unknown.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { endianness } from 'node:os';

/** Listener is a TCP port on which a process listens. */
export interface Listener {
  readonly pid: number;
  readonly port: number;
  /**
   * isLoopback is true if the process listens only on a loopback address, to which only the same host can connect
   * (K-009).
   */
  readonly isLoopback: boolean;
  /** `address` is the address at which this machine can connect. */
  readonly address: string;
  /** `inode` is the inode number of the socket. A socket that was created earlier has a smaller number. */
  readonly inode: number;
}

/** `descendants()` returns the process ids of a process and all its living descendants. */
export function descendants(pid: number): number[] {
  const children = childrenOf(pid);
  return [pid, ...children.flatMap(descendants)];
}

/** childrenOf returns the process ids of the children of a process. */
export function childrenOf(pid: number): number[] {
  return list(`/proc/${String(pid)}/task`).flatMap((thread) =>
    read(`/proc/${String(pid)}/task/${thread}/children`)
      .split(' ')
      .filter(Boolean)
      .map(Number),
  );
}

/** withVariable returns the ids of the processes that have `NAME=value` in their environment. */
export function withVariable(name: string, value: string): number[] {
  const entry = `${name}=${value}`;
  return allProcesses().filter((pid) =>
    read(`/proc/${String(pid)}/environ`)
      .split('\0')
      .includes(entry),
  );
}

/** allProcesses returns every process id in /proc. It returns an empty list if there is no /proc. */
export function allProcesses(): number[] {
  return list('/proc')
    .filter((file) => /^\d+$/.test(file))
    .map(Number);
}

/**
 * hasEnded tells whether a process has exited. A zombie counts as exited: its parent has not read the exit code yet.
 */
export function hasEnded(pid: number): boolean {
  const text = read(`/proc/${String(pid)}/stat`);
  return text === '' || /^[ZX]/.test(text.slice(text.lastIndexOf(')') + 2));
}

/** listenersOf returns the listening TCP sockets of the processes with the given PIDs. */
export function listenersOf(pids: readonly number[]): Listener[] {
  return pids.flatMap((pid) => {
    const inodes = socketInodes(pid);
    if (inodes.size === 0) return [];
    return ['tcp', 'tcp6'].flatMap((table) =>
      listening(read(`/proc/${String(pid)}/net/${table}`))
        .filter(({ inode }) => inodes.has(inode))
        .map(({ port, address, inode }) => ({ pid, port, inode: Number(inode), ...reach(address) })),
    );
  });
}

/** hasHandler tells whether a process has a handler for a signal. It returns undefined if /proc does not show it. */
export function hasHandler(pid: number, signalNumber: number): boolean | undefined {
  const [, mask] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(read(`/proc/${String(pid)}/status`)) ?? [];
  if (mask === undefined) return undefined;
  return ((BigInt(`0x${mask}`) >> BigInt(signalNumber - 1)) & 1n) === 1n;
}

interface Row {
  readonly address: string;
  readonly port: number;
  readonly inode: string;
}

// The kernel's number for the TCP state LISTEN.
const listen = '0A';

function listening(table: string): Row[] {
  return table
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === listen)
    .map((fields) => {
      const [address = '', port = ''] = (fields[1] ?? '').split(':');
      return { address, port: parseInt(port, 16), inode: fields[9] ?? '' };
    });
}

// Addresses to which Debian and systemd resolve the host name of a machine. In a pod, the host name resolves to the
// address of the pod. So a server that listens on the address of its host name can be reached in a pod.
const hostNameAddresses: readonly string[] = ['127.0.1.1', '127.0.0.2'];

function reach(hex: string): Pick<Listener, 'isLoopback' | 'address'> {
  const address = addressOf(hex);
  if (address === '0.0.0.0' || address === '::') return { isLoopback: false, address: '127.0.0.1' };
  const isLoopback = address === '::1' || (address.startsWith('127.') && !hostNameAddresses.includes(address));
  return { isLoopback, address };
}

// Reads an address of the table tcp or tcp6, which consists of 32-bit numbers in the byte order of the machine. An IPv4
// address in the table tcp6 follows the prefix ::ffff.
function addressOf(hex: string): string {
  const bytes = Buffer.from(hex, 'hex');
  if (endianness() === 'LE') bytes.swap32();
  const isMapped = bytes.length === 16 && bytes.readUIntBE(0, 6) === 0 && bytes.readUIntBE(6, 6) === 0xff_ff;
  if (bytes.length === 4 || isMapped) return bytes.subarray(-4).join('.');
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16));
  // The URL parser writes an IPv6 address in its shortest form, in brackets.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

function socketInodes(pid: number): Set<string> {
  const folder = `/proc/${String(pid)}/fd`;
  const inodes = list(folder).map((file) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`${folder}/${file}`))?.[1];
    } catch {
      return undefined;
    }
  });
  return new Set(inodes.filter((inode) => inode !== undefined));
}

// Returns the names in a folder of /proc. A process may exit while its files are read, so a missing folder is not an
// error.
function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
