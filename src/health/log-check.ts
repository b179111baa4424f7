// The check `log`: whether log lines are still written. It knows only how a log is flushed.
import type { Clock } from '../clock.ts';
import { isThenable } from '../thenable.ts';

const flushInterval = 60_000;
const blockedAfter = 120_000;

/**
 * FlushFunction writes the lines that the log has buffered. It has ended when it returns or when its promise resolves. It
 * throws, rejects or hangs while the log is blocked.
 */
export type FlushFunction = () => unknown;

/**
 * LogCheck flushes the log every minute from its first run on, and fails if the last complete flush is two minutes old
 * . Without a flush function it always passes.
 */
export class LogCheck {
  readonly #clock: Clock;
  readonly #flush: FlushFunction | undefined;
  #completedAt: number | undefined;
  #isFlushing = false;
  #isStopped = false;
  #cancel: () => void = () => undefined;

  constructor(clock: Clock, flush: FlushFunction | undefined) {
    this.#clock = clock;
    this.#flush = flush;
  }

  /** run throws if the log is blocked. */
  run(): void {
    if (this.#flush === undefined || this.#isStopped) return;
    const isFirstUse = this.#completedAt === undefined;
    const completedAt = (this.#completedAt ??= this.#clock.now());
    // After a suspension, this check can run before the overdue flush. Flush now, so that the next probe sees a log that
    // works again.
    if (isFirstUse || this.#isOverdue(completedAt)) this.#begin(this.#flush);
    if (this.#isOverdue(this.#completedAt)) throw new Error('logging blocked');
  }

  /** stop ends the flushing. The check passes from then on. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  #isOverdue(completedAt: number): boolean {
    return this.#clock.now() - completedAt >= blockedAfter;
  }

  #begin(flush: FlushFunction): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    const onDone = (isComplete: boolean) => () => {
      this.#end(flush, isComplete);
    };
    try {
      const outcome = flush();
      if (isThenable(outcome)) outcome.then(onDone(true), onDone(false));
      else this.#end(flush, true);
    } catch {
      this.#end(flush, false);
    }
  }

  #end(flush: FlushFunction, isComplete: boolean): void {
    this.#isFlushing = false;
    this.#cancel();
    if (this.#isStopped) return;
    const now = this.#clock.now();
    if (isComplete) this.#completedAt = now;
    this.#cancel = this.#clock.afterUnref(flushInterval, () => {
      this.#begin(flush);
    });
  }
}
