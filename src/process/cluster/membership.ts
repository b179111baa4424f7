// A worker of node:cluster in the group of its primary.
import { constants } from 'node:os';
import { wait, type Clock } from '../../clock.ts';
import type { ShutdownRecord } from '../../observer.ts';
import { receiveFrom, sendOver } from './messages.ts';

// How long a worker waits for the answer of its primary before it opens a probe port of its own, in milliseconds. A primary
// without a lifecycle never answers.
const patience = 500;

// How long requests are held at most until the listener of the group is closed, in milliseconds.
const longestHold = 2_000;

/** MembershipOptions is what Membership reads from this worker, and does to it. */
export interface MembershipOptions {
  readonly clock: Clock;
  readonly isReady: () => Promise<boolean>;
  /** Begins the shutdown as the process signal does, unless it runs. */
  readonly shutDown: (signal: NodeJS.Signals, number: number, budgetMs: number) => void;
}

/** Membership connects this worker with the group of its primary. */
export class Membership {
  readonly #clock: Clock;
  readonly #primaryProbePort: Promise<number | undefined>;
  #onListenerClosed = (): void => undefined;

  constructor({ clock, isReady, shutDown }: MembershipOptions) {
    this.#clock = clock;
    const answer = new Promise<number>((resolve) => {
      receiveFrom(process, (message) => {
        if (message.kind === 'group') resolve(message.probePort);
        else if (message.kind === 'listener closed') this.#onListenerClosed();
        else if (message.kind === 'shutdown') {
          shutDown(message.signal, constants.signals[message.signal], message.budgetMs);
        } else if (message.kind === 'question') {
          void isReady().then((ready) => {
            sendOver(process, { kind: 'answer', id: message.id, isReady: ready });
          });
        }
      });
    });
    sendOver(process, { kind: 'hello' });
    this.#primaryProbePort = Promise.race([answer, wait(clock, patience).then(() => undefined)]);
  }

  /** primaryProbePort resolves with the probe port of the primary, or with undefined if the primary has no lifecycle. */
  primaryProbePort(): Promise<number | undefined> {
    return this.#primaryProbePort;
  }

  /**
   * listenerClosed says that requests are held here, and resolves when the listener of the group is closed. Each worker only
   * leaves that listener, and the primary would reset the connections that it has accepted when the last one leaves.
   */
  async listenerClosed(): Promise<void> {
    const closed = new Promise<void>((resolve) => (this.#onListenerClosed = resolve));
    sendOver(process, { kind: 'holding' });
    if ((await this.primaryProbePort()) !== undefined) await Promise.race([closed, wait(this.#clock, longestHold)]);
  }

  /** report sends the final line to the primary. */
  report(record: ShutdownRecord): void {
    sendOver(process, { kind: 'record', record });
  }
}
