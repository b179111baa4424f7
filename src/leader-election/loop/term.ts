// One term as leader. The program's work gets a Term object, with a signal, a token, and functions that check whether
// the term is still valid.
import { LameduckError, isLameduckError } from '../../errors.ts';

/**
 * Term is the argument of the work, the function that the program passes to `run`. It describes one term of this
 * process as leader.
 */
export interface Term {
  /**
   * `signal` is aborted when the term has ended, or when the work has ended. This happens before the elector releases
   * the Lease. The reason of the abort is a LAMEDUCK_ERR_NOT_LEADER.
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
  /**
   * remainingMs returns for how many milliseconds this term remains valid if the elector does not renew the Lease
   * again.
   */
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
    // Start the program's work in a later microtask, after the elector has stored the term. So `isLeader()` returns
    // true from the beginning of the work.
    await Promise.resolve();
    try {
      // If the process was suspended, the term may have ended before the work begins. Then do not call the work: work
      // that only listens for `abort` events would never end.
      this.term.signal.throwIfAborted();
      await work(this.term);
      this.#ended = { kind: 'returned' };
    } catch (error) {
      this.#ended = { kind: this.isAborted || isNotLeader(error) ? 'stopped' : 'failed', error };
    }
    // A part of the program's work may still run after the promise of the work has settled, for example after a
    // rejection of Promise.all(). This part must stop before the elector releases the Lease. So abort the signal of the
    // term.
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
