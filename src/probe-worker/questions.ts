// The questions of the probe thread to the main thread: each is asked once at a time, and its last answer is kept.
import type { Clock } from '../clock.ts';
import type { Answer } from '../message.ts';

// The most unusual questions that wait for the main thread, the most answers that are kept, and the most characters of one.
const mostOpen = 64;
const mostKept = 64;
const longestKept = 1_000_000;

/** Question is one request to the probe port. Requests with the same key have the same answer. */
export interface Question {
  readonly key: string;
  readonly url: string;
  readonly method: string;
  /** Whether the limits above do not hold for this question, as for the plain probe URLs. */
  readonly isUsual: boolean;
}

/** LastAnswer is an answer and when it came. */
export interface LastAnswer {
  readonly answer: Answer;
  readonly at: number;
}

interface OpenQuestion extends Question {
  readonly id: number;
  readonly since: number;
  readonly answered: Promise<Answer>;
  readonly resolve: (answer: Answer) => void;
}

/** Questions is asked in the probe thread and answered by the main thread. */
export class Questions {
  /** For how many milliseconds the question that was answered last had waited for the main thread. */
  waitedMs = 0;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #post: (id: number, question: Question) => void;
  readonly #taken: () => number;
  readonly #open = new Map<string, OpenQuestion>();
  readonly #last = new Map<string, LastAnswer & { readonly isUsual: boolean }>();
  #nextId: number;

  /** `taken` returns how many questions the main thread has begun to answer. It takes them in the order of their ids. */
  constructor(
    clock: Pick<Clock, 'now'>,
    post: (id: number, question: Question) => void,
    taken: () => number,
    firstId = 0,
  ) {
    this.#clock = clock;
    this.#post = post;
    this.#taken = taken;
    this.#nextId = firstId;
  }

  /**
   * ask sends a question unless the same one is waiting for its answer, and returns since when it has been waiting. It
   * returns undefined if too many questions are waiting.
   */
  ask(question: Question): { readonly answered: Promise<Answer>; readonly since: number } | undefined {
    const open = this.#open.get(question.key);
    if (open !== undefined) return open;
    // The usual questions are few, and unusual ones must not keep them from new answers.
    if (this.#open.size >= mostOpen && !question.isUsual) return undefined;
    const { promise: answered, resolve } = Promise.withResolvers<Answer>();
    const asked = { ...question, id: this.#nextId++, since: this.#clock.now(), answered, resolve };
    this.#open.set(question.key, asked);
    this.#post(asked.id, question);
    return asked;
  }

  /** answer receives an answer of the main thread, whose checks took `tookMs`. */
  answer(id: number, answer: Answer, tookMs: number): void {
    const open = [...this.#open.values()].find((one) => one.id === id);
    if (open === undefined) return;
    this.#open.delete(open.key);
    this.waitedMs = this.#clock.now() - open.since - tookMs;
    this.#keep(open, answer);
    open.resolve(answer);
  }

  /** isInLine tells whether the main thread has not begun to answer the question. */
  isInLine({ key }: Question): boolean {
    const open = this.#open.get(key);
    // The count has 32 bits and wraps around.
    return open !== undefined && ((this.#taken() - open.id) | 0) <= 0;
  }

  /** last returns the last answer to a question, if it has been kept. */
  last({ key }: Question): LastAnswer | undefined {
    return this.#last.get(key);
  }

  #keep({ key, isUsual }: Question, answer: Answer): void {
    this.#last.delete(key);
    if (answer.status === 404 || answer.body.length > longestKept) return;
    this.#last.set(key, { answer, at: this.#clock.now(), isUsual });
    if (this.#last.size <= mostKept) return;
    // Unusual probe URLs share one small cache, so that they cannot evict the usual ones.
    const oldest = [...this.#last].find(([, one]) => !one.isUsual);
    if (oldest !== undefined) this.#last.delete(oldest[0]);
  }
}
