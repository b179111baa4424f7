// Serves the probe port on the main thread if there is no probe thread. Such a probe port cannot answer while the event
// loop is blocked.
import type { Server } from 'node:http';
import { addressText } from '../address.ts';
import { notFound } from '../health/endpoint.ts';
import { take } from '../http/server.ts';
import type { Answer } from '../message.ts';
import { createListener } from './listener.ts';

export interface MainThreadOptions {
  readonly port: number;
  /** `host` is the address to listen on. If it is undefined, the server listens on all IPv4 and IPv6 addresses. */
  readonly host: string | undefined;
  readonly answer: (url: string, method: string) => Answer | Promise<Answer> | undefined;
  readonly onListening: (address: string) => void;
  readonly onFailure: (error: Error) => void;
}

/**
 * serveOnMainThread starts a server for the probe port on the main thread, and returns the server. The server does not
 * keep the process alive.
 */
export function serveOnMainThread({ port, host, answer, onListening, onFailure }: MainThreadOptions): Server {
  const server = createListener(async (url, method) => (await answer(url, method)) ?? notFound);
  // Mark the server of the probe port as a server that already belongs to lameduck. `lameduck/register` then does not
  // create a lifecycle for it.
  take(server);
  server.on('connection', (socket) => {
    socket.unref();
  });
  server.on('error', (error) => {
    // A server that listens also emits `error` if it cannot accept a connection. So treat `error` as a failure of
    // `listen()` only if the server is not listening.
    if (!server.listening) onFailure(error);
  });
  // In a worker of node:cluster, `listen()` normally makes the primary listen for the worker. With `exclusive`, the
  // worker itself listens on the probe port.
  const options = { port, exclusive: true, ...(host === undefined ? {} : { host }) };
  server.listen(options, () => {
    onListening(addressText(server.address()));
  });
  return server.unref();
}
