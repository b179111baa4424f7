// A Chromium browser with one open page. The test controls the browser by the Chrome DevTools Protocol over a pipe.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';

interface Reply {
  readonly id?: number;
  readonly method?: string;
  readonly result?: object;
  readonly error?: { readonly message: string };
}

export class Chromium {
  readonly #child: ChildProcess;
  readonly #profile: string;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #session: string | undefined;
  #lastId = 0;

  /** `start()` starts the browser that the variable CHROMIUM names, or `chromium`. */
  static async start(): Promise<Chromium> {
    const browser = new Chromium();
    const { targetId } = (await browser.send('Target.createTarget', { url: 'about:blank' })) as { targetId: string };
    const attached = await browser.send('Target.attachToTarget', { targetId, flatten: true });
    browser.#session = (attached as { sessionId: string }).sessionId;
    return browser;
  }

  private constructor() {
    this.#profile = mkdtempSync(join(tmpdir(), 'chromium-'));
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--remote-debugging-pipe'];
    this.#child = spawn(process.env['CHROMIUM'] ?? 'chromium', [...flags, `--user-data-dir=${this.#profile}`], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    });
    let rest = '';
    (this.#child.stdio[4] as Duplex).setEncoding('utf8').on('data', (text: string) => {
      const messages = (rest + text).split('\0');
      rest = messages.pop() ?? '';
      for (const message of messages) this.#receive(JSON.parse(message) as Reply);
    });
  }

  /** `send()` sends a command to the browser and resolves with its result. */
  async send(method: string, params: object = {}): Promise<object> {
    const id = ++this.#lastId;
    const message = { id, method, params, ...(this.#session !== undefined && { sessionId: this.#session }) };
    const { promise, resolve } = Promise.withResolvers<Reply>();
    this.#waiting.set(id, resolve);
    (this.#child.stdio[3] as Duplex).write(`${JSON.stringify(message)}\0`);
    const { result, error } = await promise;
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result ?? {};
  }

  /** `show()` shows the given HTML in the browser's page. */
  async show(html: string): Promise<void> {
    const { frameTree } = (await this.send('Page.getFrameTree')) as { frameTree: { frame: { id: string } } };
    await this.send('Page.setDocumentContent', { frameId: frameTree.frame.id, html });
  }

  /** `evaluate()` runs a JavaScript expression in the browser's page, and resolves with its value. */
  async evaluate(expression: string): Promise<unknown> {
    const { result } = (await this.send('Runtime.evaluate', { expression, returnByValue: true })) as {
      result: { value?: unknown; description?: string };
    };
    return result.value ?? result.description;
  }

  /** `end()` ends the browser and removes its profile. */
  async end(): Promise<void> {
    this.#child.kill('SIGKILL');
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'close');
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }

  #receive(reply: Reply): void {
    if (reply.id === undefined) return;
    this.#waiting.get(reply.id)?.(reply);
    this.#waiting.delete(reply.id);
  }
}
