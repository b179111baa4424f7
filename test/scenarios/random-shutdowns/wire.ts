// The raw connection of a client. It parses each response from the received bytes, and reports the result of each
// request.
import type { Socket } from 'node:net';
import { parseAnswer, type Answer } from './answer.ts';
import { dial, type Dialed } from './dial.ts';
import type { World } from './world.ts';

// How long a client may be silent between two requests, in milliseconds. After a longer silence, the server may close
// the connection first.
const longestSilence = 700;

export class Wire {
  readonly socket: Socket;
  readonly port: number;
  received = '';
  bytes = 0;
  error: string | undefined;
  /** True if the server has refused a request on this connection that arrived after NotAcceptingNewRequest. */
  isRefused = false;
  /** True if the server has sent `Connection: close` on the connection of this Wire. */
  saidClose = false;
  hasEnded = false;
  readonly #world: World;
  readonly #name: string;
  #touchedAt = performance.now();
  #wake: () => void = () => undefined;

  private constructor(world: World, name: string, { socket, port }: Dialed, isHalfOpen: boolean) {
    this.#world = world;
    this.#name = name;
    this.socket = socket;
    this.port = port;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.received += text;
      this.bytes += text.length;
      this.#touchedAt = performance.now();
      this.#wake();
    });
    const end = (): void => {
      this.hasEnded = true;
      // Nearly every client sends its own FIN after it has received the FIN of the server. The server waits for the
      // client's FIN.
      if (!isHalfOpen) socket.end();
      this.#wake();
    };
    socket.on('end', end);
    socket.on('close', end);
    socket.on('error', (error: NodeJS.ErrnoException) => (this.error = error.code ?? error.message));
  }

  /**
   * `open()` connects, and returns undefined if the server refuses the connection. A half-open connection can still
   * send after the server's FIN.
   */
  static async open(world: World, name: string, isHalfOpen = false): Promise<Wire | undefined> {
    const dialed = await dial(world, name, 'http/1.1', isHalfOpen);
    return dialed && new Wire(world, name, dialed, isHalfOpen);
  }

  /**
   * True if the server has announced that it will close this connection, or has begun to close it. The client must then
   * send no more requests on this connection.
   */
  get isTold(): boolean {
    return this.saidClose || this.hasEnded;
  }

  /**
   * True if the server must respond to the next request of this client. The connection must not be closing, and the
   * client must have sent or received data within the last `longestSilence` milliseconds.
   */
  get isFit(): boolean {
    return !this.isTold && performance.now() - this.#touchedAt < longestSilence;
  }

  send(text: string): void {
    if (!this.socket.writable) return;
    this.socket.write(text, 'latin1');
    this.#touchedAt = performance.now();
  }

  /** `close()` ends the connection from the client's side. */
  close(): void {
    this.socket.end();
    this.socket.resume();
  }

  /** `more()` resolves when more bytes have arrived, or when the connection has ended. */
  more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /**
   * `answer()` resolves with the next final response, or with a 1xx that is in `interim`. If the connection ends before
   * that, it resolves with undefined.
   */
  async answer(interim: readonly number[] = []): Promise<Answer | undefined> {
    for (;;) {
      const parsed = parseAnswer(this.received, this.hasEnded && this.error === undefined);
      if (parsed !== undefined) {
        this.received = this.received.slice(parsed.end);
        if (parsed.status >= 200 && parsed.isClose) this.saidClose = true;
        if (parsed.status >= 200 || interim.includes(parsed.status)) return parsed;
      } else if (this.hasEnded) return undefined;
      else await this.more();
    }
  }

  /**
   * `served()` resolves with the response to a request, if the program has sent one. Otherwise, it records a refusal, a
   * reset or a failure in the World object of this round.
   */
  async served(what: string): Promise<Answer | undefined> {
    return this.judge(what, await this.answer());
  }

  judge(what: string, answer: Answer | undefined): Answer | undefined {
    const world = this.#world;
    const where = `${this.#name}: ${what}`;
    if (answer === undefined) {
      const how = this.error ?? 'FIN';
      if (this.bytes === 0 && this.error !== undefined) world.reset(this.port, where);
      else
        world.fail(
          `${where} lost by ${how} after ${String(this.bytes)} bytes, ${String(this.received.length)} of them its own`,
        );
      return undefined;
    }
    if (answer.status === 429 || answer.status === 503) {
      this.isRefused = true;
      world.refuse(where);
      if (!/\r\nretry-after: /i.test(answer.head)) world.fail(`${where} refused without Retry-After`);
      return undefined;
    }
    world.answered++;
    return answer;
  }

  /** `ended()` resolves when the server has ended the connection. */
  async ended(): Promise<void> {
    while (!this.hasEnded) await this.more();
  }

  /** judgeEnd reports a failure if the connection was reset. The server must end this connection with a FIN. */
  judgeEnd(what: string): void {
    if (this.error !== undefined) this.#world.fail(`${this.#name}: ${what} ended by ${this.error} instead of FIN`);
  }

  fail(what: string): void {
    this.#world.fail(`${this.#name}: ${what}`);
  }
}
