// The main thread's side of the probe thread: it starts the thread, answers its questions and sends its heartbeat and its facts.
// Without a thread, the main thread serves the probe port itself.
import type { Server } from 'node:http';
import { Worker } from 'node:worker_threads';
import { type Clock, startImmediate, threadTime } from '../clock.ts';
import { LameduckError, messageOf } from '../errors.ts';
import type { Action, MainThreadFacts } from '../inspection.ts';
import type { Answer } from '../message.ts';
import type { Observer, SignalEvent } from '../observer.ts';
import { silent } from '../observers/logging.ts';
import type { EventLoopCounts } from '../observers/metrics/readers.ts';
import type { Settings } from '../settings/table.ts';
import { Heartbeat } from './heartbeat.ts';
import { takeBackLastWords } from './last-words.ts';
import { serveOnMainThread } from './main-thread.ts';
import type { FromThread, ShutdownSoFar, ThreadData, ToThread } from './messages.ts';
import { SharedState } from './shared-state.ts';
import { threadCode } from './thread-code.ts';

// How many beats there are between two times that the main thread sends its facts, in case it is blocked later: one second.
const beatsBetweenFacts = 10;

/** ProbePortOptions is the settings of the probe port, and the functions that it calls. */
export interface ProbePortOptions {
  readonly settings: Pick<
    Settings,
    | 'probePort'
    | 'probeHost'
    | 'readyzEventLoopStallLimit'
    | 'livezEventLoopStallLimit'
    | 'healthCheckTimeout'
    | 'terminationMessagePath'
    | 'logLevel'
    | 'logFormat'
    | 'debugSocketPath'
    | 'debugSocketStack'
  >;
  readonly clock: Clock;
  /** Answers a request for a path of lameduck; undefined for any other path. */
  readonly answer: (url: string, method: string) => Answer | Promise<Answer> | undefined;
  /** The state of the shutdown; undefined unless one runs that ends the process. */
  readonly shutdown: () => ShutdownSoFar | undefined;
  /** Undefined without a debug socket. */
  readonly debugSocket?: DebugSocketFunctions | undefined;
  readonly onListening: (address: string) => void;
  /** Called when the thread cannot start or has ended. From then on the main thread serves the port, if there is one. */
  readonly onThreadFailure: (error: unknown) => void;
  /** Called once when the port cannot be opened, or fails later. */
  readonly onFailure: (error: LameduckError) => void;
  readonly onStallEnd: (stalledMs: number) => void;
}

/** DebugSocketFunctions are the functions that the debug socket needs of the main thread. */
export interface DebugSocketFunctions {
  /** Returns the facts about the main thread. */
  readonly facts: () => MainThreadFacts;
  /** Performs the action of a request. */
  readonly act: (action: Action) => void;
  readonly onSignal: (event: SignalEvent) => void;
  readonly onListening: () => void;
  /** Called once if the debug socket cannot be opened. The process continues without it. */
  readonly onFailure: (error: Error) => void;
}

/** ProbePort is the probe thread with its port, or without one. It costs a request of the program one addition. */
export class ProbePort {
  /**
   * The clock for the code that handles requests and connections. Each read of it counts as a beat: an event loop with
   * thousands of requests may not call its timers for seconds, although it turns.
   */
  readonly clock: Clock;
  /** Makes /readyz fail in the same call that reports ShutdownInitiated. */
  readonly observer: Observer;
  readonly #options: ProbePortOptions;
  readonly #state = new SharedState();
  readonly #heartbeat: Heartbeat;
  #worker: Worker | undefined;
  #server: Server | undefined;
  #isOpen = false;
  #isStarting = false;
  #beatsToFacts = beatsBetweenFacts;

