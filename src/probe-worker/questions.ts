// The requests that the probe thread forwards to the main thread, which are called questions. Equal questions share one
// answer. The last answer to each question is stored.
import type { Clock } from '../clock.ts';
import type { Answer } from '../message.ts';

// Limits for questions with unusual URLs, such as a probe of a single check. They limit the number of waiting
// questions, the number of stored answers, and the length of a stored answer in characters.
const mostOpen = 64;
const mostKept = 64;
const longestKept = 1_000_000;

/** Question is one request to the probe port. Requests with the same key have the same answer. */
export interface Question {
  readonly key: string;
  readonly url: string;
  readonly method: string;
  /** isUsual is true if the URL is a plain probe URL, to which the limits for unusual questions do not apply. */
  readonly isUsual: boolean;
}

/** LastAnswer is a stored answer and the time of its arrival. */
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

/** Questions contains the questions that the main thread has not answered yet, and the last answer to each question. */
export class Questions {
  /** waitedMs is how long the last question with an answer had waited for the main thread, in milliseconds. */
  waitedMs = 0;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #post: (id: number, question: Question) => void;
  readonly #taken: () => number;
  readonly #open = new Map<string, OpenQuestion>();
  readonly #last = new Map<string, LastAnswer & { readonly isUsual: boolean }>();
  #nextId: number;

  /**
   * `taken` returns how many questions the main thread has begun to answer. The main thread answers questions in the
   * order of their ids.
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
   * `ask()` sends a question, unless an equal question is waiting. It returns the promise of the answer. `since` is
   * when the question was sent. If too many questions are waiting, the result is undefined.
   */
  ask(question: Question): { readonly answered: Promise<Answer>; readonly since: number } | undefined {
    const open = this.#open.get(question.key);
    if (open !== undefined) return open;
    // Always accept usual questions, because there are only a few of them. A client that sends many unusual questions
    // must not displace them.
    if (this.#open.size >= mostOpen && !question.isUsual) return undefined;
    const { promise: answered, resolve } = Promise.withResolvers<Answer>();
    const asked = { ...question, id: this.#nextId++, since: this.#clock.now(), answered, resolve };
    this.#open.set(question.key, asked);
    this.#post(asked.id, question);
    return asked;
  }

  /**
   * `answer()` stores an answer that the main thread has sent, and resolves the promises of its question. `tookMs` is
   * the duration of its checks.
   */
  answer(id: number, answer: Answer, tookMs: number): void {
    const open = [...this.#open.values()].find((one) => one.id === id);
    if (open === undefined) return;
    this.#open.delete(open.key);
    this.waitedMs = this.#clock.now() - open.since - tookMs;
    this.#keep(open, answer);
    open.resolve(answer);
  }

  /** isInLine tells whether the main thread has not yet begun to answer a question. */
  isInLine({ key }: Question): boolean {
    const open = this.#open.get(key);
    // Compare by a 32-bit difference, because the count overflows after 32 bits.
    return open !== undefined && ((this.#taken() - open.id) | 0) <= 0;
  }

  /** `last()` returns the stored answer to a question, or undefined if there is none. */
  last({ key }: Question): LastAnswer | undefined {
    return this.#last.get(key);
  }

  #keep({ key, isUsual }: Question, answer: Answer): void {
    this.#last.delete(key);
    if (answer.status === 404 || answer.body.length > longestKept) return;
    this.#last.set(key, { answer, at: this.#clock.now(), isUsual });
    if (this.#last.size <= mostKept) return;
    // Evict only an answer to an unusual question, so that unusual questions cannot evict the answers to plain probe
    // URLs.
    const oldest = [...this.#last].find(([, one]) => !one.isUsual);
    if (oldest !== undefined) this.#last.delete(oldest[0]);
  }
}
