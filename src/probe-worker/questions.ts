// A question is a request that the probe thread forwards to the main thread. Equal questions that wait at the same time
// share one answer. The last answer to each question is stored.
import type { Clock } from '../clock.ts';
import type { Answer } from '../message.ts';

// Limits for questions with unusual URLs, such as a probe of a single check. They bound the number of questions that
// wait for the main thread, the number of stored answers, and the characters of a stored answer.
const mostOpen = 64;
const mostKept = 64;
const longestKept = 1_000_000;

/**
 * Question is one request to the probe port that the main thread must answer. Requests with the same key have the same
 * answer.
 */
export interface Question {
  readonly key: string;
  readonly url: string;
  readonly method: string;
  /**
   * isUsual is true if the URL is a plain probe URL, such as `/readyz`. Questions with other URLs are limited in
   * number. These limits do not apply to a plain probe URL.
   */
  readonly isUsual: boolean;
}

/** LastAnswer is the stored answer of the main thread to a question, with the time at which it arrived. */
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

/**
 * Questions contains the questions (requests to the probe port) that the main thread has not answered yet. It also
 * stores the last answer to each question.
 */
export class Questions {
  /**
   * waitedMs is how long the last answered question had waited until the main thread began to answer it, in
   * milliseconds.
   */
  waitedMs = 0;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #post: (id: number, question: Question) => void;
  readonly #taken: () => number;
  readonly #open = new Map<string, OpenQuestion>();
  readonly #last = new Map<string, LastAnswer & { readonly isUsual: boolean }>();
  #nextId: number;

  /**
   * `taken` returns how many questions (requests to the probe port) the main thread has begun to answer. The main
   * thread answers questions in the order of their ids.
   */
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
   * `ask()` sends a question to the main thread, unless an equal question is already waiting there. It returns the
   * promise of the answer. `since` is when the question was sent. If too many questions are waiting, the result is
   * undefined.
   */
  ask(question: Question): { readonly answered: Promise<Answer>; readonly since: number } | undefined {
    const open = this.#open.get(question.key);
    if (open !== undefined) return open;
    // Always accept plain probe URLs, because there are only a few of them. A client that sends many unusual URLs must
    // not displace them.
    if (this.#open.size >= mostOpen && !question.isUsual) return undefined;
    const { promise: answered, resolve } = Promise.withResolvers<Answer>();
    const asked = { ...question, id: this.#nextId++, since: this.#clock.now(), answered, resolve };
    this.#open.set(question.key, asked);
    this.#post(asked.id, question);
    return asked;
  }

  /**
   * `answer()` stores an answer that the main thread has sent, and resolves the promises of all callers that wait for
   * it. `tookMs` is the duration of the health checks of this answer.
   */
  answer(id: number, answer: Answer, tookMs: number): void {
    const open = [...this.#open.values()].find((one) => one.id === id);
    if (open === undefined) return;
    this.#open.delete(open.key);
    this.waitedMs = this.#clock.now() - open.since - tookMs;
    this.#keep(open, answer);
    open.resolve(answer);
  }

  /** isInLine tells whether a question still waits, because the main thread has not begun to answer it. */
  isInLine({ key }: Question): boolean {
    const open = this.#open.get(key);
    // `taken` is the number of questions that the main thread has begun to answer. Subtract with 32 bits, because
    // `taken` begins again at the lowest number after 32 bits.
    return open !== undefined && ((this.#taken() - open.id) | 0) <= 0;
  }

  /** `last()` returns the stored answer to a question, or undefined if no answer is stored. */
  last({ key }: Question): LastAnswer | undefined {
    return this.#last.get(key);
  }

  #keep({ key, isUsual }: Question, answer: Answer): void {
    this.#last.delete(key);
    if (answer.status === 404 || answer.body.length > longestKept) return;
    this.#last.set(key, { answer, at: this.#clock.now(), isUsual });
    if (this.#last.size <= mostKept) return;
    // Evict the oldest answer to an unusual URL. Unusual URLs thus cannot evict the answers to plain probe URLs.
    const oldest = [...this.#last].find(([, one]) => !one.isUsual);
    if (oldest !== undefined) this.#last.delete(oldest[0]);
  }
}
