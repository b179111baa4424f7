// Ends a stream of server-sent events between two events. Before it ends the stream, it sends the field `retry:`, which
// tells the client when to reconnect.
import type { HttpExchange } from '../exchange.ts';
import { isEncoded } from '../responses/head.ts';
import { ignoreResets } from '../responses/socket-errors.ts';

/**
 * EventStream observes what a handler writes to an event stream. The drain can thus end the stream between two events.
 */
export class EventStream {
  readonly #exchange: HttpExchange;
  readonly #isEncoded: boolean;
  /**
   * `#rest` is the text that the handler has written after its last complete event. It is undefined if the handler has
   * written nothing yet.
   */
  #rest: string | undefined;
  #whenBetween: (() => void) | undefined;

  constructor(exchange: HttpExchange) {
    this.#exchange = exchange;
    this.#isEncoded = isEncoded(exchange);
    if (this.#isEncoded) return;
    const { writable } = exchange;
    const write = writable.write.bind(writable) as (...args: unknown[]) => boolean;
    writable.write = ((...args: unknown[]) => {
      const isFlowing = write(...args);
      this.#note(args[0]);
      return isFlowing;
    }) as typeof writable.write;
  }

  // Tells whether the handler has written every event completely. An unfinished comment, such as a keep-alive line,
  // does not count as an incomplete event.
  get #isBetweenEvents(): boolean {
    return this.#rest === undefined || !/^[^:\r\n]/m.test(this.#rest);
  }

  /**
   * betweenEvents calls `callback` at a moment at which the event stream contains no incomplete event. Usually, that is
   * at once. Otherwise, it is as soon as the handler has written the rest of its last event.
   */
  betweenEvents(callback: () => void): void {
    if (this.#isBetweenEvents) callback();
    else this.#whenBetween = callback;
  }

  /**
   * `hint()` sends `retry:`, which tells the client how many milliseconds to wait before it reconnects (P-034). If the
   * last event is known to be complete, an empty line follows. Otherwise the client still reads the hint, and discards
   * the incomplete event at the end of the stream. A stream with a `Content-Encoding` gets no hint, because the hint
   * would not be encoded.
   */
  hint(retry: number): void {
    if (this.#isEncoded) return;
    const { request, response } = this.#exchange;
    ignoreResets(request.socket);
    response.write(`retry: ${String(retry)}\n${this.#rest === '' ? '\n' : ''}`);
  }

  #note(chunk: unknown): void {
    const text = `${this.#rest ?? ''}${textOf(chunk)}`;
    // To save memory, store only the last characters of a long incomplete event. These characters may begin with a
    // colon, as a comment does. The letter `x` before them prevents `#note()` from taking the event for a comment.
    const rest = text.slice(endOfLastEvent(text));
    this.#rest = rest.length > longestRest ? `x${rest.slice(-longestRest)}` : rest;
    if (!this.#isBetweenEvents) return;
    const callback = this.#whenBetween;
    this.#whenBetween = undefined;
    callback?.();
  }
}

const longestRest = 1_024;

function textOf(chunk: unknown): string {
  if (typeof chunk === 'string') return chunk;
  return chunk instanceof Uint8Array
    ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1')
    : '';
}

function endOfLastEvent(text: string): number {
  let end = 0;
  for (const { index, 0: lines } of text.matchAll(/(?:\r\n|\r|\n){2,}/g)) end = index + lines.length;
  return end;
}
