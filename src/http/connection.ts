// The record of one socket: its unanswered requests, when bytes last arrived, and how it ends during a shutdown.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { closingHeaders, type GivenHeaders } from './http1/close-header.ts';
import { isHandedOver, isInBody, isInMessage } from './node-internals.ts';
import { breakOff } from './responses/instead.ts';
import { ignoreResets } from './responses/socket-errors.ts';
import type { Request, Response } from '../message.ts';

type WriteHead = (status: number, reason?: unknown, headers?: GivenHeaders) => ServerResponse;

// How long the body of an answered request is still read, in milliseconds.
const longestUpload = 5_000;

const record = Symbol('lameduck.connection');

interface Tracked {
  [record]?: Connection;
  /** Node's own note of the response that a socket sends, or waits for; as old as node:http. */
  readonly _httpMessage?: ServerResponse | null;
}

/** connectionOf returns the record of a socket, or undefined when it has none. */
export function connectionOf(socket: object | null | undefined): Connection | undefined {
  return (socket as Tracked | null | undefined)?.[record];
}

/** Leaving is when connections ask their clients to leave, from ShutdownInitiated on. */
export interface Leaving {
  readonly since: number;
  /** Each moment is drawn from this many milliseconds after `since`; 0 is at once. */
  readonly window: number;
}

/** Unfinished is one of the program's requests in flight, or an upgraded connection. */
export interface Unfinished {
  readonly request: Request;
  readonly arrivedAt: number;
  readonly response?: Response;
}

/** UnansweredRequest is one of the program's requests that has no complete answer. */
export interface UnansweredRequest extends Unfinished {
  readonly response: Response;
}

/** Connection is made at accept and carries everything that a request costs, so that a request allocates nothing. */
export class Connection {
  readonly socket: Socket;
  /** Responses not yet finished, in the order of their requests, and when each request arrived; see `list`. */
  readonly responses: Response[] = [];
  readonly arrivals: number[] = [];
  /** The responses that lameduck sends itself, such as those to probes (P-078). Most connections have none. */
  #apart: Set<Response> | undefined;
  /** The drawn moment: from then on a response asks the client to leave. Infinity before the shutdown. */
  leaveAt = Infinity;
  /** Accepted after NotAcceptingNewRequest with retry-after: its requests are answered with 429. */
  isLate = false;
  /** A TCP connection whose TLS handshake is not complete: no response on it has to be delivered before a FIN. */
  isHandshake = false;
  /** Upgraded to another protocol, or a CONNECT tunnel: HTTP is over on this socket. */
  isUpgraded = false;
  /** The client has been told, by `Connection: close` or a FIN, to send nothing more; what comes is not executed. */
  isOver = false;
  /** When the last request arrived that was only noted. */
  #notedAt = 0;
  /** When the request arrived whose response was the last to be released. */
  releasedArrival = 0;
  /** When a peer that has ended its side was last asked whether it is gone. */
  askedAt = -Infinity;
  /** Since when no bytes of a request have arrived. */
  quietSince: number;
  #bytesRead: number;
  #endedAt: number | undefined;

  constructor(socket: Socket & Tracked, now: number) {
    this.socket = socket;
    socket[record] = this;
    this.quietSince = now;
    this.#bytesRead = socket.bytesRead;
  }

  /** Whether the socket has been destroyed or sent to another process. A program can remove the listeners that report it. */
  get isGone(): boolean {
    return this.socket.destroyed || isHandedOver(this.socket);
  }

  /** hasEnded tells whether a response has ended. A program can remove the listeners that report it. */
  hasEnded(response: Response): boolean {
    return response.destroyed || response.writableFinished;
  }

  get isBusy(): boolean {
    return this.responses.length > 0;
  }

