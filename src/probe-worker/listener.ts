// The listener of the probe port: one answer on each connection, and no connection that stays.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Answer } from '../message.ts';

// At so many connections a new one takes the place of the oldest that has asked nothing, or of the oldest of all.
const mostConnections = 256;

// A request has so long to arrive, and a connection may do nothing for so long, in milliseconds.
const requestLimit = 5_000;
const silenceLimit = 10_000;
const lookingInterval = 500;

const longestHead = 8_192;

// Whoever pipelines more than this is cut off, since to read that would keep the next probe waiting.
const mostPipelined = 100;

/** createListener makes the server. It asks `respond` once on each connection. */
export function createListener(respond: (url: string, method: string) => Promise<Answer>): Server {
  const options = {
    maxHeaderSize: longestHead,
    headersTimeout: requestLimit,
    requestTimeout: requestLimit,
    connectionsCheckingInterval: lookingInterval,
  };
  const sockets = new Set<Socket>();
  const asked = new WeakMap<Socket, number>();
  // A body is not read: beyond what Node keeps of it, it stays where it is.
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    const before = asked.get(socket) ?? 0;
    asked.set(socket, before + 1);
    if (before > mostPipelined) socket.destroy();
    // What is pipelined behind the first request comes too late: its answer says close.
    if (before > 0) return;
    // It is the checks that decide how long an answer takes.
    socket.setTimeout(0);
    void respond(request.url ?? '', request.method ?? '').then((answer) => {
      send(request, response, answer);
    });
  };
  const server = createServer(options, onRequest);
  // Whatever else is expected, an answer is what a probe gets, and the only one.
  server.on('checkExpectation', onRequest);
  server.timeout = silenceLimit;
  server.on('connection', (socket) => {
    // Before it is one of them itself, and has asked nothing yet.
    if (sockets.size >= mostConnections) oldestOf(sockets, asked)?.destroy();
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  return server;
}

function oldestOf(sockets: ReadonlySet<Socket>, asked: WeakMap<Socket, number>): Socket | undefined {
  const [oldest] = sockets;
  return [...sockets].find((socket) => !asked.has(socket)) ?? oldest;
}

function send(request: IncomingMessage, response: ServerResponse, { status, headers, body }: Answer): void {
  if (request.socket.destroyed) return;
  request.socket.setTimeout(silenceLimit);
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body), Connection: 'close' });
  response.end(body);
}
