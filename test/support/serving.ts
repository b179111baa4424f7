// Starts a server with a lifecycle in the process of the test. The server uses real sockets and real time, and no
// process signals.
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { describe } from 'node:test';
import { connect as connectSecure } from 'node:tls';
import { systemClock, type Clock } from '../../src/clock.ts';
import type { Parts } from '../../src/parts.ts';
import type { RequestFunctions } from '../../src/http/in-flight/request-functions.ts';
import type { Http1Server, Server } from '../../src/http/server.ts';
import type { AuditLog, Observer, ShutdownRecord, UnfinishedRequest } from '../../src/observer.ts';
import { silent } from '../../src/observers/logging.ts';
import type { MetricsRegistry } from '../../src/observers/metrics/registry.ts';
import type { SettingsOptions } from '../../src/settings/table.ts';
import { adapterNames, adapters, isSecure, type AdapterName } from './adapters.ts';
import { ResponseReader } from './closed-loop-client.ts';
import { manage } from './manage.ts';

type Cases = (adapter: AdapterName) => void;

/**
 * describeAdapters runs the same cases on every kind of server. All kinds run at the same time, because the cases
 * mostly wait. `casesAtOnce` is how many cases of each kind run at the same time.
 */
export function describeAdapters(cases: Cases, casesAtOnce = 1): void {
  describeEach(adapterNames, cases, true, casesAtOnce);
}

/**
 * describeAdaptersInTurn runs the test cases on one kind of server after another, such as Node and then Fastify. Use it
 * for cases that block the event loop of the test's process.
 */
export function describeAdaptersInTurn(cases: Cases): void {
  describeEach(adapterNames, cases, false);
}

/** describeProbedAdapters runs the same cases on each kind of server that serves probes on its main port. */
export function describeProbedAdapters(cases: Cases): void {
  describeEach(
    adapterNames.filter((name) => noProbes(name) === false),
    cases,
    true,
  );
}

/**
 * noProbes returns the reason why tests with probes must be skipped on this kind of server, or false if they can run.
 */
export function noProbes(adapter: AdapterName): string | false {
  return adapter === 'register' && 'lameduck/register serves no probes on the main port';
}

/** describeEach runs the same cases on each named kind of server, all at the same time or one after another. */
export function describeEach<Name extends string>(
  names: readonly Name[],
  cases: (name: Name) => void,
  concurrency: boolean,
  casesAtOnce = 1,
): void {
  describe('each kind of server', { concurrency }, () => {
    for (const name of names) {
      describe(name, { concurrency: casesAtOnce }, () => {
        cases(name);
      });
    }
  });
}

/** Scope is the part of node:test's context that releases resources at the end of a test. */
export interface Scope {
  after(end: () => unknown): void;
}

export interface Serving extends Parts {
  readonly server: Http1Server;
  readonly port: number;
  /** The names of the lifecycle signals in the order in which they fired. */
  readonly signals: string[];
  readonly unfinished: UnfinishedRequest[];
  readonly warnings: string[];
  /** `dial()` opens a connection, with TLS if the server uses it. */
  dial(options?: { readonly allowHalfOpen?: boolean }): Promise<Client>;
}

/** Client is one raw connection. It sends the bytes that a test gives it, and reads one response at a time. */
export class Client {
  readonly socket: Socket;
  readonly reader: ResponseReader;
  /** `raw` is the TCP socket, even if the connection uses TLS. */
  readonly raw: Socket;

  constructor(socket: Socket, raw = socket) {
    this.socket = socket;
    this.raw = raw;
    this.reader = new ResponseReader(socket);
  }

  send(text: string): void {
    this.socket.write(text);
  }

  get(path: string, headers = ''): void {
    this.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`);
  }

  /** `reset()` ends the connection with a RST, as a crashed peer would. */
  reset(): void {
    this.raw.resetAndDestroy();
  }

  /** `ended()` resolves with the time at which the server's FIN or reset arrived. */
  async ended(): Promise<number> {
    await this.reader.ended;
    return performance.now();
  }
}

export interface ServeOptions extends SettingsOptions {
  readonly adapter?: AdapterName;
  readonly listener: RequestListener;
  readonly functions?: RequestFunctions;
  readonly registry?: MetricsRegistry;
  readonly audit?: AuditLog | undefined;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** `serve()` calls `prepare()` with the server and its lifecycle, before the server listens. */
  readonly prepare?: (server: Http1Server, parts: Parts) => void;
  /**
   * `serve()` calls `patch()` with the server, and then creates the lifecycle. `patch()` can, for example, replace a
   * method of the server.
   */
  readonly patch?: (server: Http1Server) => void;
}

/**
 * `serve()` starts a server with a lifecycle and waits until the lifecycle is ready. The shutdown of a lifecycle that
 * is not ready would skip the shutdown delay. The server and its clients are closed when the test ends.
 */
export async function serve(
  scope: Scope,
  {
    adapter = 'node:http',
    listener,
    functions = {},
    registry,
    audit,
    clock = systemClock,
    random,
    prepare,
    patch,
    ...options
  }: ServeOptions,
): Promise<Serving> {
  const server = await adapters[adapter](listener);
  patch?.(server);
  const signals: string[] = [];
  const unfinished: UnfinishedRequest[] = [];
  const warnings: string[] = [];
  const observer: Observer = {
    ...silent,
    onSignal: ({ name }) => signals.push(name),
    onUnfinished: (requests) => unfinished.push(...requests),
    onWarning: (message) => warnings.push(message),
  };
  const isUnderRegister = adapter === 'register';
  // lameduck/register adds the lifecycle to a program only after its server listens.
  if (isUnderRegister) await listen(server);
  const parts = manage([server], options, { observer, functions, registry, audit, clock, random, isUnderRegister });
  parts.startup.begin();
  prepare?.(server, parts);
  const clients: Client[] = [];
  scope.after(async () => {
    for (const client of clients) client.socket.destroy();
    await parts.handle.shutdown('end of the test', { budget: 1 });
  });
  if (!isUnderRegister) await listen(server);
  await parts.handle.signals.hasBeenReady.signaled;
  const { port } = server.address() as AddressInfo;
  return {
    ...parts,
    server,
    port,
    signals,
    unfinished,
    warnings,
    async dial({ allowHalfOpen = false } = {}) {
      const client = await clientOn(connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen }), adapter);
      clients.push(client);
      return client;
    },
  };
}

/** clientOn returns a client on a new connection, with TLS if the adapter's server uses it. */
export async function clientOn(raw: Socket, adapter: AdapterName): Promise<Client> {
  await once(raw, 'connect');
  if (!isSecure(adapter)) return new Client(raw);
  const socket = connectSecure({ socket: raw, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  return new Client(socket, raw);
}

/** `listen()` resolves when a server listens on any free port. */
export async function listen(server: Server): Promise<void> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

/**
 * shutdownOf begins the shutdown of a server. It returns the time at which the shutdown began, and a promise of the
 * shutdown record.
 */
export function shutdownOf({ handle }: Serving): { readonly since: number; readonly ended: Promise<ShutdownRecord> } {
  return { since: performance.now(), ended: handle.shutdown('test') };
}
