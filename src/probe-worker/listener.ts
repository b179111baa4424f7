// The HTTP server of the probe port. It answers one request on each connection and then closes the connection.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Answer } from '../message.ts';

// The maximum number of connections to the probe port. If one more client connects, the server destroys the oldest of
// the connections that have sent no request. If every connection has sent a request, the server destroys the oldest
// connection.
const mostConnections = 256;

// Times in milliseconds. requestLimit is the time in which a request must arrive completely. silenceLimit is how long a
// connection may be silent. lookingInterval is how often Node looks for requests that arrive too slowly. Node does this
// even if there is no connection, and wakes the probe thread each time.
const requestLimit = 5_000;
const silenceLimit = 10_000;
const lookingInterval = 2_500;

const longestHead = 8_192;

// The maximum number of pipelined requests on one connection to the probe port. A connection with more requests is
// destroyed, because its requests would delay other probes.
const mostPipelined = 100;

/**
 * createListener creates the HTTP server of the probe port. For the first request of each connection, the server calls
 * `respond`.
 */
export function createListener(respond: (url: string, method: string) => Promise<Answer>): Server {
  const options = {
    maxHeaderSize: longestHead,
    headersTimeout: requestLimit,
    requestTimeout: requestLimit,
    connectionsCheckingInterval: lookingInterval,
  };
  const sockets = new Set<Socket>();
  const asked = new WeakMap<Socket, number>();
  // Handles a request to the probe port without reading its body. The body stays in the buffers of Node and of the
  // kernel.
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    const before = asked.get(socket) ?? 0;
    asked.set(socket, before + 1);
    if (before > mostPipelined) socket.destroy();
    // The probe port serves one request for each connection. The response says `Connection: close`, so later pipelined
    // requests on the same connection get no response.
    if (before > 0) return;
    // Disable the socket's timeout while the response is pending. Each health check has its own time limit, so the
    // response is always sent in time.
    socket.setTimeout(0);
    void respond(request.url ?? '', request.method ?? '').then((answer) => {
      send(request, response, answer);
    });
  };
  const server = createServer(options, onRequest);
  // Without a listener for `checkExpectation`, Node would answer an unknown `Expect` header with 417.
  server.on('checkExpectation', onRequest);
  server.timeout = silenceLimit;
  server.on('connection', (socket) => {
    // If the probe port has too many connections, choose the connection to destroy before adding the new connection to
    // `sockets`. Otherwise, the new connection could be chosen, because it has sent no request yet.
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
