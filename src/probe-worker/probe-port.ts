// The probe port, seen from the main thread: it starts the probe thread, answers its questions and beats for it. Without a
// thread the main thread serves the port itself.
import type { Server } from 'node:http';
import { Worker } from 'node:worker_threads';
import { threadTime, type Clock } from '../clock.ts';
import { LameduckError, messageOf } from '../errors.ts';
import type { Answer } from '../message.ts';
import type { Observer } from '../observer.ts';
import { silent } from '../observers/logging.ts';
import type { EventLoopCounts } from '../observers/metrics/readers.ts';
import type { Settings } from '../settings/table.ts';
import { Heartbeat } from './heartbeat.ts';
import { takeBackLastWords } from './last-words.ts';
import { serveOnMainThread } from './main-thread.ts';
import type { FromThread, ShutdownSoFar, ThreadData, ToThread } from './messages.ts';
import { SharedState } from './shared-state.ts';
import { threadCode } from './thread-code.ts';

/** ProbePortOptions is what the probe port is made from, and who is told of it. */
export interface ProbePortOptions {
  readonly settings: Pick<
    Settings,
    | 'probePort'
    | 'probeHost'
    | 'readyzEventLoopStallLimit'
    | 'livezEventLoopStallLimit'
    | 'healthCheckTimeout'
    | 'terminationMessagePath'
  >;
  readonly clock: Clock;
  /** The answer to a question at a path of ours; undefined for any other. */
  readonly answer: (url: string, method: string) => Answer | Promise<Answer> | undefined;
  /** Undefined unless a shutdown runs that ends the process. */
  readonly shutdown: () => ShutdownSoFar | undefined;
  readonly onListening: (address: string) => void;
  /** Called when there is no probe thread, or no longer: from then on the main thread serves the port, if there is one. */
  readonly onThreadFailure: (error: unknown) => void;
  /** Called once when there is no probe port, or no longer. */
  readonly onFailure: (error: LameduckError) => void;
  readonly onStallEnd: (stalledMs: number) => void;
}

/** ProbePort costs a request of the program one addition: everything else is done between them. */
export class ProbePort {
  /**
   * The clock for whatever sees requests and connections: each asks it for the time, and that is a sign of life. With
   * thousands of them in line a loop does not come to its timers for seconds, and is only busy.
   */
  readonly clock: Clock;
  /** Turns /readyz red in the very call that reports ShutdownInitiated. */
  readonly observer: Observer;
  readonly #options: ProbePortOptions;
  readonly #state = new SharedState();
  readonly #heartbeat: Heartbeat;
  #worker: Worker | undefined;
  #server: Server | undefined;
  #isOpen = false;
  #isStarting = false;

