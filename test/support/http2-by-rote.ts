// A peer that speaks HTTP/2 by rote, for what no library would say.
import { createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectSecure } from 'node:tls';

const kinds = { data: 0, headers: 1, reset: 3, settings: 4, goaway: 7, window: 8, continuation: 9 } as const;

/** frame is one frame of HTTP/2, unless told otherwise of the first call. */
export function frame(kind: keyof typeof kinds, payload: Iterable<number>, { flags = 0, id = 1 } = {}): Buffer {
  const bytes = Buffer.from([...payload]);
  return Buffer.concat([Buffer.from([...uint32(bytes.length).slice(1), kinds[kind], flags, ...uint32(id)]), bytes]);
}

/** uint32 is a number as HTTP/2 writes it. */
export function uint32(value: number): number[] {
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff);
}

/** preface is what a client says before anything else. */
export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** question is the header block of a GET of http://a/. */
export const question = [0x82, 0x86, 0x84, 0x01, 0x01, 0x61];

/** settings is what a peer says first. */
export const settings = frame('settings', [], { id: 0 });
const acknowledged = frame('settings', [], { flags: 1, id: 0 });
// A message of no bytes, as the call of a health check is.
const calls = [0, 1].map((flags) => frame('data', Buffer.alloc(5), { flags }));

/** secured is a connection on which HTTP/2 is spoken over TLS. */
export function secured(socket: Duplex): Duplex {
  return connectSecure({ socket, ALPNProtocols: ['h2'], rejectUnauthorized: false });
}

/** peer is a server that says these frames once the call has come, and goes on once its settings are known. */
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
