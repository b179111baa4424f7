// The listener of the probe port: it answers one request on each connection, and closes it.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Answer } from '../message.ts';

// The most connections. One more replaces the oldest connection without a request, or else the oldest of all.
const mostConnections = 256;

// How long a request may take to arrive, how long a connection may be silent, and how often Node checks both, in milliseconds.
const requestLimit = 5_000;
const silenceLimit = 10_000;
const lookingInterval = 500;

const longestHead = 8_192;

// The most requests pipelined on one connection. Reading more would delay other probes, so the connection is destroyed.
const mostPipelined = 100;

/** createListener makes the server. It calls `respond` once on each connection. */
export function createListener(respond: (url: string, method: string) => Promise<Answer>): Server {
  const options = {
    maxHeaderSize: longestHead,
    headersTimeout: requestLimit,
    requestTimeout: requestLimit,
    connectionsCheckingInterval: lookingInterval,
  };
  const sockets = new Set<Socket>();
  const asked = new WeakMap<Socket, number>();
  // The body of a request is never read. Node buffers its beginning, and the kernel the rest.
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    const before = asked.get(socket) ?? 0;
    asked.set(socket, before + 1);
    if (before > mostPipelined) socket.destroy();
    // Later pipelined requests get no answer: the answer to the first one says `Connection: close`.
    if (before > 0) return;
    // The limits of the checks bound the time of an answer.
    socket.setTimeout(0);
    void respond(request.url ?? '', request.method ?? '').then((answer) => {
      send(request, response, answer);
    });
  };
  const server = createServer(options, onRequest);
  // Without this listener Node would answer 417 to an unknown `Expect` header.
  server.on('checkExpectation', onRequest);
  server.timeout = silenceLimit;
  server.on('connection', (socket) => {
    // Before the new connection is in the set, since it has sent no request yet and could be chosen itself.
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
