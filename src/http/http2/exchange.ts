// A request of HTTP/2: one stream, and who ends it.
import type { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import { given, type Response } from '../../message.ts';
import type { Connection } from '../connection.ts';
import { noted, type HttpExchange, type State } from '../exchange.ts';
import { isDestroyedHere, isOfPeer } from '../in-flight/aborted.ts';
import { answerRetryAfter } from '../responses/rejection.ts';
import { StreamResponse, type StreamRequest } from './stream-response.ts';

type Event = [name: string | symbol, ...args: unknown[]];

/** Http2Exchange is a request on HTTP/2. Its response cannot close the connection, so its session sends a GOAWAY. */
export class Http2Exchange implements HttpExchange {
  state: State = noted;
  readonly response: StreamResponse;
  readonly arrivedAt: number;
  readonly connection: Connection;
  cancelTimeout: (() => void) | undefined;
  /** The request object that the compatibility API has made for the program, if the program uses that API. */
  #compatible: object | undefined;
  #onHead: ((exchange: HttpExchange) => void) | undefined;
  /** Whether this process has ended the stream, and not its client; known from the beginning of the shutdown on. */
  #isEndedHere = false;
  /** Since when the client has been sending a body after the whole response. */
  #uploadsSince: number | undefined;

  constructor(connection: Connection, stream: ServerHttp2Stream, headers: IncomingHttpHeaders, arrivedAt: number) {
    this.connection = connection;
    this.response = new StreamResponse(stream, headers, connection.socket);
    this.arrivedAt = arrivedAt;
  }

  get request(): StreamRequest {
    return this.response.req;
  }

  get stream(): ServerHttp2Stream {
    return this.response.stream;
  }

  get head(): string {
    return this.response.head;
  }

  get isWhole(): boolean {
    return this.response.writableFinished;
  }

  // The response may have been sent while its request is still arriving.
  get hasEnded(): boolean {
    return this.response.destroyed;
  }

  get isOut(): boolean {
    return this.response.isOut;
  }

  get isAborted(): boolean {
    const { socket } = this.connection;
    if (socket.destroyed) return isDestroyedHere(socket, this.response);
    return this.#isEndedHere && !this.response.writableFinished;
  }

  get writable(): ServerHttp2Stream {
    return this.stream;
  }

  /** noteCompatible is called when the compatibility API has made a request and a response of the stream. */
  noteCompatible(request: object, response: object): void {
    this.#compatible = response;
    this.request[given] = request;
  }

  onEnd(callback: (this: Response) => void): void {
    this.stream.on('close', () => {
      callback.call(this.response);
    });
  }

  onHead(callback: (exchange: HttpExchange) => void): void {
    const isPatched = this.#onHead !== undefined;
    this.#onHead = callback;
    const { stream } = this;
    if (isPatched || stream.headersSent) return;
    const respond = stream.respond.bind(stream);
    stream.respond = (...args) => {
      respond(...args);
      this.#onHead?.(this);
    };
  }

  /** beginLeaving notes whether this process ends the stream. Afterwards, nothing tells that from a reset by the client. */
  beginLeaving(): void {
    const { stream } = this;
    for (const name of ['close', 'destroy'] as const) {
      const end = stream[name].bind(stream) as (...args: unknown[]) => void;
      // Node closes the stream of a client that has reset it before it destroys the stream.
      const noting = (...args: unknown[]): unknown => {
        if (!stream.closed && !isOfPeer(args[0])) this.#isEndedHere = true;
        return end(...args);
      };
      Object.assign(stream, { [name]: noting });
    }
  }

  // Node emits `end` of an empty body even if no handler reads the stream, and emits `trailers` only once. Both events are
  // deferred until the request goes on.
  hold(): () => boolean {
    this.response.ignoreErrors();
    const { stream } = this;
    const deferred: Event[] = [];
    const emit = stream.emit.bind(stream) as (...event: Event) => boolean;
    stream.emit = (...event: Event) => {
      if (event[0] !== 'end' && event[0] !== 'trailers') return emit(...event);
      deferred.push(event);
      return false;
    };
    return () => {
      Reflect.deleteProperty(stream, 'emit');
      // After the synchronous code of the caller, which adds the handler's listeners.
      for (const event of deferred) process.nextTick(() => stream.emit(...(event as Parameters<typeof stream.emit>)));
      return !this.connection.socket.destroyed && !stream.closed;
    };
  }

  refuse(): void {
    answerRetryAfter(this.request, this.response);
    this.connection.end();
  }

  breakOff(): void {
    this.response.destroy();
  }

  takeOver(): readonly EventEmitter[] {
    this.response.ignoreErrors();
    return this.#compatible === undefined ? [this.stream] : [this.stream, this.#compatible as EventEmitter];
  }

  stopReading(): boolean {
    this.response.stopReading();
    return this.stream.destroyed;
  }

  /** endUpload ends a body that goes on for too long, in milliseconds, after the whole response. */
  endUpload(now: number, longest: number): void {
    this.response.endIfGivenUp();
    if (this.request.complete || !this.isOut) return;
    this.#uploadsSince ??= now;
    // If the stream has closed, the handler has the same time once more to read what has arrived.
    if (now - this.#uploadsSince >= (this.stream.closed ? 2 : 1) * longest) this.response.stopReading();
  }
}
