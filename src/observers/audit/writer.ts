// Writes the audit log with a bounded queue and one asynchronous append at a time. It never blocks, throws or rejects.
import { startImmediate, withTimeout, type Clock } from '../../clock.ts';
import type { Target } from './target.ts';

// The maximum size of the queue of the audit log, in characters. About 10 000 events have this size.
const mostWaiting = 4_194_304;

// The shortest and the longest pause between a failed append and the next attempt, in milliseconds. The pause doubles
// after each failure.
const shortestPause = 10;
const longestPause = 1_000;

// A flush of the audit log ends if no line could be written for this many milliseconds. A shutdown must not wait for an
// audit log that cannot be written.
const flushPatience = 1_000;

export interface WriterOptions {
  readonly clock: Clock;
  readonly open: () => Promise<Target>;
  /** onFailure is called when an append fails for the first time. Later failures are not reported. */
  readonly onFailure: (error: Error) => void;
}

/** Writer writes the lines of the audit log in order. If its queue is full, it drops further lines and counts them. */
export class Writer {
  readonly #options: WriterOptions;
  #queue: string[] = [];
  /**
   * `#taken` contains the lines that the writer has taken from the queue. `#next` is the index of the first line in
   * `#taken` that no append has written or begun to write. The writer increases this index, because removing lines with
   * `shift()` would be slow.
   */
  #taken: readonly string[] = [];
  #next = 0;
  /** `#waiting` is the number of characters in `#queue` and `#taken` together. */
  #waiting = 0;
  /**
   * `#rest` contains the bytes of the current append that have not been written to the audit log yet. #restLines is the
   * number of log lines that begin in these bytes.
   */
  #rest: Uint8Array = new Uint8Array();
  #restLines = 0;
  #dropped = 0;
  #target: Target | undefined;
  #running: Promise<void> | undefined;
  #pause = shortestPause;
  #appends = 0;
  #isAtOnce = false;
  #isClosed = false;
  #hasFailed = false;

  /**
   * The constructor opens the audit log, so that an invalid path is reported when the program starts and not with the
   * first event.
   */
  constructor(options: WriterOptions) {
    this.#options = options;
    this.#start();
  }

  /** `dropped` is the number of audit events that were dropped because the queue was full. */
  get dropped(): number {
    return this.#dropped;
  }

  /**
   * `missing` is the number of audit events that are not in the audit log: they were dropped, or have not been written
   * yet.
   */
  get missing(): number {
    return this.#dropped + this.#restLines + this.#taken.length - this.#next + this.#queue.length;
  }

  /** `add()` puts a line into the queue. The line is written asynchronously. */
  add(line: string): void {
    if (this.#isClosed) this.#dropped++;
    else if (this.#waiting + line.length > mostWaiting) {
      this.#dropped++;
      this.#fail(new Error('the audit log drops events, because they arrive faster than they can be written'));
    } else {
      this.#waiting += line.length;
      this.#queue.push(line);
      this.#start();
    }
  }

  /**
   * After a call of writeAtOnce, the writer of the audit log appends each line as soon as the line arrives. Without
   * this call, the writer first collects the lines of one turn of the event loop. Lines that arrive during an append
   * are always written together by the next append.
   */
  writeAtOnce(): void {
    this.#isAtOnce = true;
  }

  /** `flush()` resolves when every line has been written, or when no line could be written for one second. */
  async flush(): Promise<void> {
    for (let appends = -1; this.#running !== undefined && this.#appends > appends;) {
      appends = this.#appends;
      await withTimeout(this.#options.clock, this.#running, flushPatience);
    }
  }

  /**
   * `close()` writes all lines that have not been written to the audit log yet, and then closes the audit log. Lines
   * that arrive later are dropped.
   */
  async close(): Promise<void> {
    await this.flush();
    this.#isClosed = true;
    await this.#running;
    this.#target?.close();
  }

  #start(): void {
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    do {
      // Collect all audit events of this turn of the event loop, and write them together in one append.
      if (!this.#isAtOnce) await new Promise((resolve) => startImmediate(resolve));
      try {
        await this.#append();
        this.#appends++;
        this.#pause = shortestPause;
      } catch (error) {
        // EAGAIN means that the pipe of the audit log is full. The writer tries again, and does not report a failure.
        // If the pipe stays full, the queue of audit events becomes full too. `add()` then reports that it drops
        // events.
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') this.#fail(error as Error);
        await this.#wait();
      }
    } while (!this.#isClosed && this.#hasMore);
    this.#running = undefined;
  }

  get #hasMore(): boolean {
    return this.#rest.length > 0 || this.#next < this.#taken.length || this.#queue.length > 0;
  }

  async #append(): Promise<void> {
    const target = this.#target ?? (await this.#open());
    if (this.#rest.length === 0) this.#rest = this.#take(target.longestWrite);
    if (this.#rest.length === 0) return;
    const written = await target.write(this.#rest);
    this.#rest = this.#rest.subarray(written);
    if (this.#rest.length === 0) this.#restLines = 0;
  }

  async #open(): Promise<Target> {
    const target = await this.#options.open();
    this.#target = target;
    this.#rest = Buffer.from(target.before);
    return target;
  }

  // Takes as many audit events from the queue as fit into one write of at most `most` bytes. It takes at least one
  // event, even if this event is longer.
  #take(most: number): Uint8Array {
    if (this.#next === this.#taken.length) {
      [this.#taken, this.#queue, this.#next] = [this.#queue, [], 0];
    }
    const from = this.#next;
    let bytes = 0;
    for (; this.#next < this.#taken.length; this.#next++) {
      const line = this.#taken[this.#next] as string;
      bytes += Buffer.byteLength(line);
      if (this.#next > from && bytes > most) break;
      this.#waiting -= line.length;
    }
    this.#restLines = this.#next - from;
    return Buffer.from(this.#taken.slice(from, this.#next).join(''));
  }

  #wait(): Promise<void> {
    const milliseconds = this.#pause;
    this.#pause = Math.min(2 * milliseconds, longestPause);
    return new Promise((resolve) => {
      this.#options.clock.afterUnref(milliseconds, resolve);
    });
  }

  #fail(error: Error): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#options.onFailure(error);
  }
}
