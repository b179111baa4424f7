// A request that the server has admitted and that stays unanswered for as long as the test wants.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { connect as connectSecure } from 'node:tls';

/** HeldRequest has been admitted when `open` resolves; its body is complete, and the answer on its way, with `release`. */
export class HeldRequest {
  readonly #socket: Socket;
  #received = '';
  readonly #ended: Promise<unknown>;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#ended = once(socket, 'close');
    socket.setEncoding('latin1').on('data', (text: string) => (this.#received += text));
    socket.on('error', () => undefined);
  }

  /** open makes a request of its own connection, which the test takes with it when it ends. */
  static async open(test: TestContext, port: number, path = '/held', isSecure = false): Promise<HeldRequest> {
    const socket = isSecure
      ? connectSecure({ port, host: '127.0.0.1', rejectUnauthorized: false })
      : connect(port, '127.0.0.1');
    test.after(() => socket.destroy());
    const request = new HeldRequest(socket);
    const headers = 'Host: localhost\r\nExpect: 100-continue\r\nContent-Length: 1\r\n';
    socket.write(`POST ${path} HTTP/1.1\r\n${headers}\r\n`);
    while (!request.#received.includes('100 Continue')) await once(socket, 'data');
    return request;
  }

  /** The head of the answer, once it has come. */
  get head(): string {
    return this.#received.split('\r\n\r\n')[1] ?? '';
  }

  /** release completes the request and resolves with the last line of its answer when the server has ended it. */
  async release(): Promise<string | undefined> {
    this.#socket.write('.');
    return this.cut();
  }

  /** cut resolves with the last line that has come when the server has ended the connection. */
  async cut(): Promise<string | undefined> {
    await this.#ended;
    return this.#received.trimEnd().split('\r\n').at(-1);
  }
}
