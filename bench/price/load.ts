// A load generator for one server. On each of its keep-alive connections, it sends the next request as soon as the
// previous response has arrived.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

/**
 * The class Load sends requests to one server. It gets the length of a response in advance and only counts the received
 * bytes, so that it uses little CPU time.
 */
export class Load implements Disposable {
  readonly #sockets: Socket[] = [];
  readonly #received: number[] = [];
  readonly #length: number;
  #toSend = 0;
  #toCome = 0;
  #done: () => void = () => undefined;
  #fail: (error: Error) => void = () => undefined;

  private constructor(length: number) {
    this.#length = length;
  }

  static async open(port: number, connections: number, length: number): Promise<Load> {
    const load = new Load(length);
    for (let index = 0; index < connections; index++) {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      await once(socket, 'connect');
      load.#add(socket);
    }
    return load;
  }

  /** `run()` sends as many requests as the parameter `requests` says, and resolves when all have a response. */
  async run(requests: number): Promise<void> {
    this.#toSend = requests;
    this.#toCome = requests;
    await new Promise<void>((resolve, reject) => {
      this.#done = resolve;
      this.#fail = reject;
      for (const socket of this.#sockets) this.#send(socket);
    });
  }

  #add(socket: Socket): void {
    const index = this.#sockets.push(socket) - 1;
    this.#received.push(0);
    socket.on('data', ({ length }) => {
      const received = (this.#received[index] ?? 0) + length;
      if (received > this.#length) this.#fail(new Error(`a response of more than ${this.#length} bytes`));
      this.#received[index] = received % this.#length;
      if (received !== this.#length) return;
      this.#toCome--;
      if (this.#toCome === 0) this.#done();
      else this.#send(socket);
    });
    for (const event of ['error', 'end']) {
      socket.on(event, () => {
        this.#fail(new Error('the server ended a connection in the middle of the measurement'));
      });
    }
  }

  #send(socket: Socket): void {
    if (this.#toSend === 0) return;
    this.#toSend--;
    socket.write(request);
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
