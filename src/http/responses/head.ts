// The head of a response as it was sent, and what it says.

const eventStreamHeader = /^content-type:[ \t]*text\/event-stream[ \t]*(;|\r?$)/im;
// Servers of GraphQL say `none`, so that no proxy compresses their streams.
const encodedHeader = /^content-encoding:(?![ \t]*(?:identity|none)[ \t]*\r?$)/im;
const chunkedHeader = /^transfer-encoding:.*chunked/im;
const lengthHeader = /^content-length:/im;

/** Head is a response by its headers as they were sent, a line each; empty before that. */
interface Head {
  readonly head: string;
}

/** isEventStream tells whether the headers of a response, once they are written, say that it is an event stream. */
export function isEventStream({ head }: Head): boolean {
  return eventStreamHeader.test(head);
}

/** hasLength tells whether a response has promised how long it will be, so that it cannot end before. */
export function hasLength({ head }: Head): boolean {
  return lengthHeader.test(head);
}

/** isChunked tells whether a response ends with a last chunk. */
export function isChunked({ head }: Head): boolean {
  return chunkedHeader.test(head);
}

/** isEncoded tells whether a response is sent in an encoding that its handler applies. */
export function isEncoded({ head }: Head): boolean {
  return encodedHeader.test(head);
}
