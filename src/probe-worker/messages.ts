// The messages between the main thread and the probe thread.
import type { Action, MainThreadFacts } from '../inspection.ts';
import type { Answer } from '../message.ts';
import type { ShutdownRecord } from '../observer.ts';
import type { LogFormat, LogLevel } from '../settings/log-level.ts';

/** ThreadData is what the probe thread is started with. Lengths of time are in milliseconds, and 0 is no limit. */
export interface ThreadData {
  readonly memory: SharedArrayBuffer;
  /** The probe port. 0 is no port: the thread only watches the main thread. */
  readonly port: number;
  /** Undefined is every address of both families. */
  readonly host: string | undefined;
  readonly readyzStallLimit: number;
  readonly livezStallLimit: number;
  readonly checkTimeout: number;
  readonly terminationMessagePath: string;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  /** The empty string is no debug socket. */
  readonly debugSocketPath: string;
  readonly debugSocketStack: boolean;
}

/** ShutdownSoFar is the state of a shutdown that runs. The probe thread writes it if the main thread is blocked. */
export interface ShutdownSoFar {
  readonly record: ShutdownRecord;
  /** The uncaught error that began the shutdown or occurred during it, as text of errorText. */
  readonly uncaughtError: string | undefined;
  /** What is left of its budget, in milliseconds. */
  readonly remainingMs: number;
}

/** FromThread is a message of the probe thread. */
export type FromThread =
  | { readonly kind: 'listening'; readonly address: string }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'question'; readonly id: number; readonly url: string; readonly method: string }
  /** Asks the main thread to beat. An event loop that is only busy reads this message before it calls its timers. */
  | { readonly kind: 'ping' }
  | { readonly kind: 'socket listening' }
  | { readonly kind: 'socket failed'; readonly message: string }
  /** Asks the main thread for its facts, after an action if one is given. */
  | { readonly kind: 'inspect'; readonly id: number; readonly action: Action | undefined }
  | { readonly kind: 'stall ended'; readonly stalledMs: number };

/** ToThread is a message of the main thread. An answer that is undefined means that the URL is no endpoint. */
export type ToThread =
  | {
      readonly kind: 'answer';
      readonly id: number;
      readonly answer: Answer | undefined;
      /** How long the checks took, without the time for which the question waited for the main thread. */
      readonly tookMs: number;
    }
  | (ShutdownSoFar & {
      readonly kind: 'shutdown';
      /** When it was sent, by threadTime: a thread that is starting or busy receives it late. */
      readonly saidAt: number;
    })
  | {
      readonly kind: 'facts';
      /** The id of the question; 0 if the main thread sends its facts on its own. */
      readonly id: number;
      readonly saidAt: number;
      readonly facts: MainThreadFacts;
    }
  | { readonly kind: 'close' };
