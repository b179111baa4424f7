// Ends a stream of server-sent events between two events, with a `retry:` for its client.
import type { HttpExchange } from '../exchange.ts';
import { isEncoded } from '../responses/head.ts';
import { ignoreResets } from '../responses/socket-errors.ts';

/** EventStream reads what the handler of a stream writes from now on, so that the stream ends after a whole event. */
export class EventStream {
  readonly #exchange: HttpExchange;
  readonly #isEncoded: boolean;
  /** The text that was written after the last whole event; undefined if the handler has written nothing yet. */
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

  // A comment, which keeps a stream alive, is not part of an event.
  get #isBetweenEvents(): boolean {
    return this.#rest === undefined || !/^[^:\r\n]/m.test(this.#rest);
  }

  /** betweenEvents calls back as soon as no event is half written, in most cases at once. */
  betweenEvents(callback: () => void): void {
    if (this.#isBetweenEvents) callback();
    else this.#whenBetween = callback;
  }

  /**
   * hint tells the client how many milliseconds to wait before it reconnects (P-034). The hint is followed by an empty line only
   * if the last event is known to be whole. Otherwise the client takes the hint, and drops the half event at the end of the
   * stream. A stream with a `Content-Encoding` gets no hint, because the hint would not be encoded.
   */
  hint(retry: number): void {
    if (this.#isEncoded) return;
    const { request, response } = this.#exchange;
    ignoreResets(request.socket);
    response.write(`retry: ${String(retry)}\n${this.#rest === '' ? '\n' : ''}`);
  }

  #note(chunk: unknown): void {
    const text = `${this.#rest ?? ''}${textOf(chunk)}`;
    // Keep only the end of a long event. The `x` notes that an event has begun.
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
