// Clients that upgrade their connection from HTTP to another protocol, and clients that never speak HTTP.
import { connect } from 'node:net';
import type { Client } from './http1-clients.ts';
import { Wire } from './wire.ts';
import { between, oneOf, pause, type Random } from './world.ts';

const handshake =
  'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n';

const echo = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n';
const tunnel = 'CONNECT localhost:1 HTTP/1.1\r\nHost: localhost:1\r\n\r\n';

/** `frame()` returns a WebSocket frame from a client. Its mask is zero, so that its payload is unchanged. */
function frame(opcode: number, payload: string): string {
  const length =
    payload.length < 126
      ? String.fromCharCode(0x80 + payload.length)
      : `\xfe${String.fromCharCode(payload.length >> 8, payload.length & 0xff)}`;
  return `${String.fromCharCode(0x80 + opcode)}${length}\0\0\0\0${payload}`;
}

interface Frame {
  readonly opcode: number;
  readonly payload: string;
  readonly end: number;
}

function parseFrame(text: string): Frame | undefined {
  if (text.length < 2) return undefined;
  const short = text.charCodeAt(1);
  const start = short < 126 ? 2 : 4;
  const length = short < 126 ? short : text.charCodeAt(2) * 256 + text.charCodeAt(3);
  if (text.length < start || text.length < start + length) return undefined;
  return { opcode: text.charCodeAt(0) & 0x0f, payload: text.slice(start, start + length), end: start + length };
}

async function chat(wire: Wire, random: Random): Promise<void> {
  while (!wire.hasEnded) {
    await pause(random, 0, 200);
    wire.send(frame(1, 'w'.repeat(between(random, 1, 60_000))));
  }
}

/**
 * A client that sends messages on a WebSocket until the server closes it. The close must have code 1001 and a complete
 * frame (P-039).
 */
const webSocket: Client = async (world, name, random) => {
  const wire = await Wire.open(world, name);
  if (wire === undefined) return;
  wire.send(handshake);
  const answer = await wire.answer([101]);
  if (wire.judge('handshake', answer) === undefined) {
    wire.close();
    return;
  }
  const talk = random() < 0.7 ? chat(wire, random) : Promise.resolve();
  for (;;) {
    const parsed = parseFrame(wire.received);
    if (parsed !== undefined) wire.received = wire.received.slice(parsed.end);
    if (parsed?.opcode === 8) {
      const code = parsed.payload.charCodeAt(0) * 256 + parsed.payload.charCodeAt(1);
      if (code !== 1_001) wire.fail(`a WebSocket was closed with ${String(code)}`);
      if (!world.isTold) wire.fail('a WebSocket was closed before the signal');
      wire.send(frame(8, parsed.payload.slice(0, 2)));
      await wire.ended();
      if (wire.received !== '') wire.fail('bytes arrived after the close frame');
      break;
    }
    if (parsed !== undefined) continue;
    if (wire.hasEnded) {
      wire.fail(`a WebSocket was closed with 1006, by ${wire.error ?? 'FIN'}`);
      break;
    }
    await wire.more();
  }
  await talk;
};

/** A client that sends data through a tunnel or an unknown protocol until the server sends a FIN. */
const tunneler: Client = async (world, name, random) => {
  const wire = await Wire.open(world, name);
  if (wire === undefined) return;
  const isTunnel = random() < 0.5;
  wire.send(isTunnel ? tunnel : echo);
  const answer = await wire.answer([101]);
  if (wire.judge('upgrade', answer) !== undefined) {
    let sent = '';
    while (!wire.hasEnded) {
      const text = 't'.repeat(between(random, 1, 5_000));
      wire.send(text);
      sent += text;
      await Promise.race([pause(random, 0, 200), wire.ended()]);
    }
    if (!world.isTold) wire.fail('a tunnel was ended before the signal');
    if (!sent.startsWith(wire.received)) wire.fail('a tunnel returned bytes that the client had not sent');
    wire.judgeEnd('a tunnel');
  }
  wire.close();
};

/**
 * A client that begins a TLS handshake and does not finish it. If the server has no TLS, the client sends bytes that
 * are not HTTP. The client must not delay the drain (P-048).
 */
const stranger: Client = async (world, _name, random) => {
  const socket = connect({ port: world.port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  socket.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00].slice(0, between(random, 0, 7))));
  socket.resume();
  await new Promise((resolve) => socket.once('close', resolve));
};

/** A client that probes readiness on its own connection, as the kubelet does. */
const prober: Client = async (world, name, random) => {
  for (;;) {
    const path = oneOf(random, ['/readyz', '/livez']);
    const wire = await Wire.open(world, name);
    if (wire === undefined) return;
    const wasRed = world.mustBeRed;
    wire.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    const answer = await wire.answer();
    if (answer === undefined) wire.judge('probe', answer);
    else if (answer.status !== 200 && !(path === '/readyz' && world.isTold))
      wire.fail(`${path} ${String(answer.status)}`);
    else if (wasRed && path === '/readyz' && answer.status === 200) wire.fail('/readyz was green');
    wire.close();
    await pause(random, 50, 300);
  }
};

export const upgradedClients: Readonly<Record<string, Client>> = { webSocket, tunneler, stranger, prober };
