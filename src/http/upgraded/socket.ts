// The record of a socket that has left HTTP, by an upgrade or as a CONNECT tunnel, and how it is brought to its end.
import type { Duplex } from 'node:stream';
import type { Request } from '../../message.ts';
import { Connection } from '../connection.ts';
import { noted, type Ending, type Exchange } from '../exchange.ts';
import { abortRequest, hasAbortSignal } from '../in-flight/request-signal.ts';
import { dropWrites } from '../responses/instead.ts';
import { refuseUpgrade } from '../responses/rejection.ts';
import { sayGoingAway, webSocketOn, type WebSocket } from './websocket.ts';

/** Upgraded is a Connection that no longer speaks HTTP; lameduck knows nothing of what is said on it. */
export class Upgraded extends Connection {
  override readonly isUpgraded = true;
  override readonly upgraded: Exchange;
  /** What the program was given: the socket, or what Node has put around it. */
  readonly #duplex: Duplex;
  readonly #writtenBefore: number;
  #isToEnd = false;
  #isOverdue = false;
  #webSocket: WebSocket | undefined;
  #saidAt: number | undefined;

  constructor(before: Connection, request: Request, duplex: Duplex, now: number) {
    super(before.socket, now);
    this.isLate = before.isLate;
    this.inherit(before);
    this.upgraded = {
      state: noted,
      request,
      arrivedAt: now,
      isWhole: false,
      onEnd: (callback) => before.socket.once('close', callback),
    };
    this.#duplex = duplex;
    this.#writtenBefore = before.socket.bytesWritten;
  }

  /** unfinished has the request for the upgrade, too: what it has become ends with its socket. */
  override unfinished(): Exchange[] {
    const unfinished = super.unfinished();
    return this.upgraded.state.is === 'released' ? unfinished : [...unfinished, this.upgraded];
  }

  /** The handler ends what it has asked the AbortSignal of; any other socket is ended for it (P-039, P-040). */
  get ending(): Ending {
    const { request } = this.upgraded;
    return {
      tell: () => {
        if (hasAbortSignal(request)) abortRequest(request, 'the server is shutting down');
        else this.#endWhenAnswered();
      },
      end: () => {
        abortRequest(request, 'the server is shutting down');
        this.end();
      },
    };
  }

  override leaveToPeer(): void {
    this.#saidAt = undefined;
  }

  // As soon as the program has answered the request that asked for the upgrade.
  #endWhenAnswered(): void {
    this.#isToEnd = true;
    if (this.#isAnswered) this.end();
  }

  override look(now: number, isDraining: boolean): void {
    super.look(now, isDraining);
    if (this.#isToEnd && !this.isOver && this.#isAnswered) this.end();
  }

  /**
   * end closes a WebSocket with 1001 and any other socket by FIN (P-039, P-040). Whoever still waits for an answer gets
   * one. Called again, it has no more patience with a peer that goes on sending.
   */
  override end(): void {
    if (this.isOver) {
      this.#isOverdue = true;
      return;
    }
    if (!this.#isAnswered) refuseUpgrade(this.socket, this.isLate);
    const webSocket = webSocketOn(this.#duplex);
    if (webSocket === undefined || !sayGoingAway(webSocket)) this.#endSocket();
    else {
      this.isOver = true;
      this.#webSocket = webSocket;
    }
  }

  /**
   * isStale tells whether the peer has had our last word for `patience` milliseconds, and neither ends the connection nor,
   * where it does not know that it has to, says anything any more.
   */
  override isStale(now: number, patience: number): boolean {
    if (!this.#isOut && !this.#isOverdue) return false;
    this.#saidAt ??= now;
    const waitsSince = this.#webSocket === undefined && !this.#isOverdue ? this.quietSince : this.#saidAt;
    return now - Math.max(this.#saidAt, waitsSince) >= patience;
  }

  // What is no socket of the system's counts no bytes, and is left to the program to have answered.
  get #isAnswered(): boolean {
    return !(this.socket.bytesWritten <= this.#writtenBefore);
  }

  get #isOut(): boolean {
    return this.#webSocket === undefined ? this.socket.writableFinished : this.#webSocket.bufferedAmount === 0;
  }

  #endSocket(): void {
    super.end();
    // The program does not know that it has nothing more to say, and Node would break the connection off for it.
    dropWrites(this.socket);
  }
}
