// The main thread's part of the probe port. The main thread starts the probe thread, answers the probes that the probe
// thread forwards, and sends it heartbeats and its own state. If there is no probe thread, the main thread itself
// serves the probe port.
import type { Server } from 'node:http';
import { Worker } from 'node:worker_threads';
import { type Clock, startImmediate, threadTime } from '../clock.ts';
import { LameduckError, messageOf } from '../errors.ts';
import type { Action, MainThreadFacts } from '../inspection.ts';
import type { Answer } from '../message.ts';
import type { Observer, SignalEvent } from '../observer.ts';
import { silent } from '../observers/logging.ts';
import type { EventLoopCounts } from '../observers/metrics/collectors.ts';
import type { Settings } from '../settings/table.ts';
import { Heartbeat } from './heartbeat.ts';
import { noteMainThreadReport } from './blocked-process-end.ts';
import { serveOnMainThread } from './main-thread.ts';
import { withNodeListeners } from './node-listeners.ts';
import { claimPort, dropClaim, type PortClaim } from './port-claims.ts';
import type { FromThread, ShutdownSoFar, ThreadData, ToThread } from './messages.ts';
import { SharedState } from './shared-state.ts';
import { threadCode } from './thread-code.ts';

// The shortest interval, in milliseconds, at which the main thread sends its state to the probe thread. It sends the
// state together with a heartbeat. While the main thread is blocked, the debug socket answers with the last state.
const factsInterval = 1_000;

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
  /**
   * `answer()` returns the response to a request on the probe port. It returns undefined if lameduck has no endpoint at
   * this path.
   */
  readonly answer: (url: string, method: string) => Answer | Promise<Answer> | undefined;
  /**
   * `shutdown()` returns the state of the shutdown in progress. It returns undefined if no shutdown is in progress, or
   * if the process continues after this shutdown.
   */
  readonly shutdown: () => ShutdownSoFar | undefined;
  /** debugSocket contains the functions that the debug socket calls. It is undefined if there is no debug socket. */
  readonly debugSocket?: DebugSocketFunctions | undefined;
  readonly onListening: (address: string) => void;
  /**
   * onYield is called if this lifecycle gives up its probe port for another lifecycle of the process. It is undefined
   * if this lifecycle always keeps its probe port.
   */
  readonly onYield?: (() => void) | undefined;
  /**
   * onThreadFailure is called if the probe thread cannot start or has ended. The main thread then serves the probe
   * port, if a probe port is configured.
   */
  readonly onThreadFailure: (error: unknown) => void;
  /** onFailure is called once, when the probe port cannot be opened or fails later. */
  readonly onFailure: (error: LameduckError) => void;
  readonly onStallEnd: (stalledMs: number) => void;
}

/** DebugSocketFunctions are the functions that the debug socket calls on the main thread. */
export interface DebugSocketFunctions {
  /** `facts()` returns the state of the lifecycle that the debug socket shows. */
  readonly facts: () => MainThreadFacts;
  /** `act()` begins a shutdown or changes the readiness, as a request on the debug socket demands. */
  readonly act: (action: Action) => void;
  readonly onSignal: (event: SignalEvent) => void;
  readonly onListening: () => void;
  /** onFailure is called once, when the debug socket cannot be opened. The process continues without a debug socket. */
  readonly onFailure: (error: Error) => void;
}

/**
 * ProbePort starts and ends the probe thread. The probe thread also runs if there is no probe port. When the program
 * receives a request, ProbePort only increments one counter.
 */
export class ProbePort {
  /**
   * `signOfLife()` increments the heartbeat counter of the main thread. lameduck calls it at each event of a server. An
   * event loop that serves thousands of requests may run no timer for seconds. The events show that it is not blocked.
   */
  readonly signOfLife: () => void;
  /**
   * When ShutdownInitiated is reported to the lifecycle, observer makes /readyz on the probe port fail before the call
   * of `report` returns.
   */
  readonly observer: Observer;
  readonly #options: ProbePortOptions;
  readonly #state = new SharedState();
  readonly #heartbeat: Heartbeat;
  readonly #claim: PortClaim;
  #worker: Worker | undefined;
  #server: Server | undefined;
  #isOpen = false;
  #isStarting = false;
  /**
   * #socketPath is the path of the debug socket. It stays empty in a worker of node:cluster, whose primary has the
   * debug socket.
   */
  #socketPath = '';
  #factsAt = -Infinity;