  constructor(options: ProbePortOptions) {
    this.#options = options;
    const { clock } = options;
    this.clock = {
      now: () => {
        this.#state.add('beats', 1);
        return clock.now();
      },
      after: (...timer) => clock.after(...timer),
    };
    this.#heartbeat = new Heartbeat(this.#state, options.clock, () => {
      this.tellOfShutdown();
    });
    this.observer = {
      ...silent,
      onSignal: ({ name }) => {
        if (name !== 'ShutdownInitiated') return;
        this.#state.set('isShuttingDown', 1);
        this.tellOfShutdown();
      },
    };
  }

  get counts(): EventLoopCounts {
    const state = this.#state;
    return { lateMs: this.#heartbeat.lateMs, stalls: state.get('stalls'), stalledMs: state.get('stalledMs') };
  }

  /** open starts the probe thread in a turn of its own; it neither waits for it nor holds the process for it. */
  open(): void {
    this.#isOpen = true;
    this.#isStarting = true;
    setImmediate(() => {
      this.#isStarting = false;
      if (this.#isOpen) this.#open(this.#options.settings.probePort);
    });
  }

  /**
   * watch starts the thread without its port, unless it runs: if the event loop is blocked at the end of the shutdown budget,
   * nothing else can end the process.
   */
  watch(): void {
    if (this.#worker === undefined && !this.#isStarting) this.#open(0);
  }

  /** tellOfShutdown keeps the thread informed of a shutdown that runs, ahead of a block that nobody can see coming. */
  tellOfShutdown(): void {
    const shutdown = this.#options.shutdown();
    if (shutdown === undefined) return;
    this.#worker?.postMessage({ kind: 'shutdown', saidAt: threadTime(), ...shutdown } satisfies ToThread);
  }

  /** noteReport says that the final line has been written: no other word counts any more. */
  noteReport(): void {
    this.#state.add('beats', 1);
    takeBackLastWords(this.#state, this.#options.settings.terminationMessagePath);
  }

  /** close ends the probe thread, behind the answers that it owes. */
  close(): void {
    this.#end();
    this.#worker?.postMessage({ kind: 'close' } satisfies ToThread);
    this.#server?.close();
  }

  /** release ends the probe thread at once, and resolves when its port is free. */
  async release(): Promise<void> {
    this.#end();
    await this.#worker?.terminate();
    const server = this.#server;
    if (server === undefined) return;
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  }

  #open(port: number): void {
    this.#isOpen = true;
    try {
      this.#worker = this.#start(port);
      // A shutdown may have begun while there was no thread.
      this.tellOfShutdown();
    } catch (error) {
      this.#lose(error, port);
    }
  }

  #start(port: number): Worker {
    const { settings } = this.#options;
    const workerData: ThreadData = {
      memory: this.#state.memory,
      port,
      host: settings.probeHost,
      // Without a port nobody is told of a stall.
      readyzStallLimit: port === 0 ? 0 : settings.readyzEventLoopStallLimit,
      livezStallLimit: port === 0 ? 0 : settings.livezEventLoopStallLimit,
      checkTimeout: settings.healthCheckTimeout,
      terminationMessagePath: settings.terminationMessagePath,
    };
    // Without what the program itself was started with: `--import` would load all of that into the thread (P-117).
    const worker = new Worker(threadCode, {
      ...{ eval: typeof threadCode === 'string', workerData, name: 'lameduck-probes' },
      ...{ env: {}, execArgv: [] },
    });
    worker.on('message', (message: FromThread) => {
      this.#onMessage(message);
    });
    let failure: unknown = new Error('the probe thread has ended');
    worker.on('error', (error) => {
      failure = error;
    });
    // Only now its port is free.
    worker.on('exit', () => {
      this.#worker = undefined;
      this.#lose(failure, port);
    });
    worker.unref();
    this.#heartbeat.beat();
    this.#heartbeat.begin();
    return worker;
  }

  #onMessage(message: FromThread): void {
    if (message.kind === 'question') void this.#answer(message);
    else if (message.kind === 'ping') this.#heartbeat.beat();
    else if (message.kind === 'listening') this.#options.onListening(message.address);
    else if (message.kind === 'stall ended') this.#options.onStallEnd(message.stalledMs);
    else this.#fail(message.message);
  }

  async #answer({ id, url, method }: FromThread & { readonly kind: 'question' }): Promise<void> {
    const { clock } = this.#options;
    this.#state.add('taken', 1);
    const since = clock.now();
    const answer = this.#options.answer(url, method);
    const settled = answer instanceof Promise ? await answer : answer;
    const tookMs = clock.now() - since;
    this.#worker?.postMessage({ kind: 'answer', id, answer: settled, tookMs } satisfies ToThread);
  }

  #lose(failure: unknown, port: number): void {
    if (!this.#isOpen) return;
    this.#heartbeat.stop();
    this.#options.onThreadFailure(failure);
    if (port !== 0) this.#serve();
  }

  #serve(): void {
    const { settings, answer, onListening } = this.#options;
    this.#server = serveOnMainThread({
      ...{ port: settings.probePort, host: settings.probeHost, answer, onListening },
      onFailure: (error) => {
        this.#fail(error);
      },
    });
  }

  #fail(cause: unknown): void {
    if (!this.#isOpen) return;
    this.#end();
    const { probePort } = this.#options.settings;
    const message = `probePort ${String(probePort)}: there is no probe port: ${messageOf(cause)}`;
    this.#options.onFailure(new LameduckError('LAMEDUCK_ERR_PROBE_PORT_FAILED', message, { cause }));
  }

  #end(): void {
    this.#isOpen = false;
    this.#heartbeat.stop();
  }
}
