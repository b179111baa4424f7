// Calls the API server through `kubectl proxy`, so that a test with many watches and logs does not need one process for
// each.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, get, type ClientRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { start } from '../../support/command-line.ts';

/** Api sends requests to `kubectl proxy` through a unix socket in a temporary folder. */
export class Api {
  readonly #proxy: ChildProcess;
  readonly #folder: string;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #requests = new Set<ClientRequest>();

  static async start(kubectl: string): Promise<Api> {
    const folder = await mkdtemp(join(tmpdir(), 'api-'));
    const proxy = start(kubectl, ['proxy', `--unix-socket=${join(folder, 'socket')}`]);
    proxy.stderr.pipe(process.stderr);
    await Promise.race([
      once(proxy.stdout, 'data'),
      once(proxy, 'close').then(() => {
        throw new Error('kubectl proxy has ended');
      }),
    ]);
    return new Api(proxy, folder);
  }

  private constructor(proxy: ChildProcess, folder: string) {
    this.#proxy = proxy;
    this.#folder = folder;
  }

  /** Resolves with the body of a response with status 200, and with undefined in all other cases. */
  async get(path: string): Promise<string | undefined> {
    const response = await this.#ask(path, AbortSignal.timeout(2000)).catch(() => undefined);
    const body = response && (await text(response).catch(() => undefined));
    return response?.statusCode === 200 ? body : undefined;
  }

  /** Sends a watch or log request. The caller reads the response line by line, until the response ends. */
  async follow(path: string): Promise<Interface> {
    const response = await this.#ask(path);
    if (response.statusCode !== 200) throw new Error(`${path}: ${await text(response)}`);
    // Ignore a read error in this listener. The loop in which the caller reads the lines throws the same error.
    return createInterface({ input: response }).on('error', () => undefined);
  }

  async stop(): Promise<void> {
    for (const request of this.#requests) request.destroy();
    this.#agent.destroy();
    this.#proxy.kill();
    await rm(this.#folder, { recursive: true });
  }

  async #ask(path: string, signal?: AbortSignal): Promise<IncomingMessage> {
    const options = { socketPath: join(this.#folder, 'socket'), path, agent: this.#agent, ...(signal && { signal }) };
    const request = get(options);
    this.#requests.add(request);
    request.on('error', () => undefined).once('close', () => this.#requests.delete(request));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.on('error', () => undefined);
    return response;
  }
}
