// A lifecycle on a fake clock, without a process and without a log. It may manage real servers.
import { once } from 'node:events';
import { createServer, get, Server as HttpServer, type RequestListener } from 'node:http';
import { connect, Server as NetServer, type AddressInfo, type Socket } from 'node:net';
import type { Parts } from '../../src/parts.ts';
import type { Http1Server, Server } from '../../src/http/server.ts';
import type { ShutdownRecord } from '../../src/observer.ts';
import type { SettingsOptions } from '../../src/settings/table.ts';
import { FakeClock, settled } from './fake-clock.ts';
import { manage } from './manage.ts';
import { RecordingObserver } from './recording-observer.ts';

export interface LifecycleUnderTest extends Parts {
  readonly clock: FakeClock;
  readonly observer: RecordingObserver;
  /** One list of listening addresses for each call of the observer's `onStart()`. */
  readonly starts: (readonly string[])[];
}

export function createUnderTest(options: SettingsOptions = {}, servers: readonly Server[] = []): LifecycleUnderTest {
  const clock = new FakeClock();
  const observer = new RecordingObserver();
  const starts: (readonly string[])[] = [];
  const onStart = (addresses: readonly string[]): void => void starts.push(addresses);
  return { ...manage(servers, options, { clock, observer, onStart }), clock, observer, starts };
}

/** readyUnderTest returns a lifecycle that has become ready and has no server. */
export async function readyUnderTest(options: SettingsOptions = {}): Promise<LifecycleUnderTest> {
  const parts = createUnderTest(options);
  parts.startup.begin();
  await parts.clock.advanceUntil('HasBeenReady', parts.handle.signals.hasBeenReady.signaled);
  return parts;
}

/**
 * ServerUnderTest is a real server on a free port. At the end of an `await using` block, the server and its connections
 * are closed.
 */
export class ServerUnderTest implements AsyncDisposable {
  readonly server: Http1Server;

  constructor(listener: RequestListener = (_request, response) => response.end('served')) {
    this.server = createServer(listener);
  }

  async listen(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
  }

  /** `ask()` sends a GET on a new connection, and resolves with the response. */
  async ask(path: string): Promise<{ status: number | undefined; body: string }> {
    const { port } = this.server.address() as AddressInfo;
    const request = get({ port, host: '127.0.0.1', path, agent: false });
    const [response] = (await once(request, 'response')) as [AsyncIterable<Buffer> & { statusCode?: number }];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    return { status: response.statusCode, body: Buffer.concat(chunks).toString() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.server.listening) return;
    // Call Node's close() directly. The close() of a server with a lifecycle waits for the drain, which never ends
    // because the fake clock no longer advances.
    NetServer.prototype.close.call(this.server);
    HttpServer.prototype.closeAllConnections.call(this.server);
    await settled();
  }
}

/** neverAnswers is a request handler that never sends a response. */
export const neverAnswers = (): void => undefined;

/** withRequestInFlight returns a ready lifecycle whose server has one request that never gets a response. */
export async function withRequestInFlight(serving: ServerUnderTest): Promise<LifecycleUnderTest & { client: Socket }> {
  const parts = createUnderTest({}, [serving.server]);
  await serving.listen();
  await parts.handle.signals.hasBeenReady.signaled;
  const client = connect({ port: (serving.server.address() as AddressInfo).port, host: '127.0.0.1' });
  // Ignore the error of this client. The server resets the connection when it cuts the request of the client.
  client.on('error', () => undefined);
  const arrived = once(serving.server, 'request');
  client.write('POST /orders?id=7 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n');
  await arrived;
  return { ...parts, client };
}

/** recordOf advances the fake clock until the shutdown has ended, and resolves with the shutdown record. */
export function recordOf({ clock, handle }: LifecycleUnderTest): Promise<ShutdownRecord> {
  return clock.advanceUntil('the end of the shutdown', handle.ended);
}
