// Reads the headers of a response as they were sent.

const eventStreamHeader = /^content-type:[ \t]*text\/event-stream[ \t]*(;|\r?$)/im;
// Matches a `Content-Encoding` header whose encoding changes the body. It does not match `identity` or `none`. GraphQL
// servers send `none` so that no proxy compresses their event streams.
const encodedHeader = /^content-encoding:(?![ \t]*(?:identity|none)[ \t]*\r?$)/im;
const chunkedHeader = /^transfer-encoding:.*chunked/im;
const lengthHeader = /^content-length:/im;

/**
 * Head contains the sent headers of a response as text. `head` has one header per line, and is empty before the headers
 * are sent.
 */
interface Head {
  readonly head: string;
}

/** isEventStream tells from the response headers that have been sent whether a response is an event stream. */
export function isEventStream({ head }: Head): boolean {
  return eventStreamHeader.test(head);
}

/** hasLength tells whether a response has a `Content-Length`, which forbids a shorter body. */
export function hasLength({ head }: Head): boolean {
  return lengthHeader.test(head);
}

/** isChunked tells whether a response uses chunked encoding, in which a last chunk marks the end. */
export function isChunked({ head }: Head): boolean {
  return chunkedHeader.test(head);
}

/** isEncoded tells whether the handler encodes the body of a response, for example by compression. */
export function isEncoded({ head }: Head): boolean {
  return encodedHeader.test(head);
}
