// The messages between the main thread and the probe thread.
import type { Action, MainThreadFacts } from '../inspection.ts';
import type { Answer } from '../message.ts';
import type { ShutdownRecord } from '../observer.ts';
import type { LogFormat, LogLevel } from '../settings/log-level.ts';

/**
 * ThreadData is the `workerData` with which the probe thread is started. Durations are in milliseconds. If a stall
 * limit is 0, a blocked event loop makes no probe fail.
 */
export interface ThreadData {
  readonly memory: SharedArrayBuffer;
  /** `port` is the probe port. With 0, the thread opens no port and only watches the main thread. */
  readonly port: number;
  /** `host` is the address to listen on. If it is undefined, the thread listens on all IPv4 and IPv6 addresses. */
  readonly host: string | undefined;
  readonly readyzStallLimit: number;
  readonly livezStallLimit: number;
  readonly checkTimeout: number;
  readonly terminationMessagePath: string;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  /** debugSocketPath is the path of the debug socket. If it is empty, there is no debug socket. */
  readonly debugSocketPath: string;
  readonly debugSocketStack: boolean;
}

/**
 * ShutdownSoFar is the state of a shutdown in progress. If the main thread is blocked at the end of the shutdown
 * budget, the probe thread writes this state to the log.
 */
export interface ShutdownSoFar {
  readonly record: ShutdownRecord;
  /** uncaughtError is the text of the uncaught error that began the shutdown or happened during it. */
  readonly uncaughtError: string | undefined;
  /** remainingMs is the time that is left of the shutdown budget, in milliseconds. */
  readonly remainingMs: number;
}

/** FromThread is a message from the probe thread to the main thread. */
export type FromThread =
  | { readonly kind: 'listening'; readonly address: string }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'question'; readonly id: number; readonly url: string; readonly method: string }
  /**
   * `ping` requests a heartbeat of the main thread. A busy event loop may run its timers late, but still reads the ping
   * and sends a heartbeat. A blocked event loop does not.
   */
  | { readonly kind: 'ping' }
  | { readonly kind: 'socket listening' }
  | { readonly kind: 'socket failed'; readonly message: string }
  /**
   * `inspect` requests the state of the main thread, which the debug socket shows. If `action` is given, the main
   * thread first performs this action.
   */
  | { readonly kind: 'inspect'; readonly id: number; readonly action: Action | undefined }
  | { readonly kind: 'stall ended'; readonly stalledMs: number };

/** ToThread is a message from the main thread to the probe thread. */
export type ToThread =
  | {
      readonly kind: 'answer';
      readonly id: number;
      readonly answer: Answer | undefined;
      /**
       * tookMs is how long the health checks for this answer took, in milliseconds. It does not include the time for
       * which the request waited for the main thread.
       */
      readonly tookMs: number;
    }
  | (ShutdownSoFar & {
      readonly kind: 'shutdown';
      /**
       * saidAt is the time at which the message was sent, as `threadTime` returned it. The receiving thread may read
       * the message later, because it is starting or busy.
       */
      readonly saidAt: number;
    })
  | {
      readonly kind: 'facts';
      /**
       * `id` is the id of the message `inspect` that this message answers. It is 0 if the main thread sends its state
       * without such a message.
       */
      readonly id: number;
      readonly saidAt: number;
      readonly facts: MainThreadFacts;
    }
  | { readonly kind: 'close' };
