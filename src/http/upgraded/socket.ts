// A connection that no longer uses HTTP, after an upgrade or as a CONNECT tunnel. This file decides how the connection
// ends.
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { HttpRequest } from '../../message.ts';
import type { Connection } from '../connection.ts';
import { noted, type Ending, type Exchange, type State } from '../exchange.ts';
import { abortRequest, hasAbortSignal } from '../in-flight/request-signal.ts';
import { sendFin } from '../responses/fin.ts';
import { dropWrites } from '../responses/in-place-of-handler.ts';
import { refuseUpgrade } from '../responses/rejection.ts';
import { onFirstStatus } from './first-status.ts';
import { sayGoingAway, webSocketOn, type WebSocket } from './websocket.ts';

/**
 * Upgraded is a connection after an upgrade, whose protocol lameduck does not know. It counts as one long-running
 * request for as long as it is open.
 */
export class Upgraded implements Exchange {
  state: State = noted;
  readonly request: HttpRequest;
  readonly arrivedAt: number;
  readonly isWhole = false;
  /**
   * `head` contains the sent headers of a response. For an upgrade, it is empty, because the program writes the
   * response to the upgrade directly to the socket.
   */
  readonly head = '';
  readonly #connection: Connection;
  /**
   * `#duplex` is the socket that the program received. This may be an object with which Node has wrapped the real
   * socket.
   */
  readonly #duplex: Duplex;
  readonly #writtenBefore: number;
  #isToEnd = false;
  #isRefused = false;
  #isOverdue = false;
  #webSocket: WebSocket | undefined;

  constructor(connection: Connection, request: HttpRequest, duplex: Duplex, now: number) {
    this.#connection = connection;
    this.request = request;
    this.arrivedAt = now;
    this.#duplex = duplex;
    this.#writtenBefore = connection.socket.bytesWritten;
  }

  get #socket(): Socket {
    return this.#connection.socket;
  }

  onEnd(callback: () => void): void {
    this.#socket.once('close', callback);
  }

  /**
   * `ending` contains the functions with which the drain ends the socket of an upgrade. `begin` aborts the AbortSignal
   * of the request if the handler uses this signal, and the handler must then end the socket. Otherwise, `begin` itself
   * ends the socket (P-039, P-040). `end` always ends the socket.
   */
  get ending(): Ending {
    const { request } = this;
    return {
      begin: () => {
        if (hasAbortSignal(request)) abortRequest(request, 'the server is shutting down');
        else this.#endWhenAnswered();
      },
      end: () => {
        abortRequest(request, 'the server is shutting down');
        this.#connection.end();
      },
    };
  }

  /**
   * noteStatus is called with the status of the program's response to the upgrade request. If the program has not
   * accepted the upgrade, this is an ordinary response, whose body may follow later. The drain then lets the program
   * end the socket.
   */
  noteStatus(status: number): void {
    this.#isRefused = status >= (this.request.method === 'CONNECT' ? 300 : 200);
  }

  // Ends the connection as soon as the program has answered the upgrade request.
  #endWhenAnswered(): void {
    this.#isToEnd = true;
    if (!this.#isAnswered) onFirstStatus(this.#duplex, this.noteStatus.bind(this));
    this.look();
  }

  /**
   * The drain calls `look()` repeatedly. `look()` ends the upgraded connection if the drain must end it and the program
   * has accepted the upgrade. A refused upgrade is ended when the program has ended its response.
   */
  look(): void {
    const isOfProgram = this.#isRefused && !this.#duplex.writableEnded;
    const mayEnd = this.#isToEnd && !isOfProgram && !this.#connection.isClosing;
    if (mayEnd && this.#isAnswered) this.#connection.end();
  }

  /**
   * `close()` sends a WebSocket the close code 1001, and any other socket a FIN (P-039, P-040). If the program has not
   * answered the upgrade, `close()` first refuses the upgrade.
   */
  close(): void {
    if (!this.#isAnswered) refuseUpgrade(this.#socket, this.#connection.isLate);
    const webSocket = webSocketOn(this.#duplex);
    if (webSocket !== undefined && sayGoingAway(webSocket)) {
      this.#webSocket = webSocket;
      return;
    }
    sendFin(this.#socket);
    // After the server has sent its FIN on an upgraded socket, ignore each later write of the program. Such a write
    // would make Node destroy the connection.
    dropWrites(this.#socket);
  }

  /**
   * After a call of `hurry()`, the drain closes the socket at once. The drain then waits neither until all bytes have
   * been sent nor until the peer stops sending.
   */
  hurry(): void {
    this.#isOverdue = true;
  }

  /**
   * isAllSent tells whether all bytes for the peer have been handed to the kernel. After a call of `hurry()`, it is
   * true in any case, so that the drain does not wait for these bytes.
   */
  get isAllSent(): boolean {
    if (this.#isOverdue) return true;
    return this.#webSocket === undefined ? this.#socket.writableFinished : this.#webSocket.bufferedAmount === 0;
  }

  /**
   * mayGoOn tells whether the drain waits until the peer stops sending. For a WebSocket, it is false, because the peer
   * gets a close frame. For any other protocol, lameduck cannot tell the peer that the connection ends, so mayGoOn is
   * true until `hurry()` is called.
   */
  get mayGoOn(): boolean {
    return this.#webSocket === undefined && !this.#isOverdue;
  }

  // Tells whether the program has answered the upgrade, which the number of written bytes shows. Only TCP and Unix
  // sockets have this number. On any other socket, an upgrade always counts as answered.
  get #isAnswered(): boolean {
    return !(this.#socket.bytesWritten <= this.#writtenBefore);
  }
}
