// What the probe thread asks the main thread: each question once at a time, and the last answer to each.
import type { Clock } from '../clock.ts';
import type { Answer } from '../message.ts';

// So many different questions that nobody asks usually wait for the main thread at most, and so many answers are kept, each
// of so many characters.
const mostOpen = 64;
const mostKept = 64;
const longestKept = 1_000_000;

/** Question is what is asked: by one key for all who mean the same. */
export interface Question {
  readonly key: string;
  readonly url: string;
  readonly method: string;
  /** Whether it is asked, and its last answer is kept, whatever else is asked. */
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
  /** For how long the last question that was answered had waited for its turn, in milliseconds. */
  waitedMs = 0;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #post: (id: number, question: Question) => void;
  readonly #taken: () => number;
  readonly #open = new Map<string, OpenQuestion>();
  readonly #last = new Map<string, LastAnswer & { readonly isUsual: boolean }>();
  #nextId: number;

  /** `taken` is how many questions the main thread has come to, in the order in which they were posted. */
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
   * ask asks, unless that is being asked already, and tells since when. Undefined when so much is unanswered that nothing
   * more is asked.
   */
  ask(question: Question): { readonly answered: Promise<Answer>; readonly since: number } | undefined {
    const open = this.#open.get(question.key);
    if (open !== undefined) return open;
    // The usual ones are few, and whatever else is asked must not keep their answers from growing new.
    if (this.#open.size >= mostOpen && !question.isUsual) return undefined;
    const { promise: answered, resolve } = Promise.withResolvers<Answer>();
    const asked = { ...question, id: this.#nextId++, since: this.#clock.now(), answered, resolve };
    this.#open.set(question.key, asked);
    this.#post(asked.id, question);
    return asked;
  }

  /** answer takes an answer of the main thread, which was so many milliseconds in the making. */
  answer(id: number, answer: Answer, tookMs: number): void {
    const open = [...this.#open.values()].find((one) => one.id === id);
    if (open === undefined) return;
    this.#open.delete(open.key);
    this.waitedMs = this.#clock.now() - open.since - tookMs;
    this.#keep(open, answer);
    open.resolve(answer);
  }

  /** isInLine tells whether the main thread has not come to the question yet. */
  isInLine({ key }: Question): boolean {
    const open = this.#open.get(key);
    // The count is one of 32 bits, which goes round.
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
    // What nobody asks usually makes room for what nobody asks usually.
    const oldest = [...this.#last].find(([, one]) => !one.isUsual);
    if (oldest !== undefined) this.#last.delete(oldest[0]);
  }
}
