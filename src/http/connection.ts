// The record of one socket: what is unanswered on it, when it was last heard of, and how it leaves during a shutdown.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { closingHeaders, type GivenHeaders } from './connection-close.ts';

// How long the body of a request is still read that has been answered before its end.
const longestUpload = 5_000;

/** Connection is made at accept and carries everything that a request costs, so that a request allocates nothing. */
export class Connection {
  readonly socket: Socket;
  /** Responses not yet finished, in the order of their requests, and when each request arrived. */
  readonly responses: ServerResponse[] = [];
  readonly arrivals: number[] = [];
  /** Those of them that answer probes, which are never waited for as requests (P-078). Most connections have none. */
  #probes: Set<ServerResponse> | undefined;
  /** The drawn moment: from then on a response asks the client to leave. Infinity before the shutdown. */
  leaveAt = Infinity;
  /** Accepted after NotAcceptingNewRequest with retry-after: its requests are told to come back later. */
  isLate = false;
  /** A TCP connection on which TLS has not begun to speak: there is nothing on it that a FIN could protect. */
  isHandshake = false;
  /** Upgraded to another protocol, or a CONNECT tunnel: HTTP is over on this socket. */
  isUpgraded = false;
  /** The client has been told, by `Connection: close` or a FIN, to send nothing more; what comes is not executed. */
  isOver = false;
  /** When a peer that has ended its side was last asked whether it is gone. */
  askedAt = -Infinity;
  /** Since when nothing has been heard. */
  quietSince: number;
  #bytesRead: number;
  #endedAt: number | undefined;
  #answered: IncomingMessage | undefined;

  constructor(socket: Socket, now: number) {
    this.socket = socket;
    this.quietSince = now;
    this.#bytesRead = socket.bytesRead;
  }

  get isBusy(): boolean {
    return this.responses.length > 0;
  }

  /** Requests, without probes, that have no complete answer yet. */
  get requestsInFlight(): number {
    return this.responses.length - (this.#probes?.size ?? 0);
  }

  /** admit counts a request by its response. */
  admit(response: ServerResponse, now: number, isProbe: boolean): void {
    this.responses.push(response);
    this.arrivals.push(now);
    if (isProbe) (this.#probes ??= new Set()).add(response);
  }

  /** release takes a response off and tells what it was; undefined when its socket had closed before it. */
  release(response: ServerResponse): 'request' | 'probe' | undefined {
    const index = this.responses[0] === response ? 0 : this.responses.indexOf(response);
    if (index === -1) return undefined;
    // All but pipelined responses are alone, and `pop` costs a tenth of `shift` or `splice`: it keeps the room for the next.
    if (this.responses.length === 1) {
      this.responses.pop();
      this.arrivals.pop();
    } else {
      this.responses.splice(index, 1);
      this.arrivals.splice(index, 1);
    }
    return this.#probes?.delete(response) === true ? 'probe' : 'request';
  }

  /** releaseAll takes every response off, since the socket has closed. */
  releaseAll(): void {
    this.responses.length = 0;
    this.arrivals.length = 0;
    this.#probes = undefined;
  }

  /** requests lists the requests, without probes, that have no complete answer. */
  requests(): { readonly request: IncomingMessage; readonly arrivedAt: number }[] {
    return this.responses
      .map((response, index) => ({ response, arrivedAt: this.arrivals[index] as number }))
      .filter(({ response }) => this.#probes?.has(response) !== true)
      .map(({ response, arrivedAt }) => ({ request: response.req, arrivedAt }));
  }

  /** beginLeaving starts the silence of a connection that was there before the shutdown. */
  beginLeaving(now: number): void {
    this.quietSince = now;
    this.#bytesRead = this.socket.bytesRead;
  }

  /** hear notes when the socket was last heard of; called again and again during the shutdown. */
  hear(now: number): void {
    const { bytesRead } = this.socket;
    if (bytesRead === this.#bytesRead) return;
    this.#bytesRead = bytesRead;
    this.quietSince = now;
  }

  /**
   * closeAfter lets the response say `Connection: close` if, when its headers are written, the drawn moment has come and
   * no other response is queued behind it (P-001, P-010). It overrides what the handler says of the connection (P-016).
   */
  closeAfter(response: ServerResponse, now: () => number): void {
    const writeHead = response.writeHead.bind(response) as (status: number, ...rest: unknown[]) => ServerResponse;
    const decide = (status: number, reason?: unknown, headers?: GivenHeaders): ServerResponse => {
      const isLast = this.responses[this.responses.length - 1] === response;
      if (!isLast || now() < this.leaveAt) return writeHead(status, reason, headers);
      const hasReason = typeof reason === 'string';
      const closing = closingHeaders(response, hasReason ? headers : (headers ?? (reason as GivenHeaders)));
      if (hasReason) writeHead(status, reason, closing);
      else writeHead(status, closing);
      this.isOver = true;
      // Node would destroy the socket behind the response, and a byte still unread would turn that into a reset.
      this.socket.destroySoon = () => {
        this.#answered = response.req;
        this.end();
      };
      return response;
    };
    response.writeHead = decide;
  }

  /** end sends our FIN behind everything that is still to be sent, and goes on reading until the peer's (P-006). */
  end(): void {
    this.isOver = true;
    if (this.isHandshake) {
      this.socket.destroy();
      return;
    }
    // Node takes its own error listener off an upgraded socket; a reset in answer to our FIN is nobody's fault (P-051).
    if (this.isUpgraded) this.socket.on('error', () => undefined);
    this.socket.end();
    this.socket.resume();
  }

  /**
   * isStale tells whether the peer has had our FIN, and with it the last byte of every response, for `patience`
   * milliseconds and is not going to answer it. One that still sends the body of what was answered is no such peer: it
   * might read the answer only then, and a reset would take it away.
   */
  isStale(now: number, patience: number): boolean {
    if (!this.socket.writableFinished) return false;
    this.#endedAt ??= now;
    const isUploading = this.#answered?.complete === false && now - this.#endedAt < longestUpload;
    return now - (isUploading ? Math.max(this.#endedAt, this.quietSince) : this.#endedAt) >= patience;
  }
}
