// What is said of a shutdown whose budget has run out while the event loop is blocked: nobody else can say it (P-118).
import type { Clock } from '../clock.ts';
import type { ShutdownRecord } from '../observer.ts';
import { lineText } from '../observers/line-writer.ts';
import {
  takeBackTerminationMessage,
  terminationText,
  writeTerminationMessage,
} from '../process/termination-message.ts';
import { longestReply } from './debugger.ts';
import { beatInterval } from './heartbeat.ts';
import type { ShutdownSoFar } from './messages.ts';
import type { SharedState } from './shared-state.ts';

// How long after the end of the budget the process is ended, in milliseconds. The main thread has been about to do that for
// half of this time, unless its event loop is blocked. The kubelet's SIGKILL comes later, and has the same exit code.
const patience = 500;
const killed = 137;

// From how long on a loop is blocked, in milliseconds; longer if the main thread has written the final line, and is about to
// exit with its own code. That takes a moment on a busy machine.
const shortestBlock = 250;
const longestExit = 500;

// The main thread is asked so long before whether it is paused, in milliseconds, so that its reply has come: a tick earlier.
const lookAhead = longestReply + beatInterval;

// How long the line is offered to a reader that is slow before the process is ended without it, in milliseconds.
const longestOffer = 1_000;

// A termination message is written in far less, in milliseconds.
const longestWrite = 500;

/** LastWordsOptions is who says them, and when. */
export interface LastWordsOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly state: SharedState;
  readonly stalledMs: () => number;
  /** Writes a line and tells whether it could. */
  readonly write: (line: string) => boolean;
  readonly terminationMessagePath: string;
  /** Tells whether a debugger is attached, as far as the main thread has known its inspector. */
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

/** LastWords keeps what the main thread last said of its shutdown. */
export class LastWords {
  readonly #options: LastWordsOptions;
  #last: Last | undefined;
  #isWritten = false;
  #isSaid = false;
  /** Whether a debugger has paused the main thread, when that was asked last in this block. */
  #pause: 'unknown' | 'asked' | 'paused' | 'none' = 'unknown';

  constructor(options: LastWordsOptions) {
    this.#options = options;
  }

  /** note keeps what there is to say of a shutdown that runs; it was so `ageMs` ago. */
  note(soFar: ShutdownSoFar, ageMs: number): void {
    const at = this.#options.clock.now() - ageMs;
    this.#last = { soFar, at, endBy: at + soFar.remainingMs };
  }

  /** In how many milliseconds they have to be said, if the loop stays blocked; Infinity if that is over or does not come. */
  get dueIn(): number {
    const rest = this.#rest;
    return rest > 0 ? rest : Infinity;
  }

  /** tick looks whether they have to be said. The process is ended then; nothing is done while a debugger is attached. */
  tick(): void {
    const rest = this.#rest;
    if (this.#options.stalledMs() === 0) this.#pause = 'unknown';
    else if (rest <= lookAhead) this.#look();
    if (rest <= 0 && this.#pause === 'none' && !this.#options.isAttached()) this.#end();
  }

  get #rest(): number {
    const { clock, state, stalledMs } = this.#options;
    if (this.#last === undefined) return Infinity;
    const blockedFor = state.get('isReported') === 1 ? longestExit : shortestBlock;
    return Math.max(this.#last.endBy + patience - clock.now(), blockedFor - stalledMs());
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
    const { clock, state, write } = this.#options;
    const { soFar, at } = this.#last as Last;
    const now = clock.now();
    const durationMs = soFar.record.durationMs + Math.round(now - at);
    const final: ShutdownRecord = { ...soFar.record, exitCode: killed, durationMs, heldBy: ['event loop'] };
    // Ahead of the line, which may have to be offered again; the file takes one message only.
    this.#leaveMessage(terminationText(final, soFar.uncaughtError));
    if (state.get('isReported') === 0) this.#isSaid = write(lastLine(final));
  }

  // What the main thread is about to take back has to be whole, and what it has not seen must not be written any more.
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
 * takeBackLastWords keeps the probe thread from saying them, since the main thread has said how the process ends, and takes
 * the termination message away if they have been said. The line stays: it is not the last one any more.
 */
export function takeBackLastWords(state: SharedState, terminationMessagePath: string): void {
  state.set('isReported', 1);
  state.waitWhile('isSpeaking', 1, longestWrite);
  const { message } = state;
  if (message !== '') takeBackTerminationMessage(terminationMessagePath, message);
}

/** lastLine is the final line of a process that cannot write it itself. */
export function lastLine(record: ShutdownRecord): string {
  return lineText('error', record, 'shutdown cannot end');
}
