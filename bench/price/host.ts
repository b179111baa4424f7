// The measured process. It has a bare server, a server with an implementation, and a loop that sends requests to
// either server inside the process.
import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { implementations, type Install } from '../implementations.ts';

/** Question is a request from the measuring process. Each response is a number, in microseconds of CPU time. */
export type Question =
  { readonly ask: 'usage' } | { readonly ask: 'direct'; readonly of: Side; readonly requests: number };

export const sides = ['bare', 'other'] as const;
export type Side = (typeof sides)[number];

interface Driven {
  readonly server: Server;
  readonly sockets: Socket[];
  readonly requests: IncomingMessage[];
}

function handle(_request: IncomingMessage, response: ServerResponse): void {
  if (isDirect) return;
  response.setHeader('Content-Type', 'text/plain');
  response.end('hello\n');
}

// In the direct loop the handler does nothing, so that almost only the implementation differs between the two servers.
let isDirect = false;

async function start(install?: Install): Promise<Driven> {
  const server = createServer(handle);
  await install?.(server, 0);
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, sockets, requests: [] };
}

/**
 * direct sends requests through the server's `request` event, in the same sequence of events as Node, on the sockets of
 * the load's own connections. Each response is a new object, as in Node, because listeners are added to it.
 */
function direct({ server, sockets, requests }: Driven, count: number): void {
  for (let index = requests.length; index < sockets.length; index++) {
    const request = new IncomingMessage(sockets[index] as Socket);
    request.url = '/';
    requests.push(request);
  }
  for (let index = 0; index < count; index++) {
    const request = requests[index % requests.length] as IncomingMessage;
    const response = new ServerResponse(request);
    response.assignSocket(request.socket);
    response.on('finish', onFinish);
    server.emit('request', request, response);
    response.emit('finish');
    response.detachSocket(request.socket);
    response.emit('close');
  }
}

function onFinish(): void {
  // Node also has a `finish` listener on each response.
}

const driven: Record<Side, Driven> = {
  bare: await start(),
  other: await start(implementations[process.argv[2] ?? '']),
};

process.on('message', (question: Question) => {
  if (question.ask === 'usage') {
    process.send?.(usage());
    return;
  }
  isDirect = true;
  const before = usage();
  direct(driven[question.of], question.requests);
  process.send?.(usage() - before);
  isDirect = false;
});

function usage(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

process.on('disconnect', () => {
  process.exit();
});
process.send?.(sides.map((side) => (driven[side].server.address() as AddressInfo).port));
