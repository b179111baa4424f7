// The clients that send requests to each kind of server.
import type { Framework } from '../variants.ts';
import { http1 } from './http1.ts';
import { http2 } from './http2.ts';
import { webSocket } from './web-socket.ts';

/** The type Load is a load generator, which sends its requests on kept-alive connections. */
export interface Load extends Disposable {
  /** `run()` sends as many requests as the parameter `requests` says, and resolves when all have a response. */
  run(requests: number): Promise<void>;
}

/** Client opens connections to the server on a port of 127.0.0.1. */
export interface Client {
  load(port: number): Promise<Load>;
  /** `once()` opens a connection, sends one request, and resolves when the connection is closed. */
  once(port: number): Promise<void>;
  /** `idle()` opens a connection that sends no request. */
  idle(port: number): Promise<Disposable>;
}

/** `clients` holds, for each kind of server, the client that sends requests to it. */
export const clients: Readonly<Record<Framework, Client>> = {
  http: http1,
  fastify: http1,
  'http2 without TLS': http2('http'),
  'http2 over TLS': http2('https'),
  webSocket,
};

/** `concurrent` is the number of requests that a load generator keeps in flight. */
export const concurrent = 16;
