// The messages between the main thread and the probe thread.
import type { Action, MainThreadFacts } from '../inspection.ts';
import type { Answer } from '../message.ts';
import type { ShutdownRecord } from '../observer.ts';
import type { LogFormat, LogLevel } from '../settings/log-level.ts';

/** ThreadData is the `workerData` of the probe thread. Durations are in milliseconds. A limit of 0 means no limit. */
export interface ThreadData {
  readonly memory: SharedArrayBuffer;
  /** The probe port. If it is 0, the thread opens no port and only watches the main thread. */
  readonly port: number;
  /** If undefined, the thread listens on all IPv4 and IPv6 addresses. */
  readonly host: string | undefined;
  readonly readyzStallLimit: number;
  readonly livezStallLimit: number;
  readonly checkTimeout: number;
  readonly terminationMessagePath: string;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  /** If empty, there is no debug socket. */
  readonly debugSocketPath: string;
  readonly debugSocketStack: boolean;
}

/** ShutdownSoFar is the state of a shutdown that runs. The probe thread writes it if the main thread is blocked. */
export interface ShutdownSoFar {
  readonly record: ShutdownRecord;
  /** The uncaught error that began the shutdown or occurred during it, as text of errorText. */
  readonly uncaughtError: string | undefined;
  /** The rest of the shutdown budget, in milliseconds. */
  readonly remainingMs: number;
}

/** FromThread is a message of the probe thread. */
export type FromThread =
  | { readonly kind: 'listening'; readonly address: string }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'question'; readonly id: number; readonly url: string; readonly method: string }
  /** Requests a heartbeat. A busy event loop reads messages before it calls its timers, a blocked one does neither. */
  | { readonly kind: 'ping' }
  | { readonly kind: 'socket listening' }
  | { readonly kind: 'socket failed'; readonly message: string }
  /** Requests the facts of the main thread. If there is an action, the main thread performs the action first. */
  | { readonly kind: 'inspect'; readonly id: number; readonly action: Action | undefined }
  | { readonly kind: 'stall ended'; readonly stalledMs: number };

/** ToThread is a message of the main thread. If `answer` is undefined, the URL is not an endpoint. */
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
      /** When the message was sent, in threadTime. A thread that is starting or busy receives it late. */
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
