// A question is a request to the probe port that the probe thread forwards to the main thread. Equal questions that
// wait at the same time share one answer. The last answer to each question is stored.
import type { Clock } from '../clock.ts';
import type { Answer } from '../message.ts';

// Limits for requests with unusual URLs, such as a probe of a single check. mostOpen limits the requests that wait for
// the main thread, mostKept the stored answers, and longestKept the characters of a stored answer.
const mostOpen = 64;
const mostKept = 64;
const longestKept = 1_000_000;

/**
 * Question is a request to the probe port that only the main thread can answer. Requests with the same key share one
 * answer.
 */
export interface Question {
  readonly key: string;
  readonly url: string;
  readonly method: string;
  /**
   * isUsual is true if the URL is a plain probe URL, such as `/readyz`. The limits for waiting requests and stored
   * answers do not apply to a plain probe URL.
   */
  readonly isUsual: boolean;
}

/** LastAnswer is the main thread's stored answer to a forwarded request, with the time at which the answer arrived. */
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
 * Questions contains the requests to the probe port that wait for an answer of the main thread. For each key, it also
 * stores the last answer of the main thread.
 */
export class Questions {
  /**
   * waitedMs is how long the most recently answered request had waited for the main thread, in milliseconds. The wait
   * of a request ends when the main thread begins to answer it.
   */
  waitedMs = 0;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #post: (id: number, question: Question) => void;
  readonly #taken: () => number;
  readonly #open = new Map<string, OpenQuestion>();
  readonly #last = new Map<string, LastAnswer & { readonly isUsual: boolean }>();
  #nextId: number;

  /**
   * `taken` returns how many forwarded requests the main thread has begun to answer. The main thread begins to answer
   * these requests in the order of their ids.
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
   * `ask()` forwards a request to the main thread, unless the main thread has not yet answered an equal request. The
   * result contains the promise of the answer, and `since`: the time at which the first of the equal requests was
   * forwarded. If too many requests are unanswered, the result is undefined.
   */
  ask(question: Question): { readonly answered: Promise<Answer>; readonly since: number } | undefined {
    const open = this.#open.get(question.key);
    if (open !== undefined) return open;
    // A client that sends many unusual URLs must not block the probes of the kubelet. So always forward a request with
    // a plain probe URL, such as /readyz. There are only a few plain probe URLs.
    if (this.#open.size >= mostOpen && !question.isUsual) return undefined;
    const { promise: answered, resolve } = Promise.withResolvers<Answer>();
    const asked = { ...question, id: this.#nextId++, since: this.#clock.now(), answered, resolve };
    this.#open.set(question.key, asked);
    this.#post(asked.id, question);
    return asked;
  }

  /**
   * `answer()` stores the main thread's answer to a request, and resolves the promises of all callers that wait for
   * this answer. `tookMs` is how long the health checks for this answer took.
   */
  answer(id: number, answer: Answer, tookMs: number): void {
    const open = [...this.#open.values()].find((one) => one.id === id);
    if (open === undefined) return;
    this.#open.delete(open.key);
    this.waitedMs = this.#clock.now() - open.since - tookMs;
    this.#keep(open, answer);
    open.resolve(answer);
  }

  /**
   * isInLine tells whether a forwarded request is still queued, because the main thread has not yet begun to answer the
   * request.
   */
  isInLine({ key }: Question): boolean {
    const open = this.#open.get(key);
    // `taken` is the number of forwarded requests that the main thread has begun to answer. This counter has 32 bits
    // and overflows, so compute its difference from the id modulo 2 ** 32.
    return open !== undefined && ((this.#taken() - open.id) | 0) <= 0;
  }

  /**
   * `last()` returns the main thread's last answer to a request with this key, or undefined if no such answer is
   * stored.
   */
  last({ key }: Question): LastAnswer | undefined {
    return this.#last.get(key);
  }

  #keep({ key, isUsual }: Question, answer: Answer): void {
    this.#last.delete(key);
    if (answer.status === 404 || answer.body.length > longestKept) return;
    this.#last.set(key, { answer, at: this.#clock.now(), isUsual });
    if (this.#last.size <= mostKept) return;
    // If too many answers are stored, delete the oldest answer to an unusual URL. An answer to a plain probe URL, such
    // as /readyz, is never deleted.
    const oldest = [...this.#last].find(([, one]) => !one.isUsual);
    if (oldest !== undefined) this.#last.delete(oldest[0]);
  }
}
