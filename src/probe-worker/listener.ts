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

/** createListener makes the server. It asks `respond` once on each connection. */
export function createListener(respond: (url: string, method: string) => Promise<Answer>): Server {
  const options = {
    maxHeaderSize: longestHead,
    headersTimeout: requestLimit,
    requestTimeout: requestLimit,
    connectionsCheckingInterval: lookingInterval,
  };
  const sockets = new Set<Socket>();
  const asking = new WeakSet<Socket>();
  const server = createServer(options, (request, response) => {
    request.resume();
    // What is pipelined behind the first request comes too late: its answer says close.
    if (asking.has(request.socket)) return;
    asking.add(request.socket);
    void respond(request.url ?? '', request.method ?? '').then((answer) => {
      send(request, response, answer);
    });
  });
  server.timeout = silenceLimit;
  server.on('connection', (socket) => {
    // Before it is one of them itself, and has asked nothing yet.
    if (sockets.size >= mostConnections) oldestOf(sockets, asking)?.destroy();
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  return server;
}

function oldestOf(sockets: ReadonlySet<Socket>, asking: WeakSet<Socket>): Socket | undefined {
  const [oldest] = sockets;
  return [...sockets].find((socket) => !asking.has(socket)) ?? oldest;
}

function send(request: IncomingMessage, response: ServerResponse, { status, headers, body }: Answer): void {
  if (request.socket.destroyed) return;
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body), Connection: 'close' });
  response.end(body);
}
