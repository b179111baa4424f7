// What the main thread and the probe thread say to each other.
import type { Answer } from '../message.ts';
import type { ShutdownRecord } from '../observer.ts';

/** ThreadData is what the probe thread is started with. Lengths of time are in milliseconds, and 0 is no limit. */
export interface ThreadData {
  readonly memory: SharedArrayBuffer;
  /** 0 is none: the thread only watches the main thread. */
  readonly port: number;
  /** Undefined is every address of both families. */
  readonly host: string | undefined;
  readonly readyzStallLimit: number;
  readonly livezStallLimit: number;
  readonly checkTimeout: number;
  readonly terminationMessagePath: string;
}

/** ShutdownSoFar is what there is to say of a shutdown while it runs, for a time when the main thread cannot say it. */
export interface ShutdownSoFar {
  readonly record: ShutdownRecord;
  /** The error that began it, or came in it, as errorText has it. */
  readonly uncaughtError: string | undefined;
  /** What is left of its budget, in milliseconds. */
  readonly remainingMs: number;
}

/** FromThread is what the probe thread says. */
export type FromThread =
  | { readonly kind: 'listening'; readonly address: string }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'question'; readonly id: number; readonly url: string; readonly method: string }
  /** Asks for a sign of life: a loop that is only busy comes to it before it comes to its timers. */
  | { readonly kind: 'ping' }
  | { readonly kind: 'stall ended'; readonly stalledMs: number };

/** ToThread is what the main thread says; undefined is no endpoint. */
export type ToThread =
  | {
      readonly kind: 'answer';
      readonly id: number;
      readonly answer: Answer | undefined;
      /** How long the checks took; the rest of the time the question waited for its turn. */
      readonly tookMs: number;
    }
  | (ShutdownSoFar & {
      readonly kind: 'shutdown';
      /** When it was said, by threadTime: a thread that starts, and a busy one, hears of it late. */
      readonly saidAt: number;
    })
  | { readonly kind: 'close' };
