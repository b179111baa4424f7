// Reads the kernel's tables of TCP sockets. With 20 000 sockets the tables are 3 MB long, so they are read and parsed
// in pieces.
import { createReadStream } from 'node:fs';
import { endianness } from 'node:os';
import { parseSocketTable, type SocketRow } from './socket-table.ts';

/**
 * ReadSocketTable resolves with the sockets that have sent bytes or a FIN without an acknowledgement. It resolves with
 * an empty list if the system does not show them.
 */
export type ReadSocketTable = () => Promise<readonly SocketRow[]>;

/** readSocketTable reads the tables of this process's network namespace on Linux. It never rejects. */
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
    // On macOS, the file does not exist. Without IPv6, the file with IPv6 sockets does not exist. Under Node's
    // `--permission`, reading the file is forbidden. The list is then empty.
  }
  return rows;
}
