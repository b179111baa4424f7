// What is said of a shutdown whose budget has run out while the event loop is blocked: nobody else can say it (P-118).
import type { Clock } from '../clock.ts';
import type { ShutdownRecord } from '../observer.ts';
import { lineText } from '../observers/line-writer.ts';
import { terminationText, writeTerminationMessage } from '../process/termination-message.ts';
import type { SharedState } from './shared-state.ts';

// So long behind the end of the budget the main thread may still come to its own end, and so long it has to be silent, in
// milliseconds: ahead of the kubelet's SIGKILL, whose exit code this is.
const patience = 500;
const killed = 137;

/** LastWordsOptions is who says them, and when. */
export interface LastWordsOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly state: SharedState;
  readonly stalledMs: () => number;
  /** Writes a line and tells whether it could. */
  readonly write: (line: string) => boolean;
  readonly terminationMessagePath: string;
}

/** LastWords keeps what the main thread last said of its shutdown. */
export class LastWords {
  readonly #options: LastWordsOptions;
  #last: { readonly record: ShutdownRecord; readonly at: number; readonly endBy: number } | undefined;
  #isSaid = false;

  constructor(options: LastWordsOptions) {
    this.#options = options;
  }

  /** note keeps the record of a shutdown that runs, and what is left of its budget. */
  note(record: ShutdownRecord, remainingMs: number): void {
    const at = this.#options.clock.now();
    this.#last = { record, at, endBy: at + remainingMs };
  }

  /** tick looks whether they have to be said. */
  tick(): void {
    const { clock, state, stalledMs, write, terminationMessagePath } = this.#options;
    const now = clock.now();
    if (this.#last === undefined || this.#isSaid || state.get('isReported') === 1) return;
    if (now < this.#last.endBy + patience || stalledMs() < patience) return;
    const { record, at } = this.#last;
    const durationMs = record.durationMs + Math.round(now - at);
    const final: ShutdownRecord = { ...record, exitCode: killed, durationMs, heldBy: ['event loop'] };
    // Ahead of the line, which may have to be offered again; the file takes one message only.
    writeTerminationMessage(terminationMessagePath, terminationText(final));
    this.#isSaid = write(lastLine(final));
  }
}

/** lastLine is the final line of a process that cannot write it itself. */
export function lastLine(record: ShutdownRecord): string {
  return lineText('error', record, 'shutdown cannot end');
}
