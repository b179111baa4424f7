// A server with its lifecycle inside the test's own process: real sockets, real time, no process signals.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { describe } from 'node:test';
import { connect as connectSecure } from 'node:tls';
import Fastify from 'fastify';
import { systemClock } from '../../src/clock.ts';
import { createHandle, type Parts } from '../../src/handle.ts';
import { installSeam } from '../../src/http/seam.ts';
import type { Server } from '../../src/http/server.ts';
import type { Observer, ShutdownRecord, UnfinishedRequest } from '../../src/observer.ts';
import { silent } from '../../src/observers/logging.ts';
import { completeSettings } from '../../src/settings/complete.ts';
import type { SettingsOptions } from '../../src/settings/table.ts';
import { certificate } from '../fixtures/certificate.ts';
import { ResponseReader } from './closed-loop-client.ts';

export type AdapterName = 'node:http' | 'node:https' | 'Fastify';

/** Each adapter turns a plain handler into a server that does not listen yet. */
const adapters: Readonly<Record<AdapterName, (listener: RequestListener) => Promise<Server>>> = {
  'node:http': async (listener) => createServer(listener),
  'node:https': async (listener) => createSecureServer(certificate, listener),
  Fastify: async (listener) => {
    const app = Fastify();
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, _payload, done) => {
      done(null);
    });
    app.all('/*', (request, reply) => {
      reply.hijack();
      listener(request.raw, reply.raw);
    });
    await app.ready();
    return app.server;
  },
};

/** describeAdapters runs the same cases over every kind of server, with its name in the title. */
export function describeAdapters(cases: (adapter: AdapterName) => void): void {
  for (const adapter of Object.keys(adapters) as AdapterName[]) {
    describe(adapter, () => {
      cases(adapter);
    });
  }
}

/** What ends with a test: node:test’s context, as far as it is needed. */
export interface Scope {
  after(end: () => unknown): void;
}

export interface Serving extends Parts {
  readonly server: Server;
  readonly port: number;
  /** Names of signals in the order in which they fired. */
  readonly signals: string[];
  readonly unfinished: UnfinishedRequest[];
  /** dial makes a connection, with TLS where the server speaks it. */
  dial(options?: { readonly allowHalfOpen?: boolean }): Promise<Client>;
}

/** Client is one raw connection: what is written is what goes out, what comes back is read response by response. */
export class Client {
  readonly socket: Socket;
  readonly reader: ResponseReader;
  readonly #raw: Socket;

  constructor(socket: Socket, raw = socket) {
    this.socket = socket;
    this.#raw = raw;
    this.reader = new ResponseReader(socket);
  }

  send(text: string): void {
    this.socket.write(text);
  }

  get(path: string, headers = ''): void {
    this.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`);
  }

  /** reset ends the connection with a RST, as a crashed peer would. */
  reset(): void {
    this.#raw.resetAndDestroy();
  }

  /** ended resolves with the moment at which the server's FIN or reset arrived. */
  async ended(): Promise<number> {
    await this.reader.ended;
    return performance.now();
  }
}

export interface ServeOptions extends SettingsOptions {
  readonly adapter?: AdapterName;
  readonly listener: RequestListener;
  /** Called before the server listens. */
  readonly prepare?: (server: Server, parts: Parts) => void;
  /** Called before there is a lifecycle. */
  readonly patch?: (server: Server) => void;
}

/** manage gives servers a lifecycle of their own, as `lameduck()` would, without process and log. */
export function manage(
  servers: readonly Server[],
  options: SettingsOptions = {},
  observer: Partial<Observer> = {},
): Parts {
  const { settings } = completeSettings(options, {});
  const parts = createHandle({
    servers,
    settings,
    clock: systemClock,
    observer: { ...silent, ...observer },
    onStart: () => undefined,
  });
  for (const server of servers) installSeam(server, parts.traffic);
  parts.startup.begin();
  return parts;
}

/**
 * serve starts a server and waits until it has been ready, since before that a shutdown skips the delay. The server and
 * its clients end with the test.
 */
export async function serve(
  scope: Scope,
  { adapter = 'node:http', listener, prepare, patch, ...options }: ServeOptions,
): Promise<Serving> {
  const server = await adapters[adapter](listener);
  patch?.(server);
  const signals: string[] = [];
  const unfinished: UnfinishedRequest[] = [];
  const parts = manage([server], options, {
    onSignal: ({ name }) => signals.push(name),
    onUnfinished: (requests) => unfinished.push(...requests),
  });
  prepare?.(server, parts);
  const clients: Client[] = [];
  scope.after(async () => {
    for (const client of clients) client.socket.destroy();
    await parts.handle.shutdown('end of the test', { budget: 1 });
  });
  server.listen(0, '127.0.0.1');
  await parts.handle.signals.hasBeenReady.signaled;
  const { port } = server.address() as AddressInfo;
  return {
    ...parts,
    server,
    port,
    signals,
    unfinished,
    async dial({ allowHalfOpen = false } = {}) {
      const raw = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen });
      await once(raw, 'connect');
      const socket = adapter === 'node:https' ? connectSecure({ socket: raw, rejectUnauthorized: false }) : raw;
      if (socket !== raw) await once(socket, 'secureConnect');
      const client = new Client(socket, raw);
      clients.push(client);
      return client;
    },
  };
}

/** shutdownOf begins the shutdown and gives both its record and the moment at which it began. */
export function shutdownOf({ handle }: Serving): { readonly since: number; readonly ended: Promise<ShutdownRecord> } {
  return { since: performance.now(), ended: handle.shutdown('test') };
}

/** until waits for a fact that this process brings about, turn of the event loop by turn. */
export async function until(fact: () => boolean): Promise<void> {
  while (!fact()) await new Promise((resolve) => setImmediate(resolve));
}
