// Finds the address and the port on which the main container of a rehearsed pod serves.
import { systemClock } from '../../clock.ts';
import type { Container } from './container.ts';
import type { EventLog } from './event-log.ts';
import { listenersOf, type Listener } from './processes.ts';

// The IP address of the rehearsed pod, unless the server listens only on another address. It is a loopback address,
// because everything runs on this machine.
const podHost = '127.0.0.1';

// How long the rehearsal waits, in milliseconds, for the server to listen on the expected address and port. After this
// time, the rehearsal accepts a socket on loopback. After a restart of the container, it reports a socket on another
// port.
const longestAlone = 3_000;

/**
 * ServedPort finds, among the listening sockets of the container, the one to which the clients of the rehearsal
 * connect.
 */
export class ServedPort {
  readonly #given: number | undefined;
  readonly #log: EventLog;
  readonly #main: () => Container | undefined;
  #listener: Listener | undefined;
  #isListening = false;
  #loopbackSince: number | undefined;
  // #instance is the run of the container that last listened on the port to which the clients send requests.
  #instance: Container | undefined;
  #elsewhereSince: number | undefined;
  #hasNotedOthers = false;

  /**
   * `given` is the port to which the clients send requests. If `given` is undefined, the clients use the first port on
   * which the container listens.
   */
  constructor(given: number | undefined, log: EventLog, main: () => Container | undefined) {
    this.#given = given;
    this.#log = log;
    this.#main = main;
  }

  /** host is the address to which clients connect. It is not 127.0.0.1 if the server listens only on another address. */
  get host(): string {
    return this.#listener?.address ?? podHost;
  }

  get port(): number | undefined {
    return this.#given ?? this.#listener?.port;
  }

  /**
   * `elsewhere` is empty if the container listens only on the port to which the clients send requests. Otherwise,
   * `port` is this port, and `otherPorts` lists the other ports on which the container listens.
   */
  get elsewhere(): { readonly port?: number; readonly otherPorts?: string } {
    const { port } = this;
    const others = new Set(
      this.#all()
        .map((one) => one.port)
        .filter((one) => one !== port),
    );
    return port === undefined || others.size === 0 ? {} : { port, otherPorts: [...others].join(', ') };
  }

  /**
   * `look()` examines the sockets of the container. It returns true if the container has begun to listen on the port of
   * the requests since the last call.
   */
  look(): boolean {
    const found = this.#choose(this.#all());
    if (found === undefined) {
      if (this.#isListening) this.#log.add('listenerClosed', { port: this.#listener?.port });
      this.#isListening = false;
      this.#noteElsewhere();
      return false;
    }
    this.#instance = this.#main();
    // A program may first listen on loopback for a short time, for example to check that the port is free. If the
    // program then listens on another address, the clients connect to this address.
    const isReachableNow = this.#listener?.isLoopback === true && !found.isLoopback;
    if (this.#isListening && !isReachableNow) return false;
    this.#isListening = true;
    this.#listener = found;
    const { port, isLoopback, pid } = found;
    const address = found.address === podHost ? undefined : found.address;
    this.#log.add('containerListening', { port, address, isLoopback, isMain: pid === this.#main()?.pid });
    return true;
  }

  #all(): Listener[] {
    return listenersOf(this.#main()?.pids ?? []);
  }

  // Returns the first socket of the container that clients of the pod can reach. A socket on loopback may have another
  // purpose. A loopback socket is chosen only if it has the port to which requests are sent, or if no other socket
  // appears within some seconds.
  #choose(all: readonly Listener[]): Listener | undefined {
    const known = this.#listener?.isLoopback === false ? this.#listener.port : undefined;
    const port = this.#given ?? known;
    const [first] = all
      .filter((one) => port === undefined || one.port === port)
      .sort((a, b) => Number(a.isLoopback) - Number(b.isLoopback) || a.inode - b.inode);
    if (first?.isLoopback !== true || port !== undefined) return first;
    this.#loopbackSince ??= systemClock.now();
    return systemClock.now() - this.#loopbackSince >= longestAlone ? first : undefined;
  }

  // Logs that the server listens on another port after a restart. The clients still send requests to the old port, as
  // they would through a Service, so none of the requests reaches the server.
  #noteElsewhere(): void {
    const { port, otherPorts } = this.elsewhere;
    const isRestarted = this.#instance !== undefined && this.#main() !== this.#instance;
    if (!isRestarted || otherPorts === undefined) {
      this.#elsewhereSince = undefined;
      return;
    }
    this.#elsewhereSince ??= systemClock.now();
    if (this.#hasNotedOthers || systemClock.now() - this.#elsewhereSince < longestAlone) return;
    this.#hasNotedOthers = true;
    const text = `after its restart, the server listens on port ${otherPorts} instead of port ${String(port)}`;
    this.#log.add('note', { text, port, otherPorts });
  }
}
