// Waits until the peers have acknowledged every byte. In a pod, the network interface is removed with the process, and bytes
// that the kernel has not delivered are lost. A peer's FIN proves nothing: a client that half-closes sends it first.
import type { Clock } from '../../clock.ts';
import type { Connection } from '../connection.ts';
import type { ReadSocketTable } from './read-socket-table.ts';
import type { SocketRow } from './socket-table.ts';

// A peer that leaves this many retransmissions unanswered is gone. With a short round trip they take three seconds.
const mostUnanswered = 4;

interface Ports {
  readonly localPort?: number | undefined;
  readonly remotePort?: number | undefined;
}

/** Acknowledgement looks at the send queues of sockets, which the kernel keeps until the peer has acknowledged them. */
export class Acknowledgement {
  /** How many milliseconds the last call of `look` took. */
  took = 0;
  readonly #read: ReadSocketTable;
  readonly #clock: Clock;
  /** The port pairs of the sockets that are waited for. */
  readonly #awaited = new Set<number>();
  readonly #abandoned = new Set<number>();
  #rows: readonly SocketRow[] = [];

  constructor(read: ReadSocketTable, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }

  /** abandon excludes a socket whose response has been broken off. */
  abandon(socket: Ports): void {
    this.#abandoned.add(pairOf(socket));
  }

  /** missing reads the table, and returns the connections whose peers have not acknowledged everything. */
  async missing(connections: readonly Connection[]): Promise<ReadonlySet<Connection>> {
    await this.look();
    const pairs = new Set(this.#rows.map(pairOf));
    return new Set(connections.filter(({ socket }) => pairs.has(pairOf(socket))));
  }

  /**
   * begin chooses the sockets to wait for: the connections, and the orphans on these ports. Orphans that appear later are
   * not waited for, because another process may listen on the same port.
   */
  async begin(connections: Iterable<Connection>, ports: ReadonlySet<number>): Promise<void> {
    for (const { socket } of connections) this.#awaited.add(pairOf(socket));
    await this.look();
    for (const row of this.#rows) if (row.isOrphan && ports.has(row.localPort)) this.#awaited.add(pairOf(row));
    for (const pair of this.#abandoned) this.#awaited.delete(pair);
  }

  /** The sockets that are waited for and that had unacknowledged bytes, or an unacknowledged FIN, at the last look. */
  get rows(): readonly SocketRow[] {
    return this.#rows.filter((row) => this.#awaited.has(pairOf(row)));
  }

  /** look reads the kernel's table. */
  async look(): Promise<void> {
    const begun = this.#clock.now();
    const rows = await this.#read();
    this.#rows = rows.filter(({ unanswered }) => unanswered < mostUnanswered);
    this.took = this.#clock.now() - begun;
  }
}

// Addresses are left out, because one address can be written in several ways. A Unix socket has NaN, which is in no row.
function pairOf({ localPort = NaN, remotePort = NaN }: Ports): number {
  return localPort * 0x1_0000 + remotePort;
}
