// A request that stays in flight until the test releases it. The server then sends the response.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { connect as connectSecure } from 'node:tls';

/** HeldRequest is a POST that is in flight because its body is incomplete. `release()` sends the rest of the body. */
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
   * `open()` sends a POST with `Expect: 100-continue` on a new connection, and resolves when the server has responded
   * with `100 Continue`. At the end of the test, the connection is destroyed.
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

  /** The status line and the headers of the response, or an empty string if the response has not arrived yet. */
  get head(): string {
    return this.#received.split('\r\n\r\n')[1] ?? '';
  }

  /**
   * `release()` sends the rest of the request body, and waits until the connection has ended. It resolves with the last
   * line of the response.
   */
  async release(): Promise<string | undefined> {
    this.#socket.write('.');
    return this.cut();
  }

  /**
   * `cut()` sends no more of the request, and waits until the server has ended the connection. It resolves with the
   * last line that the client has received.
   */
  async cut(): Promise<string | undefined> {
    await this.#ended;
    return this.#received.trimEnd().split('\r\n').at(-1);
  }
}
