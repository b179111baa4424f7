// A connection that has left HTTP, by an upgrade or as a CONNECT tunnel, and how it ends.
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

/** Upgraded is one long-running request that lasts as long as its connection. lameduck does not know its protocol. */
export class Upgraded implements Exchange {
  state: State = noted;
  readonly request: Request;
  readonly arrivedAt: number;
  readonly isWhole = false;
  readonly #connection: Connection;
  /** The socket that the program was given. Node may have wrapped the real socket. */
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

  /** If the handler uses the AbortSignal of the request, the handler ends the socket. Otherwise lameduck does (P-039, P-040). */
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

  // Waits until the program has answered the upgrade request.
  #endWhenAnswered(): void {
    this.#isToEnd = true;
    this.look();
  }

  /** look ends the connection after its turn has come and its request has been answered. It is called repeatedly. */
  look(): void {
    if (this.#isToEnd && !this.#connection.isLeaving && this.#isAnswered) this.#connection.end();
  }

  /** close sends a WebSocket a 1001 and any other socket a FIN (P-039, P-040). If the upgrade is unanswered, close refuses it first. */
  close(): void {
    if (!this.#isAnswered) refuseUpgrade(this.#socket, this.#connection.isLate);
    const webSocket = webSocketOn(this.#duplex);
    if (webSocket !== undefined && sayGoingAway(webSocket)) {
      this.#webSocket = webSocket;
      return;
    }
    sendFin(this.#socket);
    // The program may still write to the socket. Node would then destroy the connection.
    dropWrites(this.#socket);
  }

  /** hurry stops waiting for a peer that still sends. */
  hurry(): void {
    this.#isOverdue = true;
  }

  /** Whether the last byte for the peer has been sent, or there is no time left to send it. */
  get isSaid(): boolean {
    if (this.#isOverdue) return true;
    return this.#webSocket === undefined ? this.#socket.writableFinished : this.#webSocket.bufferedAmount === 0;
  }

  /** Whether the peer may still send, because it does not know that the connection ends. */
  get mayGoOn(): boolean {
    return this.#webSocket === undefined && !this.#isOverdue;
  }

  // If the socket is not a system socket, it counts no bytes. The upgrade then counts as answered.
  get #isAnswered(): boolean {
    return !(this.#socket.bytesWritten <= this.#writtenBefore);
  }
}