  constructor(options: ProbePortOptions) {
    this.#options = options;
    const { onYield } = options;
    this.#claim = {
      release:
        onYield &&
        (() => {
          onYield();
          return this.release();
        }),
    };
    this.signOfLife = () => {
      this.#state.add('beats', 1);
    };
    this.#heartbeat = new Heartbeat(this.#state, options.clock, () => {
      this.sendShutdown();
      if (options.clock.now() - this.#factsAt >= factsInterval) this.#sendFacts();
    });
    this.observer = {
      ...silent,
      onSignal: (event) => {
        options.debugSocket?.onSignal(event);
        // onSignal is called just before the lifecycle signal fires. So send the state of the main thread in a
        // microtask, which runs after the signal has fired. The state then includes the signal.
        queueMicrotask(() => {
          this.#sendFacts();
        });
        if (event.name !== 'ShutdownInitiated') return;
        this.#state.set('isShuttingDown', 1);
        this.sendShutdown();
      },
    };
  }

  get counts(): EventLoopCounts {
    const state = this.#state;
    return { lateMs: this.#heartbeat.lateMs, stalls: state.get('stalls'), stalledMs: state.get('stalledMs') };
  }

  /**
   * `open()` starts the probe thread in a later turn of the event loop. The probe thread does not keep the process
   * alive.
   */
  open(): void {
    const { settings, onYield } = this.#options;
    const { probePort, debugSocketPath } = settings;
    const start = (): void => {
      startImmediate(() => {
        this.#isStarting = false;
        if (this.#isOpen) this.#open(probePort);
      });
    };
    if (probePort === 0) start();
    else if (!claimPort(probePort, this.#claim, start)) {
      onYield?.();
      return;
    }
    this.#isOpen = true;
    this.#isStarting = true;
    this.#socketPath = debugSocketPath;
  }

  /**
   * `watch()` starts the probe thread if it is not running, without a port and without a debug socket. If the event
   * loop is blocked when the shutdown budget ends, only the probe thread can end the process.
   */
  watch(): void {
    if (this.#worker === undefined && !this.#isStarting) this.#open(0);
  }

  /**
   * sendShutdown sends the state of the shutdown to the probe thread. The probe thread writes this state to the log if
   * the event loop is blocked at the end of the shutdown budget.
   */
  sendShutdown(): void {
    const shutdown = this.#options.shutdown();
    if (shutdown === undefined) return;
    this.#worker?.postMessage({ kind: 'shutdown', saidAt: threadTime(), ...shutdown } satisfies ToThread);
  }

  #sendFacts(id = 0): void {
    const { debugSocket, clock } = this.#options;
    this.#factsAt = clock.now();
    if (debugSocket === undefined || this.#worker === undefined) return;
    const facts = debugSocket.facts();
    this.#worker.postMessage({ kind: 'facts', id, saidAt: threadTime(), facts } satisfies ToThread);
  }

  /**
   * noteReport tells the probe thread that the main thread has written the final line. The probe thread then writes no
   * final line.
   */
  noteReport(): void {
    this.#state.add('beats', 1);
    noteMainThreadReport(this.#state, this.#options.settings.terminationMessagePath);
  }

  /** `close()` ends the probe thread after the thread has sent all pending responses. */
  close(): void {
    this.#end();
    this.#worker?.postMessage({ kind: 'close' } satisfies ToThread);
    this.#server?.close();
  }

  /**
   * `release()` ends the probe thread at once. Its promise resolves when another server can listen on the probe port.
   */
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
      // The shutdown may have begun before the probe thread was started, so send the state of the shutdown to the probe
      // thread now.
      this.sendShutdown();
      this.#sendFacts();
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
      // If there is no probe port, set both stall limits to 0. No probe can then fail because of a blocked event loop,
      // and the probe thread does not log a blocked event loop.
      readyzStallLimit: port === 0 ? 0 : settings.readyzEventLoopStallLimit,
      livezStallLimit: port === 0 ? 0 : settings.livezEventLoopStallLimit,
      checkTimeout: settings.healthCheckTimeout,
      terminationMessagePath: settings.terminationMessagePath,
      logLevel: settings.logLevel,
      logFormat: settings.logFormat,
      debugSocketPath: this.#socketPath,
      debugSocketStack: settings.debugSocketStack,
    };
    // Start the probe thread without the command-line options of the program. The option `--import` would load the
    // program's preloads into the thread (P-117).
    const options = {
      eval: typeof threadCode === 'string',
      workerData,
      name: 'lameduck-probes',
      env: {},
      execArgv: [],
    };
    const worker = withNodeListeners(() => new Worker(threadCode, options));
    worker.on('message', (message: FromThread) => {
      this.#onMessage(message);
    });
    let failure: unknown = new Error('the probe thread has ended');
    worker.on('error', (error) => {
      failure = error;
    });
    // If the probe thread exits, serve the probe port on the main thread. Wait for the exit, because until then the
    // probe thread may still use the port.
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
    this.#sendFacts(id);
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
      port: settings.probePort,
      host: settings.probeHost,
      answer,
      onListening,
      onFailure: (error) => {
        this.#fail(error);
      },
    });
  }

  #fail(cause: unknown): void {
    if (!this.#isOpen) return;
    this.#end();
    const { probePort } = this.#options.settings;
    const message = `probePort ${String(probePort)}: unable to listen: ${messageOf(cause)}`;
    this.#options.onFailure(new LameduckError('LAMEDUCK_ERR_PROBE_PORT_FAILED', message, { cause }));
  }

  #end(): void {
    this.#isOpen = false;
    this.#heartbeat.stop();
    dropClaim(this.#options.settings.probePort, this.#claim);
  }
}
