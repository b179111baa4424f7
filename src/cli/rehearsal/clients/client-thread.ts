// Starts and stops the thread that runs the clients of a rehearsal. The code of the thread is in thread.ts.
import { Worker } from 'node:worker_threads';
import type { Destination } from '../endpoints.ts';
import { newTallies, type ClientKind, type LoadPlan, type Loss, type Tally } from '../load.ts';
import type { FromThread, ToThread } from './messages.ts';

// The file with the code of the client thread. In the built package, the file has another name
// (scripts/build/entries.ts).
const threadFile = import.meta.url.endsWith('.ts') ? './thread.ts' : './rehearsal-clients.js';

/** ClientThreadObserver is notified of the lost requests and the request counts that the client thread reports. */
export interface ClientThreadObserver {
  onLoss(loss: Loss): void;
  /**
   * onReport is called each time the client thread reports its request counts. `loopDelayMs` is the longest event loop
   * delay of the client thread since its previous report, in milliseconds.
   */
  onReport(report: { readonly loopDelayMs: number }): void;
}

/** ClientThread runs the clients of a rehearsal in a worker thread. */
export class ClientThread {
  /** `tallies` has the counts of requests that the client thread last reported. */
  tallies: Readonly<Record<ClientKind, Tally>> = newTallies();
  /** inFlight is the number of requests without a response that the client thread last reported. */
  inFlight = 0;
  readonly #worker: Worker;
  readonly #ended: Promise<void>;

  constructor(plan: LoadPlan, observer: ClientThreadObserver) {
    this.#worker = new Worker(new URL(threadFile, import.meta.url));
    this.#ended = new Promise((resolve, reject) => {
      this.#worker.once('error', reject);
      this.#worker.once('exit', () => {
        resolve();
      });
    });
    this.#worker.on('message', (message: FromThread) => {
      if (message.kind !== 'report') return;
      this.tallies = message.tallies;
      this.inFlight = message.inFlight;
      for (const loss of message.losses) observer.onLoss(loss);
      observer.onReport(message);
    });
    this.#say({ kind: 'start', plan });
  }

  set routes(routes: readonly Destination[]) {
    this.#say({ kind: 'routes', routes });
  }

  set host(host: string) {
    this.#say({ kind: 'host', host });
  }

  /** `stop()` lets the clients finish. It resolves when no request is in flight, and rejects if the thread fails. */
  async stop(): Promise<void> {
    this.#say({ kind: 'stop' });
    await this.#ended;
  }

  /** `terminate()` stops the client thread at once. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #say(message: ToThread): void {
    this.#worker.postMessage(message);
  }
}
