// A server of HTTP/2 with its lifecycle inside the test's own process, over each of Node's two APIs.
import { createSecureServer, createServer, type Http2SecureServer, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { RequestFunctions } from '../../src/http/request-functions.ts';
import type { Parts } from '../../src/parts.ts';
import type { SettingsOptions } from '../../src/settings/table.ts';
import { certificate } from '../fixtures/certificate.ts';
import { Http2Client } from './http2-client.ts';
import { manage } from './manage.ts';
import type { Scope } from './serving.ts';

interface Answer {
  respond(status: number, type?: string): void;
  write(text: string): void;
  end(text?: string): void;
}
type Listener = (path: string, answer: Answer, request: object) => void;

export interface ServeOptions extends SettingsOptions {
  readonly listener: Listener;
  readonly functions?: RequestFunctions;
  /** Called before the server listens. */
  readonly prepare?: (parts: Parts) => void;
}

// With streams, and with the compatibility API; in clear text and over TLS.
export const kinds = {
  'streams in clear text': { isSecure: false, isCompatible: false },
  'the compatibility API in clear text': { isSecure: false, isCompatible: true },
  'streams over TLS': { isSecure: true, isCompatible: false },
  'the compatibility API over TLS': { isSecure: true, isCompatible: true },
} as const;

type Kind = (typeof kinds)[keyof typeof kinds];

export async function serve(
  scope: Scope,
  { isSecure, isCompatible }: Kind,
  { listener, functions = {}, prepare, ...settings }: ServeOptions,
) {
  const server: Http2Server | Http2SecureServer = isSecure ? createSecureServer(certificate) : createServer();
  const parts: Parts = manage([server], settings, { functions });
  prepare?.(parts);
  parts.startup.begin();
  if (isCompatible) {
    server.on('request', (request, response) => {
      const answer: Answer = {
        respond: (status, type = 'text/plain') => response.writeHead(status, { 'Content-Type': type }),
        write: (text) => response.write(text),
        end: (text = '') => response.end(text),
      };
      listener(request.url, answer, request);
    });
  } else {
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
  server.listen(0, '127.0.0.1');
  await parts.handle.signals.hasBeenReady.signaled;
  const { port } = server.address() as AddressInfo;
  const clients: Http2Client[] = [];
  scope.after(async () => {
    for (const client of clients) client.session.destroy();
    await parts.handle.shutdown('end of the test', { budget: 1 });
  });
  const dial = async (): Promise<Http2Client> => {
    const client = new Http2Client(port, isSecure);
    clients.push(client);
    await client.connected();
    return client;
  };
  return { ...parts, server, port, dial };
}

/** HeldAnswer is a listener whose answer is sent when the test says so. */
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
