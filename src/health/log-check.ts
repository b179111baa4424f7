// The health check `log`, which fails if log lines can no longer be written. The check depends only on a function that
// flushes the log.
import type { Clock } from '../clock.ts';
import { isThenable } from '../thenable.ts';

const flushInterval = 60_000;
const blockedAfter = 120_000;

/**
 * FlushFunction writes the buffered log lines. The flush is complete when the function returns or its promise resolves.
 * While log lines cannot be written, the function throws, rejects or does not end.
 */
export type FlushFunction = () => unknown;

/**
 * LogCheck flushes the log every minute, beginning with the first run of the check. The check fails if no flush has
 * been completed for two minutes. If there is no flush function, the check always passes.
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

  /**
   * `run()` runs the check `log`. The check fails, so `run()` throws, if no flush of the log has succeeded for two
   * minutes.
   */
  run(): void {
    if (this.#flush === undefined || this.#isStopped) return;
    const isFirstUse = this.#completedAt === undefined;
    const completedAt = (this.#completedAt ??= this.#clock.now());
    // After a suspension of the machine, a probe may arrive before the timer of the next flush of the log has fired.
    // This probe fails, because the last flush is too old. Flush the log now, so that the next probe passes if the
    // flush succeeds.
    if (isFirstUse || this.#isOverdue(completedAt)) this.#begin(this.#flush);
    if (this.#isOverdue(this.#completedAt)) throw new Error('logging blocked');
  }

  /** `stop()` stops the regular flushes of the log. After that, the health check `log` always passes. */
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
