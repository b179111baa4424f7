// Reads the kernel's tables of TCP sockets. With 20 000 sockets the tables are 3 MB long, so they are read and parsed
// in pieces.
import { closeSync, openSync, readSync } from 'node:fs';
import { endianness } from 'node:os';
import { startImmediate } from '../../clock.ts';
import { parseSocketTable, type SocketRow } from './socket-table.ts';

// The size of the buffer for one read of /proc, in bytes. Such a read returns at most one page of memory, and a page is
// never larger than this buffer.
const pageSize = 65_536;

// The largest number of synchronous reads of the socket table in one turn of the event loop. These reads together take
// about a millisecond. Asynchronous reads would need one turn for each page of the table. A long table has hundreds of
// pages, because the kernel keeps the rows of closed connections for a minute.
const readsPerTurn = 32;

/**
 * ReadSocketTable resolves with the sockets on which this process has sent bytes or a FIN that the peer has not
 * acknowledged. The list is empty if the operating system does not show these sockets.
 */
export type ReadSocketTable = () => Promise<readonly SocketRow[]>;

/** readSocketTable reads the tables of this process's network namespace on Linux. It never rejects. */
export const readSocketTable: ReadSocketTable = async () => [
  ...(await readTable('/proc/self/net/tcp')),
  ...(await readTable('/proc/self/net/tcp6')),
];

async function readTable(path: string): Promise<SocketRow[]> {
  const rows: SocketRow[] = [];
  const page = Buffer.allocUnsafe(pageSize);
  let begun = '';
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    for (let reads = 0; ; reads++) {
      // After each `readsPerTurn` reads of the file, wait for the next turn of the event loop. Wait before the first
      // read too, because a caller that reads the file in a loop would otherwise block the event loop.
      if (reads % readsPerTurn === 0) await new Promise((resolve) => startImmediate(resolve));
      const length = readSync(file, page);
      if (length === 0) break;
      const text = begun + page.toString('latin1', 0, length);
      const end = text.lastIndexOf('\n') + 1;
      begun = text.slice(end);
      rows.push(...parseSocketTable(text.slice(0, end), endianness()));
    }
  } catch {
    // The list of sockets stays empty if a file cannot be read. On macOS, /proc/net/tcp does not exist. Without IPv6,
    // /proc/net/tcp6 does not exist. Node's `--permission` forbids reading both files.
  } finally {
    if (file !== undefined) closeSync(file);
  }
  return rows;
}
