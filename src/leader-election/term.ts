// One term as the work sees it: a signal, a token, and claims that are computed from the clock at each call.
import { LameduckError, isLameduckError } from '../errors.ts';

/** Term is the argument of the work. */
export interface Term {
  /** Aborted when the term has ended or is about to be handed over. Its reason is LAMEDUCK_ERR_NOT_LEADER. */
  readonly signal: AbortSignal;
  /**
   * A decimal number that is greater for each later term of the Lease, whichever process leads. Send the token with each
   * write, and let the store reject a token that is smaller than the last.
   */
  readonly token: string;
  /** isLeader tells whether this term is valid at this moment. */
  readonly isLeader: () => boolean;
  /** remainingMs returns how long this term is still valid if it is not renewed, in milliseconds. */
  readonly remainingMs: () => number;
  /** assertLeader throws LAMEDUCK_ERR_NOT_LEADER unless this term is valid at this moment. */
  readonly assertLeader: () => void;
}

/** Work runs on the leader alone. It ends when its signal is aborted. */
export type Work = (term: Term) => unknown;

/** Ended is how work has settled. */
export type Ended =
  | { readonly kind: 'returned' }
  /** It rejected because its term was over, or after that. */
  | { readonly kind: 'stopped'; readonly error: unknown }
  | { readonly kind: 'failed'; readonly error: unknown };

/** TermParts is what a term is computed from. */
export interface TermParts {
  readonly token: string;
  readonly leaseName: string;
  readonly remainingMs: () => number;
  readonly onSettled: () => void;
}

/** RunningTerm is a term whose work has been started, from the side of the elector. */
export class RunningTerm {
  readonly term: Term;
  #ended: Ended | undefined;
  readonly #parts: TermParts;
  readonly #abort = new AbortController();

  constructor(work: Work, parts: TermParts) {
    this.#parts = parts;
    const isLeader = (): boolean => this.remainingMs() > 0;
    this.term = {
      ...{ signal: this.#abort.signal, token: parts.token, isLeader, remainingMs: () => this.remainingMs() },
      assertLeader: () => {
        if (!isLeader()) throw this.#notLeader('the term has ended');
      },
    };
    void this.#run(work);
  }

  /** How the work has settled; undefined while it runs. */
  get ended(): Ended | undefined {
    return this.#ended;
  }

  get isAborted(): boolean {
    return this.#abort.signal.aborted;
  }

  remainingMs(): number {
    return this.isAborted || this.#ended !== undefined ? 0 : this.#parts.remainingMs();
  }

  /** abort tells the work to stop. */
  abort(why: string): void {
    if (!this.isAborted) this.#abort.abort(this.#notLeader(why));
  }

  async #run(work: Work): Promise<void> {
    // Start the work in a later microtask, so that `isLeader()` of the elector already returns true in the work.
    await Promise.resolve();
    try {
      await work(this.term);
      this.#ended = { kind: 'returned' };
    } catch (error) {
      this.#ended = { kind: this.isAborted || isNotLeader(error) ? 'stopped' : 'failed', error };
    }
    this.#parts.onSettled();
  }

  #notLeader(why: string): LameduckError {
    return new LameduckError('LAMEDUCK_ERR_NOT_LEADER', `this process does not lead ${this.#parts.leaseName}: ${why}`);
  }
}

/** isNotLeader tells the error of a term that is over. */
export function isNotLeader(error: unknown): boolean {
  return isLameduckError(error) && error.code === 'LAMEDUCK_ERR_NOT_LEADER';
}
