// Ends a process whose event loop is blocked when the shutdown budget ends. The blocked main thread cannot write the
// final line and the termination message. So the probe thread writes both (P-118).
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

// The probe thread kills the process this many milliseconds after the end of the shutdown budget. If the main thread is
// not blocked, it begins to exit after half of this time. The kubelet would send SIGKILL 2 s after the end of the
// budget, which causes the same exit code.
const patience = 500;

// Milliseconds without a heartbeat of the main thread after which its event loop counts as blocked. The main thread
// also sends no heartbeat while it waits for a processor. The longest such wait was 490 ms, measured on two processors
// with a load average of 20.
const shortestBlock = 1_000;

// The probe thread begins to check for a debugger this many milliseconds before it would kill the process. The reply of
// the inspector then arrives before the kill.
const lookAhead = longestReply + beatInterval;

// If standard output is a full pipe, the probe thread tries to write the final line for this many milliseconds. After
// that, it kills the process without the final line.
const longestRetry = 1_000;

// The longest time, in milliseconds, for which the main thread waits until the probe thread has written the termination
// message.
const longestWrite = 500;

export interface BlockedProcessEndOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly state: SharedState;
  readonly stalledMs: () => number;
  /** `write()` writes a line to standard output. It returns false if standard output is a full pipe. */
  readonly write: (line: string) => boolean;
  readonly terminationMessagePath: string;
  readonly logFormat: LogFormat;
  /** isAttached tells whether a debugger is attached to the inspector of the main thread. */
  readonly isAttached: () => boolean;
  /** isPaused tells whether a debugger has paused the main thread. It takes at most `longestReply` milliseconds. */
  readonly isPaused: () => Promise<boolean>;
  /** `kill()` ends the process with SIGKILL. */
  readonly kill: () => void;
}

interface Last {
  readonly soFar: ShutdownSoFar;
  readonly at: number;
  readonly endBy: number;
}

/**
 * BlockedProcessEnd stores the last shutdown record that the main thread has sent to the probe thread. If the event
 * loop is blocked when the shutdown budget ends, BlockedProcessEnd logs that record and kills the process.
 */
export class BlockedProcessEnd {
  readonly #options: BlockedProcessEndOptions;
  #last: Last | undefined;
  #isMessageWritten = false;
  #isLineWritten = false;
  /**
   * `#pause` is the result of the last check whether a debugger has paused the main thread. When the event loop of the
   * main thread is no longer blocked, the result becomes `unknown` again.
   */
  #pause: 'unknown' | 'asked' | 'paused' | 'none' = 'unknown';

  constructor(options: BlockedProcessEndOptions) {
    this.#options = options;
  }

  /** `note()` stores the state of a shutdown in progress, which the main thread sent `ageMs` milliseconds ago. */
  note(soFar: ShutdownSoFar, ageMs: number): void {
    const at = this.#options.clock.now() - ageMs;
    this.#last = { soFar, at, endBy: at + soFar.remainingMs };
  }

  /**
   * dueIn is the number of milliseconds after which the probe thread must call `tick()` if the event loop stays
   * blocked. It is Infinity before a shutdown. It is Infinity again after this time has passed, because each regular
   * check of the probe thread then calls `tick()`.
   */
  get dueIn(): number {
    const rest = this.#rest;
    return rest > 0 ? rest : Infinity;
  }

  /**
   * `tick()` writes the final line and kills the process if the event loop is blocked at the end of the shutdown
   * budget. It does nothing while a debugger is attached.
   */
  tick(): void {
    const rest = this.#rest;
    if (this.#options.stalledMs() === 0) this.#pause = 'unknown';
    else if (rest <= lookAhead) this.#checkForDebugger();
    if (rest <= 0 && this.#pause === 'none' && !this.#options.isAttached()) this.#end();
  }

  get #rest(): number {
    const { clock, stalledMs } = this.#options;
    if (this.#last === undefined) return Infinity;
    return Math.max(this.#last.endBy + patience - clock.now(), shortestBlock - stalledMs());
  }

  #checkForDebugger(): void {
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
    if (!this.#isLineWritten && state.get('isReported') === 0) this.#writeRecord();
    const isOver = clock.now() >= endBy + patience + longestRetry;
    if (this.#isLineWritten || state.get('isReported') === 1 || isOver) kill();
  }

  #writeRecord(): void {
    const { clock, state, write, logFormat } = this.#options;
    const { soFar, at } = this.#last as Last;
    const now = clock.now();
    const durationMs = soFar.record.durationMs + Math.round(now - at);
    const final: ShutdownRecord = { ...soFar.record, exitCode: killed, durationMs, heldBy: ['event loop'] };
    // First write the termination message, which the probe thread writes only once. Then write the final line. If the
    // final line cannot be written, the probe thread tries again later.
    this.#writeMessage(terminationText(final, soFar.uncaughtError));
    if (state.get('isReported') === 0) this.#isLineWritten = write(finalLine(final, logFormat));
  }

  // Writes the probe thread's termination message. If the main thread writes its final line at the same time, only the
  // main thread's message must remain. So the probe thread sets `isWritingMessage` before it reads `isReported`. On the
  // main thread, `noteMainThreadReport` either prevents the probe thread's write, or waits for its end and removes the
  // message.
  #writeMessage(message: string): void {
    const { state, terminationMessagePath } = this.#options;
    if (this.#isMessageWritten) return;
    this.#isMessageWritten = true;
    state.message = message;
    state.set('isWritingMessage', 1);
    if (state.get('isReported') === 0) writeTerminationMessage(terminationMessagePath, message);
    state.set('isWritingMessage', 0);
  }
}

/**
 * The main thread calls noteMainThreadReport when it has written the final line. From then on, the probe thread writes
 * no final line. noteMainThreadReport also removes the termination message of the probe thread. If the probe thread has
 * already written its final line, the log contains both final lines, and that of the main thread is the last.
 */
export function noteMainThreadReport(state: SharedState, terminationMessagePath: string): void {
  state.set('isReported', 1);
  state.waitWhile('isWritingMessage', 1, longestWrite);
  const { message } = state;
  if (message !== '') takeBackTerminationMessage(terminationMessagePath, message);
}

/** finalLine returns the final line that the probe thread writes if the main thread is blocked. */
export function finalLine(record: ShutdownRecord, logFormat: LogFormat): string {
  return lineText(logFormat, 'error', record, 'shutdown cannot end');
}
