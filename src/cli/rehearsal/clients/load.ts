// The side of the clients that the rehearsal talks to.
import { Worker } from 'node:worker_threads';
import type { Destination } from '../endpoints.ts';
import {
  newTallies,
  type ClientKind,
  type FromThread,
  type LoadPlan,
  type Loss,
  type Tally,
  type ToThread,
} from './messages.ts';

// The build gives the thread a name of its own (build/entries.ts).
const threadFile = import.meta.url.endsWith('.ts') ? './thread.ts' : './rehearsal-clients.js';

/** LoadObserver receives the reports of the clients. */
export interface LoadObserver {
  onLoss(loss: Loss): void;
  /** `loopDelayMs` is the longest delay of the clients' event loop since the last report. */
  onReport(report: { readonly inFlight: number; readonly loopDelayMs: number }): void;
}

/** Load runs the clients in a thread. */
export class Load {
  /** The counts of the last report. */
  tallies: Readonly<Record<ClientKind, Tally>> = newTallies();
  readonly #worker: Worker;
  readonly #ended: Promise<void>;

  constructor(plan: LoadPlan, observer: LoadObserver) {
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
      for (const loss of message.losses) observer.onLoss(loss);
      observer.onReport(message);
    });
    this.#say({ kind: 'start', plan });
  }

  set routes(routes: readonly Destination[]) {
    this.#say({ kind: 'routes', routes });
  }

  /** stop resolves when no request is in flight. It rejects if the thread fails. */
  async stop(): Promise<void> {
    this.#say({ kind: 'stop' });
    await this.#ended;
  }

  /** terminate ends the clients at once. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #say(message: ToThread): void {
    this.#worker.postMessage(message);
  }
}