  constructor(options: ProbePortOptions) {
    this.#options = options;
    const { clock } = options;
    this.clock = {
      now: () => {
        this.#state.add('beats', 1);
        return clock.now();
      },
      after: (...timer) => clock.after(...timer),
      afterUnref: (...timer) => clock.afterUnref(...timer),
    };
    this.#heartbeat = new Heartbeat(this.#state, options.clock, () => {
      this.tellOfShutdown();
      if (--this.#beatsToFacts === 0) this.#tellFacts();
    });
    this.observer = {
      ...silent,
      onSignal: (event) => {
        options.debugSocket?.onSignal(event);
        // Not now: the signal has not been recorded yet.
        queueMicrotask(() => {
          this.#tellFacts();
        });
        if (event.name !== 'ShutdownInitiated') return;
        this.#state.set('isShuttingDown', 1);
        this.tellOfShutdown();
      },
    };
  }

  get counts(): EventLoopCounts {
    const state = this.#state;
    return { lateMs: this.#heartbeat.lateMs, stalls: state.get('stalls'), stalledMs: state.get('stalledMs') };
  }

  /** open starts the thread in a later turn of the event loop. The thread does not keep the process alive. */
  open(): void {
    this.#isOpen = true;
    this.#isStarting = true;
    startImmediate(() => {
      this.#isStarting = false;
      if (this.#isOpen) this.#open(this.#options.settings.probePort);
    });
  }

  /**
   * watch starts the thread without a port, if the thread is not running. Only the thread can end the process if the event
   * loop is blocked at the end of the shutdown budget.
   */
  watch(): void {
    if (this.#worker === undefined && !this.#isStarting) this.#open(0);
  }

  /** tellOfShutdown sends the state of the shutdown to the thread, in case the event loop is blocked later. */
  tellOfShutdown(): void {
    const shutdown = this.#options.shutdown();
    if (shutdown === undefined) return;
    this.#worker?.postMessage({ kind: 'shutdown', saidAt: threadTime(), ...shutdown } satisfies ToThread);
  }

  #tellFacts(id = 0): void {
    const { debugSocket } = this.#options;
    this.#beatsToFacts = beatsBetweenFacts;
    if (debugSocket === undefined || this.#worker === undefined) return;
    const facts = debugSocket.facts();
    this.#worker.postMessage({ kind: 'facts', id, saidAt: threadTime(), facts } satisfies ToThread);
  }

  /** noteReport tells the thread that the main thread has written the final line. */
  noteReport(): void {
    this.#state.add('beats', 1);
    takeBackLastWords(this.#state, this.#options.settings.terminationMessagePath);
  }

  /** close ends the thread after it has sent its last answers. */
  close(): void {
    this.#end();
    this.#worker?.postMessage({ kind: 'close' } satisfies ToThread);
    this.#server?.close();
  }

  /** release ends the thread at once, and resolves when the port is free. */
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
      this.#tellFacts();
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
      // Without a port, a stall has no consequence and is not logged.
      readyzStallLimit: port === 0 ? 0 : settings.readyzEventLoopStallLimit,
      livezStallLimit: port === 0 ? 0 : settings.livezEventLoopStallLimit,
      checkTimeout: settings.healthCheckTimeout,
      terminationMessagePath: settings.terminationMessagePath,
      logLevel: settings.logLevel,
      logFormat: settings.logFormat,
      debugSocketPath: settings.debugSocketPath,
      debugSocketStack: settings.debugSocketStack,
    };
    // Without the program's own options: `--import` would load its preloads into the thread (P-117).
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
    // The port of the thread is free only now.
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
    else if (message.kind === 'inspect') this.#inspect(message);
    else if (message.kind === 'socket listening') this.#options.debugSocket?.onListening();
    else if (message.kind === 'socket failed') this.#options.debugSocket?.onFailure(new Error(message.message));
    else this.#fail(message.message);
  }

  #inspect({ id, action }: FromThread & { readonly kind: 'inspect' }): void {
    if (action !== undefined) this.#options.debugSocket?.act(action);
    this.#tellFacts(id);
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
