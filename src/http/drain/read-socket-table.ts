// Reads the kernel's tables of TCP sockets. With 20 000 sockets they have 3 MB, so they are read and parsed piece by piece.
import { createReadStream } from 'node:fs';
import { endianness } from 'node:os';
import { parseSocketTable, type SocketRow } from './socket-table.ts';

/** ReadSocketTable resolves with the sockets whose peers have not acknowledged everything; empty where nothing tells. */
export type ReadSocketTable = () => Promise<readonly SocketRow[]>;

/** readSocketTable reads the tables of this process's network namespace, on Linux. It never rejects. */
export const readSocketTable: ReadSocketTable = async () => {
  const tables = await Promise.all(['/proc/self/net/tcp', '/proc/self/net/tcp6'].map(readTable));
  return tables.flat();
};

async function readTable(path: string): Promise<SocketRow[]> {
  const rows: SocketRow[] = [];
  let begun = '';
  try {
    for await (const piece of createReadStream(path, 'latin1') as AsyncIterable<string>) {
      const text = begun + piece;
      const end = text.lastIndexOf('\n') + 1;
      begun = text.slice(end);
      rows.push(...parseSocketTable(text.slice(0, end), endianness()));
    }
  } catch {
    // The file does not exist on macOS or without IPv6, and Node's `--permission` forbids reading it.
  }
  return rows;
}
