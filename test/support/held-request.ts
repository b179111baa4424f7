// A request that the server has admitted. The server sends the response after the test has released the request.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { connect as connectSecure } from 'node:tls';

/** HeldRequest is an admitted POST whose body is incomplete. `release` sends the rest of the body. */
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

  /**
   * `open()` sends a request on its own connection, and resolves when the server has admitted the request. At the end
   * of the test, the connection is destroyed.
   */
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

  /** The head of the response, or an empty string if it has not arrived yet. */
  get head(): string {
    return this.#received.split('\r\n\r\n')[1] ?? '';
  }

  /**
   * `release()` completes the request and waits until the server has ended the connection. It resolves with the last
   * line of the response.
   */
  async release(): Promise<string | undefined> {
    this.#socket.write('.');
    return this.cut();
  }

  /** `cut()` waits until the server has ended the connection. It resolves with the last line that has arrived. */
  async cut(): Promise<string | undefined> {
    await this.#ended;
    return this.#received.trimEnd().split('\r\n').at(-1);
  }
}
