// One term as leader. The program's work gets a Term object, with a signal, a token, and functions that check whether
// the term is still valid.
import { LameduckError, isLameduckError } from '../../errors.ts';

/**
 * Term is the argument of the work, the function that the program passes to `run`. It describes one term of this
 * process as leader.
 */
export interface Term {
  /**
   * `signal` is aborted when the term or the work has ended, before the elector releases the Lease. Its reason is a
   * LAMEDUCK_ERR_NOT_LEADER.
   */
  readonly signal: AbortSignal;
  /**
   * `token` is a text of decimal digits that is greater for each later term of the Lease, whichever process leads. Send
   * the token with each write to a database. Let the database reject a write whose token is smaller than that of an
   * earlier write.
   */
  readonly token: string;
  /** isLeader tells whether this term is valid at this moment. */
  readonly isLeader: () => boolean;
  /** remainingMs returns how long this term remains valid without another renewal, in milliseconds. */
  readonly remainingMs: () => number;
  /** assertLeader throws LAMEDUCK_ERR_NOT_LEADER unless this term is valid at this moment. */
  readonly assertLeader: () => void;
}

/** Work is a function that runs only on the leader. It must end when its signal is aborted. */
export type Work = (term: Term) => unknown;

/** Ended says how the program's work has settled. */
export type Ended =
  | { readonly kind: 'returned' }
  /**
   * `stopped`: the program's work rejected because its term has ended. It rejected after the end of the term, or with
   * LAMEDUCK_ERR_NOT_LEADER.
   */
  | { readonly kind: 'stopped'; readonly error: unknown }
  | { readonly kind: 'failed'; readonly error: unknown };

export interface TermParts {
  readonly token: string;
  readonly leaseName: string;
  readonly remainingMs: () => number;
  readonly onSettled: () => void;
}

/** RunningTerm is a term whose work has started. It has the methods that only the elector may call. */
export class RunningTerm {
  readonly term: Term;
  #ended: Ended | undefined;
  readonly #parts: TermParts;
  readonly #abort = new AbortController();

  constructor(work: Work, parts: TermParts) {
    this.#parts = parts;
    const isLeader = (): boolean => this.remainingMs() > 0;
    this.term = {
      signal: this.#abort.signal,
      token: parts.token,
      isLeader,
      remainingMs: () => this.remainingMs(),
      assertLeader: () => {
        if (!isLeader()) throw this.#notLeader('the term has ended');
      },
    };
    void this.#run(work);
  }

  /** `ended` says how the program's work has settled. It is undefined while the work is running. */
  get ended(): Ended | undefined {
    return this.#ended;
  }

  get isAborted(): boolean {
    return this.#abort.signal.aborted;
  }

  remainingMs(): number {
    return this.isAborted || this.#ended !== undefined ? 0 : this.#parts.remainingMs();
  }

  /** `abort()` aborts the signal that the program's work has received. */
  abort(why: string): void {
    if (!this.isAborted) this.#abort.abort(this.#notLeader(why));
  }

  async #run(work: Work): Promise<void> {
    // Start the program's work in a later microtask. Until then, the elector stores the term, so that its `isLeader()`
    // returns true from the beginning of the work.
    await Promise.resolve();
    try {
      // If the process was suspended, the term may have ended before the work begins. Work that only listens for
      // `abort` events would then never end.
      this.term.signal.throwIfAborted();
      await work(this.term);
      this.#ended = { kind: 'returned' };
    } catch (error) {
      this.#ended = { kind: this.isAborted || isNotLeader(error) ? 'stopped' : 'failed', error };
    }
    // After the promise of the work has settled, a part of the work may still run, for example after a rejection of
    // Promise.all(). This part must stop before the elector releases the Lease, so abort its signal.
    this.abort('the work has ended');
    this.#parts.onSettled();
  }

  #notLeader(why: string): LameduckError {
    return new LameduckError('LAMEDUCK_ERR_NOT_LEADER', `this process does not lead ${this.#parts.leaseName}: ${why}`);
  }
}

/** isNotLeader recognizes the error that says that a term has ended. */
export function isNotLeader(error: unknown): boolean {
  return isLameduckError(error) && error.code === 'LAMEDUCK_ERR_NOT_LEADER';
}
