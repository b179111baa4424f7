// Waits until the peers have acknowledged every byte that the server has sent. In a pod, the network interface is
// removed with the process, and bytes that the kernel has not delivered are lost. A FIN of the peer is no
// acknowledgement, because a client that half-closes sends its FIN first.
import type { Clock } from '../../clock.ts';
import type { Connection } from '../connection.ts';
import type { ReadSocketTable } from './read-socket-table.ts';
import type { SocketRow } from './socket-table.ts';

// The number of unanswered TCP retransmissions after which a peer counts as gone. With a short round trip, four
// retransmissions take three seconds.
const mostUnanswered = 4;

interface Ports {
  readonly localPort?: number | undefined;
  readonly remotePort?: number | undefined;
}

/**
 * Acknowledgement checks the kernel's send queues of sockets. In a send queue, the kernel keeps sent bytes until the
 * peer has acknowledged them.
 */
export class Acknowledgement {
  /** `took` is how long the last call of `look()` took, in milliseconds. */
  took = 0;
  readonly #read: ReadSocketTable;
  readonly #clock: Clock;
  /**
   * #awaited identifies the sockets whose peers must still acknowledge bytes or a FIN. Each entry combines the local
   * and the remote port of a socket.
   */
  readonly #awaited = new Set<number>();
  readonly #abandoned = new Set<number>();
  #rows: readonly SocketRow[] = [];

  constructor(read: ReadSocketTable, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }

  /**
   * `abandon()` excludes a socket whose response was truncated. The drain then does not wait until the peer of this
   * socket has acknowledged all bytes.
   */
  abandon(socket: Ports): void {
    this.#abandoned.add(pairOf(socket));
  }

  /**
   * `missing()` returns the connections whose peers have not yet acknowledged every byte and the FIN. It reads the
   * kernel's table of sockets.
   */
  async missing(connections: readonly Connection[]): Promise<ReadonlySet<Connection>> {
    await this.look();
    const pairs = new Set(this.#rows.map(pairOf));
    return new Set(connections.filter(({ socket }) => pairs.has(pairOf(socket))));
  }

  /**
   * `begin()` chooses the sockets for whose acknowledgements the drain waits. These are the sockets of `connections`,
   * and all sockets without an owning process whose local port is in `ports`. `begin()` ignores sockets that get such a
   * port later, because they may belong to another process.
   */
  async begin(connections: Iterable<Connection>, ports: ReadonlySet<number>): Promise<void> {
    for (const { socket } of connections) this.#awaited.add(pairOf(socket));
    await this.look();
    for (const row of this.#rows) if (row.isOrphan && ports.has(row.localPort)) this.#awaited.add(pairOf(row));
    for (const pair of this.#abandoned) this.#awaited.delete(pair);
  }

  /**
   * `rows` lists the sockets for which the drain waits, because their peers have not acknowledged all bytes or the FIN.
   * The last call of `look()` has read them from the kernel's table of sockets.
   */
  get rows(): readonly SocketRow[] {
    return this.#rows.filter((row) => this.#awaited.has(pairOf(row)));
  }

  /** `look()` reads the kernel's table of sockets and updates `rows`. */
  async look(): Promise<void> {
    const begun = this.#clock.now();
    const rows = await this.#read();
    this.#rows = rows.filter(({ unanswered }) => unanswered < mostUnanswered);
    this.took = this.#clock.now() - begun;
  }
}

// Identifies a socket by its local and its remote port. The addresses are left out, because one address can be written
// in several ways. The result is NaN for a Unix socket, and for a socket whose ports throw an error when they are read.
// NaN matches no row, so the drain does not wait for that socket.
function pairOf(ports: Ports): number {
  try {
    const { localPort = NaN, remotePort = NaN } = ports;
    return localPort * 0x1_0000 + remotePort;
  } catch {
    return NaN;
  }
}
