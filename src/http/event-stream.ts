// A stream of server-sent events: ending it between two of them, with a hint for its client.
import type { ServerResponse } from 'node:http';
import type { Response } from '../message.ts';
import { isEncoded } from './head.ts';
import { StreamResponse } from './stream-response.ts';

/** EventStream watches what a stream's handler writes from now on, so that the stream ends behind a whole event. */
export class EventStream {
  readonly #response: Response;
  readonly #isEncoded: boolean;
  /** What was written behind the last event, as far as it was seen. */
  #rest: string | undefined;
  #whenBetween: (() => void) | undefined;

  constructor(response: Response) {
    this.#response = response;
    this.#isEncoded = isEncoded(response);
    if (this.#isEncoded) return;
    const writable = (response instanceof StreamResponse ? response.stream : response) as ServerResponse;
    const write = writable.write.bind(writable) as (...args: unknown[]) => boolean;
    writable.write = ((...args: unknown[]) => {
      const isFlowing = write(...args);
      this.#note(args[0]);
      return isFlowing;
    }) as typeof writable.write;
  }

  // Comments, which keep a stream alive, are no part of an event.
  get #isBetweenEvents(): boolean {
    return this.#rest === undefined || !/^[^:\r\n]/m.test(this.#rest);
  }

  /** betweenEvents calls back once no event is half written, which is mostly now. */
  betweenEvents(callback: () => void): void {
    if (this.#isBetweenEvents) callback();
    else this.#whenBetween = callback;
  }

  /**
   * hint tells the client how many milliseconds to wait before it comes back (P-034). Where it is not known that the last
   * event is whole, no empty line follows: the client takes the hint and drops what was half written, at which the stream
   * ends now. Into what the handler encodes nothing can be put.
   */
  hint(retry: number): void {
    if (this.#isEncoded) return;
    this.#response.write(`retry: ${String(retry)}\n${this.#rest === '' ? '\n' : ''}`);
  }

  #note(chunk: unknown): void {
    const text = `${this.#rest ?? ''}${textOf(chunk)}`;
    // Of an event that is longer than this only the end is needed, and that it has begun.
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
