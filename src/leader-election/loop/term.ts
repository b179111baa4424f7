// One term as leader. The program's work gets a Term object, with a signal, a token, and functions that check whether
// the term is still valid.
import { LameduckError, isLameduckError } from '../../errors.ts';

/**
 * Term is the argument of the work, the function that the program passes to `run`. It describes one term of this
 * process as leader.
 */
export interface Term {
  /**
   * `signal` is aborted when the term of this process as leader ends, or when the work has ended. The elector releases
   * the Lease only after the abort. The reason of the abort is an error with the code LAMEDUCK_ERR_NOT_LEADER.
   */
  readonly signal: AbortSignal;
  /**
   * `token` is a text of decimal digits that is greater for each later term of the Lease, whichever process leads. Send
   * the token with each write to a database. Let the database reject a write whose token is smaller than that of an
   * earlier write.
   */
  readonly token: string;
  /** isLeader tells whether this process is the leader at this moment, that is, whether this term has not ended. */
  readonly isLeader: () => boolean;
  /**
   * remainingMs returns for how many milliseconds this process remains the leader if it does not renew the Lease again.
   */
  readonly remainingMs: () => number;
  /** assertLeader throws LAMEDUCK_ERR_NOT_LEADER unless this process is the leader at this moment. */
  readonly assertLeader: () => void;
}

/** Work is a function that runs only on the leader. It must end when the `signal` of its argument is aborted. */
export type Work = (term: Term) => unknown;

/** Ended is the outcome of the program's work: it returned, it stopped because its term had ended, or it failed. */
export type Ended =
  | { readonly kind: 'returned' }
  /**
   * Outcome `stopped`: the program's work rejected because the term as leader had ended. Either the leadership was lost
   * before the rejection, or the error has the code LAMEDUCK_ERR_NOT_LEADER.
   */
  | { readonly kind: 'stopped'; readonly error: unknown }
  | { readonly kind: 'failed'; readonly error: unknown };

export interface TermParts {
  readonly token: string;
  readonly leaseName: string;
  readonly remainingMs: () => number;
  readonly onSettled: () => void;
}

/**
 * RunningTerm is one term of this process as leader. It starts the program's work, and has the methods that only the
 * elector may call.
 */
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

  /** `ended` is the outcome of the program's work. It is undefined while the work is running. */
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
    // Call the program's work in a later microtask, after the elector has stored this RunningTerm. `isLeader()` thus
    // returns true from the beginning of the work.
    await Promise.resolve();
    try {
      // If the process was suspended, its leadership may have ended before the program's work begins. `term.signal` is
      // then already aborted. In this case, do not call the work function: the work would wait for an `abort` event that
      // never comes.
      this.term.signal.throwIfAborted();
      await work(this.term);
      this.#ended = { kind: 'returned' };
    } catch (error) {
      this.#ended = { kind: this.isAborted || isNotLeader(error) ? 'stopped' : 'failed', error };
    }
    // Abort the signal that the work has received before the elector releases the Lease. A part of the work may still
    // run after the promise of the work has settled, for example after a rejection of Promise.all(). The abort tells
    // this part to stop.
    this.abort('the work has ended');
    this.#parts.onSettled();
  }

  #notLeader(why: string): LameduckError {
    return new LameduckError('LAMEDUCK_ERR_NOT_LEADER', `this process does not lead ${this.#parts.leaseName}: ${why}`);
  }
}

export function isNotLeader(error: unknown): boolean {
  return isLameduckError(error) && error.code === 'LAMEDUCK_ERR_NOT_LEADER';
}
