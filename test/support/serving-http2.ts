// Starts an HTTP/2 server with a lifecycle in the process of the test. The server uses one of Node's two HTTP/2 APIs:
// streams, or the compatibility API.
import type { RequestListener } from 'node:http';
import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Stream,
  type Settings,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { systemClock, type Clock } from '../../src/clock.ts';
import type { RequestFunctions } from '../../src/http/in-flight/request-functions.ts';
import type { AuditLog } from '../../src/observer.ts';
import type { Parts } from '../../src/parts.ts';
import type { SettingsOptions } from '../../src/settings/table.ts';
import { certificate } from '../fixtures/certificate.ts';
import { adapters } from './adapters.ts';
import { Http2Client } from './http2-client.ts';
import { manage } from './manage.ts';
import { describeEach, listen, noProbes, type Scope } from './serving.ts';
import { until } from './until.ts';

interface Answer {
  respond(status: number, type?: string): void;
  write(text: string): void;
  end(text?: string): void;
}
type Listener = (path: string, answer: Answer, request: object) => void;

export interface ServeOptions extends SettingsOptions {
  readonly listener: Listener;
  readonly functions?: RequestFunctions;
  readonly audit?: AuditLog;
  readonly clock?: Clock;
  /** `serve()` calls `prepare()` with the created lifecycle, before the server listens. */
  readonly prepare?: (parts: Parts) => void;
}

interface Kind {
  readonly isSecure: boolean;
  /**
   * True if the server uses the compatibility API of node:http2 (the event `request`), and false if it uses the API of
   * streams (the event `stream`).
   */
  readonly isCompatible: boolean;
  readonly by?: 'Fastify' | 'register';
}

export const streamsWithoutTls: Kind = { isSecure: false, isCompatible: false };

const kinds: Readonly<Record<string, Kind>> = {
  'node:http2 without TLS, streams': streamsWithoutTls,
  'node:http2 without TLS, compatibility API': { isSecure: false, isCompatible: true },
  'node:http2 over TLS, streams': { isSecure: true, isCompatible: false },
  'node:http2 over TLS, compatibility API': { isSecure: true, isCompatible: true },
  'Fastify HTTP/2, over TLS': { isSecure: true, isCompatible: true, by: 'Fastify' },
  'register, HTTP/2 without TLS': { isSecure: false, isCompatible: true, by: 'register' },
};

type Cases = (kind: Kind) => void;

/**
 * describeKinds runs the same cases on every kind of HTTP/2 server. All kinds run in parallel, because the cases mostly
 * wait. Within each kind, `casesAtOnce` cases run in parallel.
 */
export function describeKinds(cases: Cases, casesAtOnce = 1): void {
  describeEachKind(cases, true, casesAtOnce);
}

/**
 * describeKindsInTurn runs the test cases on one kind of HTTP/2 server after another. Use it for test cases that need
 * all CPU cores of the machine.
 */
export function describeKindsInTurn(cases: Cases): void {
  describeEachKind(cases, false);
}

/**
 * noProbesOn returns the reason why tests with probes must be skipped on this kind of HTTP/2 server, or false if they
 * can run.
 */
export function noProbesOn({ by }: Kind): string | false {
  return by === 'register' && noProbes(by);
}

function describeEachKind(cases: Cases, concurrency: boolean, casesAtOnce = 1): void {
  const run = (name: string): void => {
    cases(kinds[name] as Kind);
  };
  describeEach(Object.keys(kinds), run, concurrency, casesAtOnce);
}

export async function serve(
  scope: Scope,
  { isSecure, isCompatible, by }: Kind,
  { listener, functions = {}, audit, clock = systemClock, prepare, ...settings }: ServeOptions,
) {
  const onRequest = (request: Http2ServerRequest, response: Http2ServerResponse): void => {
    const answer: Answer = {
      respond: (status, type = 'text/plain') => response.writeHead(status, { 'Content-Type': type }),
      write: (text) => response.write(text),
      end: (text = '') => response.end(text),
    };
    listener(request.url, answer, request);
  };
  const isUnderRegister = by === 'register';
  const server = by === 'Fastify' ? await fastifyServer(onRequest) : createServerOf(isSecure);
  if (isCompatible && by !== 'Fastify') server.on('request', onRequest);
  if (isUnderRegister) await listen(server);
  const parts: Parts = manage([server], settings, { clock, functions, audit, isUnderRegister });
  prepare?.(parts);
  parts.startup.begin();
  if (!isCompatible) {
    server.on('stream', (stream, headers) => {
      const answer: Answer = {
        respond: (status, type = 'text/plain') => {
          stream.respond({ ':status': status, 'content-type': type });
        },
        write: (text) => stream.write(text),
        end: (text = '') => stream.end(text),
      };
      listener(String(headers[':path']), answer, stream);
    });
  }
  if (!isUnderRegister) await listen(server);
  await parts.handle.signals.hasBeenReady.signaled;
  const { port } = server.address() as AddressInfo;
  const clients: Http2Client[] = [];
  scope.after(async () => {
    for (const client of clients) client.session.destroy();
    await parts.handle.shutdown('end of the test', { budget: 1 });
  });
  const dial = async (asked: Settings = {}): Promise<Http2Client> => {
    const client = new Http2Client(port, isSecure, asked);
    clients.push(client);
    await client.connected();
    return client;
  };
  return { ...parts, server, port, dial };
}

function createServerOf(isSecure: boolean): Http2Server | Http2SecureServer {
  return isSecure ? createSecureServer({ ...certificate, allowHTTP1: true }) : createServer();
}

async function fastifyServer(
  onRequest: (request: Http2ServerRequest, response: Http2ServerResponse) => void,
): Promise<Http2SecureServer> {
  // The casts are necessary because the adapter is typed for node:http, and the tests use node:http2.
  const server = await adapters['Fastify HTTP/2'](onRequest as unknown as RequestListener);
  return server as unknown as Http2SecureServer;
}

/**
 * streamOf returns the HTTP/2 stream of a request. With Node's compatibility API, the stream is a property of the
 * request. With Node's core API, the program gets the stream instead of a request.
 */
export function streamOf(request: object): ServerHttp2Stream {
  return (request as Partial<Http2ServerRequest>).stream ?? (request as ServerHttp2Stream);
}

/** answerBehindBody is a listener that responds after the whole body has arrived. */
export const answerBehindBody: Listener = (_, answer, request) => {
  (request as Readable).resume().on('end', () => {
    answer.respond(200);
    answer.end('read');
  });
};

/** HeldAnswer is a request listener whose response ends when the test calls `finish`. */
export class HeldAnswer {
  #finish: (() => void) | undefined;
  readonly listener: Listener;

  constructor(text: string) {
    this.listener = (_, answer) => {
      this.#finish = () => {
        answer.respond(200);
        answer.end(text);
      };
    };
  }

  get hasCome(): boolean {
    return this.#finish !== undefined;
  }

  finish(): void {
    this.#finish?.();
  }
}

/** serveHeld starts a server and a client with one request. The response is incomplete until the test finishes it. */
export async function serveHeld(scope: Scope, kind: Kind, text: string, settings: SettingsOptions = {}) {
  const held = new HeldAnswer(text);
  const serving = await serve(scope, kind, { ...settings, listener: held.listener });
  const client = await serving.dial();
  const outcome = client.request('/');
  await until(() => held.hasCome);
  return { serving, held, client, outcome };
}
