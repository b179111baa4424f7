// A connection that has left HTTP, by an upgrade or as a CONNECT tunnel, and how it is brought to its end.
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Request } from '../../message.ts';
import type { Connection } from '../connection.ts';
import { noted, type Ending, type Exchange, type State } from '../exchange.ts';
import { abortRequest, hasAbortSignal } from '../in-flight/request-signal.ts';
import { sendFin } from '../responses/fin.ts';
import { dropWrites } from '../responses/instead.ts';
import { refuseUpgrade } from '../responses/rejection.ts';
import { sayGoingAway, webSocketOn, type WebSocket } from './websocket.ts';

/** Upgraded is one long-running request that lasts as long as its connection; lameduck knows nothing of what is said on it. */
export class Upgraded implements Exchange {
  state: State = noted;
  readonly request: Request;
  readonly arrivedAt: number;
  readonly isWhole = false;
  readonly #connection: Connection;
  /** What the program was given: the socket, or what Node has put around it. */
  readonly #duplex: Duplex;
  readonly #writtenBefore: number;
  #isToEnd = false;
  #isOverdue = false;
  #webSocket: WebSocket | undefined;

  constructor(connection: Connection, request: Request, duplex: Duplex, now: number) {
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

  /** The handler ends what it has asked the AbortSignal of; any other socket is ended for it (P-039, P-040). */
  get ending(): Ending {
    const { request } = this;
    return {
      tell: () => {
        if (hasAbortSignal(request)) abortRequest(request, 'the server is shutting down');
        else this.#endWhenAnswered();
      },
      end: () => {
        abortRequest(request, 'the server is shutting down');
        this.#connection.end();
      },
    };
  }

  // As soon as the program has answered the request that asked for the upgrade.
  #endWhenAnswered(): void {
    this.#isToEnd = true;
    this.look();
  }

  /** look ends the connection whose turn has come, once its request has been answered; called again and again. */
  look(): void {
    if (this.#isToEnd && !this.#connection.isLeaving && this.#isAnswered) this.#connection.end();
  }

  /** close closes a WebSocket with 1001 and any other socket by FIN (P-039, P-040). Whoever still waits for an answer gets one. */
  close(): void {
    if (!this.#isAnswered) refuseUpgrade(this.#socket, this.#connection.isLate);
    const webSocket = webSocketOn(this.#duplex);
    if (webSocket !== undefined && sayGoingAway(webSocket)) {
      this.#webSocket = webSocket;
      return;
    }
    sendFin(this.#socket);
    // The program does not know that it has nothing more to say, and Node would break the connection off for it.
    dropWrites(this.#socket);
  }

  /** hurry has no more patience with a peer that goes on sending. */
  hurry(): void {
    this.#isOverdue = true;
  }

  /** Whether the last byte for the peer has been sent, or there is no time left to send it. */
  get isSaid(): boolean {
    if (this.#isOverdue) return true;
    return this.#webSocket === undefined ? this.#socket.writableFinished : this.#webSocket.bufferedAmount === 0;
  }

  /** Whether the peer may go on sending, because it does not know that the connection has to end. */
  get mayGoOn(): boolean {
    return this.#webSocket === undefined && !this.#isOverdue;
  }

  // What is no socket of the system's counts no bytes, and is left to the program to have answered.
  get #isAnswered(): boolean {
    return !(this.#socket.bytesWritten <= this.#writtenBefore);
  }
}
