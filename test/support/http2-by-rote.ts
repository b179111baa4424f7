// A peer that sends prepared HTTP/2 frames, including frames that no library would send.
import { createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectSecure } from 'node:tls';

const kinds = { data: 0, headers: 1, reset: 3, settings: 4, goaway: 7, window: 8, continuation: 9 } as const;

/** `frame()` returns one HTTP/2 frame. By default, the frame has the stream ID 1. */
export function frame(kind: keyof typeof kinds, payload: Iterable<number>, { flags = 0, id = 1 } = {}): Buffer {
  const bytes = Buffer.from([...payload]);
  return Buffer.concat([Buffer.from([...uint32(bytes.length).slice(1), kinds[kind], flags, ...uint32(id)]), bytes]);
}

/** `uint32()` returns the bytes of a number in network order. */
export function uint32(value: number): number[] {
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff);
}

/** `preface` contains the bytes that an HTTP/2 client must send first on a connection. */
export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** `question` is the header block of a test request, `GET http://a/`, encoded with HPACK. */
export const question = [0x82, 0x86, 0x84, 0x01, 0x01, 0x61];

/**
 * `settings` is an empty SETTINGS frame. An HTTP/2 client and an HTTP/2 server must each send a SETTINGS frame first.
 */
export const settings = frame('settings', [], { id: 0 });
const acknowledged = frame('settings', [], { flags: 1, id: 0 });
// An empty gRPC message, which is the request of a health check.
const calls = [0, 1].map((flags) => frame('data', Buffer.alloc(5), { flags }));

/** `secured()` returns a TLS connection on the socket. The connection offers only HTTP/2 as its protocol. */
export function secured(socket: Duplex): Duplex {
  return connectSecure({ socket, ALPNProtocols: ['h2'], rejectUnauthorized: false });
}

/**
 * `peer()` is a server that sends the given frames after the client's gRPC call has arrived. It calls `then` when the
 * client has acknowledged the server's SETTINGS frame.
 */
export function peer(frames: readonly Buffer[], then: (socket: Socket) => unknown = () => undefined): Server {
  return createServer((socket) => {
    let said = Buffer.alloc(0);
    let hasAnswered = false;
    socket.on('data', (chunk: Buffer) => {
      said = Buffer.concat([said, chunk]);
      if (said.includes(acknowledged)) then(socket);
      if (hasAnswered || !calls.some((call) => said.includes(call))) return;
      hasAnswered = true;
      socket.write(Buffer.concat(frames));
    });
  });
}
