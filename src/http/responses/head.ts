// The head of a response as it was sent, and what it says.
import type { ServerResponse } from 'node:http';
import type { Response } from '../../message.ts';
import { StreamResponse } from '../http2/stream-response.ts';

const eventStreamHeader = /^content-type:[ \t]*text\/event-stream[ \t]*(;|\r?$)/im;
// Servers of GraphQL say `none`, so that no proxy compresses their streams.
const encodedHeader = /^content-encoding:(?![ \t]*(?:identity|none)[ \t]*\r?$)/im;
const chunkedHeader = /^transfer-encoding:.*chunked/im;
const lengthHeader = /^content-length:/im;

/** headOf returns the head of a response as it was sent, which only Node's own field tells in every case. */
function headOf(response: Response): string {
  if (response instanceof StreamResponse) return response.head;
  const { _header: head } = response as unknown as { _header?: unknown };
  return typeof head === 'string' ? head : '';
}

/** isEventStream tells whether the headers of a response, once they are written, say that it is an event stream. */
export function isEventStream(response: Response): boolean {
  return response.headersSent && eventStreamHeader.test(headOf(response));
}

/** onHead calls back when the headers of a response have been written, in whatever way. */
export function onHead(response: Response, callback: (response: Response) => void): void {
  if (response instanceof StreamResponse) {
    response.onHead(callback);
    return;
  }
  const http1 = response as ServerResponse;
  const writeHead = http1.writeHead.bind(http1) as (...args: unknown[]) => ServerResponse;
  http1.writeHead = (...args: unknown[]) => {
    writeHead(...args);
    callback(response);
    return http1;
  };
}

/** hasLength tells whether a response has promised how long it will be, so that it cannot end before. */
export function hasLength(response: Response): boolean {
  return lengthHeader.test(headOf(response));
}

/** isChunked tells whether a response ends with a last chunk. */
export function isChunked(response: Response): boolean {
  return chunkedHeader.test(headOf(response));
}

/** isEncoded tells whether a response is sent in an encoding that its handler applies. */
export function isEncoded(response: Response): boolean {
  return encodedHeader.test(headOf(response));
}
