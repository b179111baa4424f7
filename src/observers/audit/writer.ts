// The writer of the audit log: a bounded queue, and one asynchronous append at a time. It never blocks, throws or rejects.
import { startImmediate, withTimeout, type Clock } from '../../clock.ts';
import type { Target } from './target.ts';

// The most characters in the queue, about 10 000 events.
const mostWaiting = 4_194_304;

// Milliseconds between an append that failed and the next attempt. The time doubles from the first to the second.
const shortestPause = 10;
const longestPause = 1_000;

// Milliseconds without any progress after which a flush gives up, so that a shutdown does not wait for a log that cannot be
// written.
const flushPatience = 1_000;

/** WriterOptions is what the writer uses. */
export interface WriterOptions {
  readonly clock: Clock;
  readonly open: () => Promise<Target>;
  /** Called for the first failure only. */
  readonly onFailure: (error: Error) => void;
}

/** Writer writes lines in order. If the queue is full, it drops the line and counts it. */
export class Writer {
  readonly #options: WriterOptions;
  #queue: string[] = [];
  /** The lines that are being written, and the index of the next one. `shift()` would be slow on a long array. */
  #taken: readonly string[] = [];
  #next = 0;
  /** Characters of the lines in `#queue` and `#taken`. */
  #waiting = 0;
  /** The rest of the bytes that are being written, and the number of lines that begin in these bytes. */
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

  /** The constructor opens the log, so that a wrong path is reported at the start and not at the first line. */
  constructor(options: WriterOptions) {
    this.#options = options;
    this.#start();
  }

  /** How many lines were dropped. */
  get dropped(): number {
    return this.#dropped;
  }

  /** How many lines are not in the log: the dropped lines and the waiting lines. */
  get missing(): number {
    return this.#dropped + this.#restLines + this.#taken.length - this.#next + this.#queue.length;
  }

  /** add writes a line soon. */
  add(line: string): void {
    if (this.#isClosed) this.#dropped++;
    else if (this.#waiting + line.length > mostWaiting) {
      this.#dropped++;
      this.#fail(new Error('events are dropped: they come faster than they can be written'));
    } else {
      this.#waiting += line.length;
      this.#queue.push(line);
      this.#start();
    }
  }

  /** writeAtOnce writes each line without waiting for others from now on. Only lines that wait for an append share the next one. */
  writeAtOnce(): void {
    this.#isAtOnce = true;
  }

  /** flush resolves when every line has been written, or when nothing could be written for a second. */
  async flush(): Promise<void> {
    for (let appends = -1; this.#running !== undefined && this.#appends > appends;) {
      appends = this.#appends;
      await withTimeout(this.#options.clock, this.#running, flushPatience);
    }
  }

  /** close flushes and ends the writer. Lines that come later are dropped. */
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
      // Lines of one turn of the event loop share an append.
      if (!this.#isAtOnce) await new Promise((resolve) => startImmediate(resolve));
      try {
        await this.#append();
        this.#appends++;
        this.#pause = shortestPause;
      } catch (error) {
        // A pipe that is full for a moment is no failure. If its reader stays away, lines are dropped, which is reported.
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

  // At least one line, if there is one.
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
