// The clients of the streams, in their own process. They open all streams, and report how the streams ended.
//
//   node bench/streams/clients.ts KIND PORT COUNT
import { once } from 'node:events';
import { connect as connectHttp2, constants, type ClientHttp2Session } from 'node:http2';
import { connect } from 'node:net';
import { WebSocket } from 'ws';
import { sessionsOf, type StreamKind } from './kinds.ts';

/** Ends has the number of streams that ended completely, and the time at which the last stream ended. */
export interface Ends {
  /**
   * The number of streams with a proper end: the last chunk (HTTP/1.1), END_STREAM (HTTP/2) or the close code 1001
   * (WebSocket).
   */
  readonly whole: number;
  /** The time at which the last of all streams ended for its client, in milliseconds since the epoch. */
  readonly lastAt: number;
}

const [kind, port, count] = [process.argv[2] as StreamKind, Number(process.argv[3]), Number(process.argv[4])];
const openedAtOnce = 100;
const progress = { whole: 0, ended: 0, lastAt: 0 };

function onEnd(isWhole: boolean): void {
  if (isWhole) progress.whole++;
  progress.ended++;
  progress.lastAt = performance.timeOrigin + performance.now();
  if (progress.ended < count) return;
  process.send?.({ whole: progress.whole, lastAt: progress.lastAt } satisfies Ends);
  process.disconnect();
}

/** openEventStream sends the request of an EventSource. It leaves the connection open until the server ends it. */
async function openEventStream(): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.write('GET /events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n');
  let end = '';
  let isWhole = false;
  socket.on('data', (chunk: Buffer) => {
    end = (end + chunk.toString('latin1')).slice(-7);
    if (isWhole || end !== '\r\n0\r\n\r\n') return;
    isWhole = true;
    onEnd(true);
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    if (!isWhole) onEnd(false);
  });
  await once(socket, 'data');
}

async function openSocket(): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${String(port)}/`, { perMessageDeflate: false });
  socket.on('error', () => undefined);
  socket.on('close', (code) => {
    onEnd(code === 1001);
  });
  await once(socket, 'open');
}

async function openHttp2Stream(session: ClientHttp2Session): Promise<void> {
  const stream = session.request({ ':path': '/events', accept: 'text/event-stream' });
  let hasEnded = false;
  stream.on('end', () => (hasEnded = true));
  stream.on('error', () => undefined);
  stream.on('close', () => {
    onEnd(hasEnded && stream.rstCode === constants.NGHTTP2_NO_ERROR);
  });
  await once(stream, 'data');
}

async function http2Opener(): Promise<() => Promise<void>> {
  const sessions: ClientHttp2Session[] = [];
  for (let index = 0; index < sessionsOf(count); index++) {
    const session = connectHttp2(`http://127.0.0.1:${String(port)}`);
    session.on('error', () => undefined);
    await once(session, 'remoteSettings');
    sessions.push(session);
  }
  let next = 0;
  return () => openHttp2Stream(sessions[next++ % sessions.length] as ClientHttp2Session);
}

const open = kind === 'HTTP/2 streams' ? await http2Opener() : kind === 'event streams' ? openEventStream : openSocket;
for (let opened = 0; opened < count; opened += openedAtOnce) {
  await Promise.all(Array.from({ length: Math.min(openedAtOnce, count - opened) }, open));
}
process.send?.('open');
