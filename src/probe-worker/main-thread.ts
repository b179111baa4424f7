// The probe port without its thread: the main thread serves it, and cannot answer while the event loop is blocked.
import type { Server } from 'node:http';
import { addressText } from '../address.ts';
import { notFound } from '../health/endpoint.ts';
import { take } from '../http/server.ts';
import type { Answer } from '../message.ts';
import { createListener } from './listener.ts';

/** MainThreadOptions is the address of the probe port, and the functions that it calls. */
export interface MainThreadOptions {
  readonly port: number;
  /** Undefined is every address of both families. */
  readonly host: string | undefined;
  readonly answer: (url: string, method: string) => Answer | Promise<Answer> | undefined;
  readonly onListening: (address: string) => void;
  readonly onFailure: (error: Error) => void;
}

/** serveOnMainThread begins to listen. The returned server does not keep the process alive. */
export function serveOnMainThread({ port, host, answer, onListening, onFailure }: MainThreadOptions): Server {
  const server = createListener(async (url, method) => (await answer(url, method)) ?? notFound);
  // Otherwise `lameduck/register` would give it a lifecycle.
  take(server);
  server.on('connection', (socket) => {
    socket.unref();
  });
  server.on('error', (error) => {
    // A failed accept is also an error, after which the server still listens.
    if (!server.listening) onFailure(error);
  });
  // `exclusive` for a worker of node:cluster, whose primary would otherwise listen in its place.
  const options = { port, exclusive: true, ...(host === undefined ? {} : { host }) };
  server.listen(options, () => {
    onListening(addressText(server.address()));
  });
  return server.unref();
}