  /** How many of the program's requests have no complete answer yet, long-running or not. */
  get unansweredCount(): number {
    return this.responses.length - (this.#apart?.size ?? 0);
  }

  /** admit counts a request by its response. */
  admit(response: Response, now: number): void {
    this.responses.push(response);
    this.arrivals.push(now);
  }

  /**
   * note lets a request go on without an entry if Node has noted its response on the socket, as it does with each that has
   * no other before it. To enter a response and to listen for its end costs a request more than all the rest.
   */
  note(response: Response, now: number): boolean {
    if ((this.socket as Tracked)._httpMessage !== response) return false;
    this.#notedAt = now;
    return true;
  }

  /** list enters the response that was only noted, before those of later requests. It returns undefined if there is none. */
  list(): Response | undefined {
    const { _httpMessage: response } = this.socket as Tracked;
    if (response === undefined || response === null || response.destroyed) return undefined;
    if (this.responses.includes(response)) return undefined;
    this.responses.unshift(response);
    this.arrivals.unshift(this.#notedAt);
    return response;
  }

  /** setApart says of an admitted response that lameduck answers itself: it is never waited for as a request. */
  setApart(response: Response): void {
    (this.#apart ??= new Set()).add(response);
  }

  /** release takes a response off and tells whose it was; undefined when its socket had closed before it. */
  release(response: Response): 'program' | 'lameduck' | undefined {
    const index = this.responses[0] === response ? 0 : this.responses.indexOf(response);
    if (index === -1) return undefined;
    // All but pipelined responses are alone, and `pop` costs a tenth of `shift` or `splice`: it keeps the room for the next.
    if (this.responses.length === 1) {
      this.responses.pop();
      this.releasedArrival = this.arrivals.pop() as number;
    } else {
      this.responses.splice(index, 1);
      [this.releasedArrival] = this.arrivals.splice(index, 1) as [number];
    }
    return this.#apart?.delete(response) === true ? 'lameduck' : 'program';
  }

  /** releaseAll takes every response off, since the socket has closed. */
  releaseAll(): void {
    this.responses.length = 0;
    this.arrivals.length = 0;
    this.#apart = undefined;
  }

  /** inherit takes over the unanswered requests of another record: an upgrade may be pipelined after other requests. */
  inherit(before: Connection): void {
    this.responses.push(...before.responses);
    this.arrivals.push(...before.arrivals);
    this.#apart = before.#apart;
    before.releaseAll();
  }

  /** requests lists the program's requests that have no complete answer. */
  requests(): UnansweredRequest[] {
    return this.responses
      .map((response, index) => ({ request: response.req, response, arrivedAt: this.arrivals[index] as number }))
      .filter(({ response }) => this.#apart?.has(response) !== true);
  }

  /** unfinished lists what the program has not ended yet. */
  unfinished(): Unfinished[] {
    return this.requests();
  }

  /** responseTo returns the response to a request that has no complete answer yet. */
  responseTo(request: object): Response | undefined {
    return this.responses.find((response) => response.req === request);
  }

  /** draw draws the moment from which on the client is asked to leave, once. */
  draw({ since, window }: Leaving): void {
    this.leaveAt = since + Math.random() * window;
  }

  /** beginLeaving starts the silence of a connection that was there before the shutdown. */
  beginLeaving(now: number): void {
    this.quietSince = now;
    this.#bytesRead = this.socket.bytesRead;
  }

  /**
   * hear notes when the socket was last heard of; called again and again during the shutdown. Bytes that begin no message
   * count as silence: a server ignores line ends before a request line (RFC 9112 section 2.2). In every protocol but
   * HTTP/1.1, all bytes count.
   */
  hear(now: number): void {
    const { bytesRead } = this.socket;
    if (bytesRead === this.#bytesRead) return;
    this.#bytesRead = bytesRead;
    if (isInMessage(this.socket) !== false) this.quietSince = now;
  }

  /**
   * closeAfter lets the response say `Connection: close` if, when its headers are written, the drawn moment has come and
   * no other response is queued after it (P-001, P-010). It overrides the handler's own `Connection` header (P-016).
   */
  closeAfter(response: Response, now: () => number): void {
    const http1 = response as ServerResponse;
    const writeHead = http1.writeHead.bind(response) as WriteHead;
    const decide: WriteHead = (status, reason, headers) => {
      const isLast = this.responses[this.responses.length - 1] === response;
      if (!isLast || now() < this.leaveAt) return writeHead(status, reason, headers);
      const hasReason = typeof reason === 'string';
      const closing = closingHeaders(http1, hasReason ? headers : (headers ?? (reason as GivenHeaders)));
      if (hasReason) writeHead(status, reason, closing);
      else writeHead(status, closing);
      this.isOver = true;
      // Node would destroy the socket after the response. If a byte is unread, the kernel would then send a reset.
      this.socket.destroySoon = () => {
        this.end();
      };
      return http1;
    };
    http1.writeHead = decide;
  }

  /** leave asks the client to leave where no response can; it is called again and again during the shutdown. */
  leave(_now: number): void {
    return undefined;
  }

  /** endUploads ends bodies that clients go on sending for too long after the whole answer, each alone if that is possible. */
  endUploads(_now: number): void {
    return undefined;
  }

  /** Whether the connection ends by its silence, once it may. */
  get endsBySilence(): boolean {
    return !this.isUpgraded;
  }

  /** destroy ends the connection at once, whatever is still unanswered on it. */
  destroy(): void {
    const [response] = this.responses;
    if (response?.headersSent === true) breakOff(response);
    this.socket.destroy();
  }

  /** end sends a FIN after all bytes that are still to be sent, and goes on reading until the FIN of the peer (P-006). */
  end(): void {
    this.isOver = true;
    if (this.isHandshake) {
      this.socket.destroy();
      return;
    }
    // A reset in answer to the FIN is not an error (P-051).
    ignoreResets(this.socket);
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
    const isUploading = isInBody(this.socket) && now - this.#endedAt < longestUpload;
    return now - (isUploading ? Math.max(this.#endedAt, this.quietSince) : this.#endedAt) >= patience;
  }

  /** leaveToPeer begins the patience anew for a peer that has not acknowledged everything; no request is left to wait for. */
  leaveToPeer(): void {
    this.#endedAt = undefined;
  }
}
