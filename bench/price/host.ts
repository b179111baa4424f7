// The measured process. It runs a bare server, which uses no shutdown package, and a server with one of the shutdown
// packages that the benchmark compares. The process can also call the handlers of either server without a network, by
// emitting `request` events.
import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { implementations, type Install } from '../implementations.ts';
import { parts } from './parts.ts';

/**
 * Question is a message to the measured process, which runs this module. The measured process answers with a CPU time
 * in microseconds.
 */
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

// While isDirect is true, `direct()` emits `request` events, and the handler of both servers does nothing. The
// difference in CPU time between the servers is then almost only that of the shutdown package.
let isDirect = false;

function installOf(name: string): Install | undefined {
  return name.startsWith('part:') ? parts[name.slice('part:'.length)]?.install : implementations[name];
}

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
 * `direct()` emits the event `request` of a server without any HTTP message. It then emits `finish` and `close` on the
 * response, as Node does. The requests have the sockets of connections that the load generator has opened. Each
 * response is a new object, as in Node, because a shutdown package may add listeners to it.
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
  // Node adds a `finish` listener to each response over HTTP. `direct()` adds this empty listener to its responses, so
  // that they cause the same work as responses over HTTP.
}

const driven: Record<Side, Driven> = {
  bare: await start(),
  other: await start(installOf(process.argv[2] ?? '')),
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
