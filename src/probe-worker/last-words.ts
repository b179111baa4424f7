// The final line and the termination message of a process whose event loop is blocked at the end of the shutdown budget. Only
// the probe thread can write them (P-118).
import type { Clock } from '../clock.ts';
import { killed } from '../exit-codes.ts';
import type { ShutdownRecord } from '../observer.ts';
import { lineText } from '../observers/line-writer.ts';
import type { LogFormat } from '../settings/log-level.ts';
import {
  takeBackTerminationMessage,
  terminationText,
  writeTerminationMessage,
} from '../process/termination-message.ts';
import { longestReply } from './debugger.ts';
import { beatInterval } from './heartbeat.ts';
import type { ShutdownSoFar } from './messages.ts';
import type { SharedState } from './shared-state.ts';

// Milliseconds from the end of the budget to SIGKILL. A main thread that is not blocked begins to exit at half of this time. The
// kubelet's SIGKILL comes 2 s after the budget, and has the same exit code.
const patience = 500;

// Milliseconds without a beat after which the event loop counts as blocked. A main thread that waits for a processor looks the
// same. On two processors with a load of 20, the longest such wait was 490 ms.
const shortestBlock = 1_000;

// How many milliseconds before the end to check for a debugger, so that its reply arrives in time.
const lookAhead = longestReply + beatInterval;

// How long to try to write the line to a full pipe before the process is ended without it, in milliseconds.
const longestOffer = 1_000;

// How long the main thread waits at most while the probe thread writes the termination message, in milliseconds.
const longestWrite = 500;

/** LastWordsOptions is what LastWords reads and calls. */
export interface LastWordsOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly state: SharedState;
  readonly stalledMs: () => number;
  /** Writes a line, and returns false if the line could not be written now. */
  readonly write: (line: string) => boolean;
  readonly terminationMessagePath: string;
  readonly logFormat: LogFormat;
  /** Tells whether a debugger is attached to the inspector that the main thread last reported. */
  readonly isAttached: () => boolean;
  /** Tells whether a debugger has paused the main thread. It takes longestReply at most. */
  readonly isPaused: () => Promise<boolean>;
  /** Ends the process. */
  readonly kill: () => void;
}

interface Last {
  readonly soFar: ShutdownSoFar;
  readonly at: number;
  readonly endBy: number;
}

/** LastWords keeps the record that the main thread sent last, writes it if the event loop is blocked, and ends the process. */
export class LastWords {
  readonly #options: LastWordsOptions;
  #last: Last | undefined;
  #isWritten = false;
  #isSaid = false;
  /** Whether a debugger has paused the main thread, as far as it is known since the event loop is blocked. */
  #pause: 'unknown' | 'asked' | 'paused' | 'none' = 'unknown';

  constructor(options: LastWordsOptions) {
    this.#options = options;
  }

  /** note keeps the state of a shutdown that runs, as it was `ageMs` ago. */
  note(soFar: ShutdownSoFar, ageMs: number): void {
    const at = this.#options.clock.now() - ageMs;
    this.#last = { soFar, at, endBy: at + soFar.remainingMs };
  }

  /** In how many milliseconds to call `tick` if the event loop stays blocked; Infinity if that time has passed or is unknown. */
  get dueIn(): number {
    const rest = this.#rest;
    return rest > 0 ? rest : Infinity;
  }

  /** tick writes the final line and ends the process if it is time to. It does nothing while a debugger is attached. */
  tick(): void {
    const rest = this.#rest;
    if (this.#options.stalledMs() === 0) this.#pause = 'unknown';
    else if (rest <= lookAhead) this.#look();
    if (rest <= 0 && this.#pause === 'none' && !this.#options.isAttached()) this.#end();
  }

  get #rest(): number {
    const { clock, stalledMs } = this.#options;
    if (this.#last === undefined) return Infinity;
    return Math.max(this.#last.endBy + patience - clock.now(), shortestBlock - stalledMs());
  }

  #look(): void {
    if (this.#pause === 'asked' || this.#pause === 'none') return;
    this.#pause = 'asked';
    void this.#options.isPaused().then((isPaused) => {
      this.#pause = isPaused ? 'paused' : 'none';
      if (!isPaused) this.tick();
    });
  }

  #end(): void {
    const { clock, state, kill } = this.#options;
    const { endBy } = this.#last as Last;
    if (!this.#isSaid && state.get('isReported') === 0) this.#say();
    const isOver = clock.now() >= endBy + patience + longestOffer;
    if (this.#isSaid || state.get('isReported') === 1 || isOver) kill();
  }

  #say(): void {
    const { clock, state, write, logFormat } = this.#options;
    const { soFar, at } = this.#last as Last;
    const now = clock.now();
    const durationMs = soFar.record.durationMs + Math.round(now - at);
    const final: ShutdownRecord = { ...soFar.record, exitCode: killed, durationMs, heldBy: ['event loop'] };
    // Before the line, whose write may have to be repeated. The file takes one message only.
    this.#leaveMessage(terminationText(final, soFar.uncaughtError));
    if (state.get('isReported') === 0) this.#isSaid = write(lastLine(final, logFormat));
  }

  // `isSpeaking` makes `takeBackLastWords` wait until the message has been written. `isReported` is read again after that is
  // set, so that no message is written after the main thread has looked for one.
  #leaveMessage(message: string): void {
    const { state, terminationMessagePath } = this.#options;
    if (this.#isWritten) return;
    this.#isWritten = true;
    state.message = message;
    state.set('isSpeaking', 1);
    if (state.get('isReported') === 0) writeTerminationMessage(terminationMessagePath, message);
    state.set('isSpeaking', 0);
  }
}

/**
 * takeBackLastWords keeps the probe thread from writing a final line, because the main thread has written its own. It removes
 * the termination message of the probe thread. A line that the probe thread has written stays, but is no longer the last one.
 */
export function takeBackLastWords(state: SharedState, terminationMessagePath: string): void {
  state.set('isReported', 1);
  state.waitWhile('isSpeaking', 1, longestWrite);
  const { message } = state;
  if (message !== '') takeBackTerminationMessage(terminationMessagePath, message);
}

/** lastLine is the final line of a process that cannot write it itself. */
export function lastLine(record: ShutdownRecord, logFormat: LogFormat): string {
  return lineText(logFormat, 'error', record, 'shutdown cannot end');
}
