// Reports an elector's changes to the log, to the program's `onLeaderChange`, and as core/v1 Events.
import { messageOf } from '../errors.ts';
import type { Logger } from '../observers/logger.ts';
import type { Problem } from './answer.ts';
import { roleText } from './role.ts';
import type { Election, LossCause } from './state.ts';
import { isNotLeader } from './term.ts';

/** ElectionLog writes the lines of one elector. A problem is logged when it begins, changes and ends. */
export class ElectionLog {
  readonly #log: Logger;
  readonly #election: Election;
  readonly #onLeaderChange: ((identity: string) => unknown) | undefined;
  #problem: string | undefined;
  #leader: string | undefined;

  constructor(log: Logger, election: Election, onLeaderChange: ((identity: string) => unknown) | undefined) {
    this.#log = log;
    this.#election = election;
    this.#onLeaderChange = onLeaderChange;
  }

  /** The identity of the leader that was seen last; undefined before the first. */
  get leader(): string | undefined {
    return this.#leader;
  }

  started(settings: Readonly<Record<string, string>>): void {
    this.#info('leader election started', { identity: this.#election.identity, settings });
  }

  becameLeader(token: string): void {
    this.#info('leadership acquired', { token });
  }

  lost(cause: LossCause): void {
    this.#log.warn({ ...this.#lease(), cause }, 'leadership lost');
  }

  released(isReleased: boolean): void {
    if (isReleased) this.#info('lease released', {});
    else this.#log.warn(this.#lease(), 'lease not released');
  }

  unsettled(): void {
    this.#log.error(this.#lease(), 'work outlived leadership');
  }

  /** stoppedWith logs why work rejected after its term, unless it only says that the term is over. */
  stoppedWith(error: unknown): void {
    const isAbort = error instanceof Error && error.name === 'AbortError';
    if (!isAbort && !isNotLeader(error))
      this.#log.warn({ ...this.#lease(), err: asError(error) }, 'work failed after its term');
  }

  /** noteProblem logs a problem once, and its end. */
  noteProblem(problem: Problem | undefined): void {
    if (problem?.kind === this.#problem) return;
    this.#problem = problem?.kind;
    if (problem === undefined) this.#info('lease requests succeed again', {});
    else {
      const role = problem.kind === 'forbidden' ? { role: roleText(this.#election) } : {};
      this.#log.error(
        { ...this.#lease(), problem: problem.kind, reason: problem.message, ...role },
        'lease request failed',
      );
    }
  }

  /** noteLeader reports each change of the leader; nobody is not a leader (L-100). */
  noteLeader(identity: string): void {
    if (identity === '' || identity === this.#leader) return;
    this.#leader = identity;
    this.#info('leader changed', { leader: identity });
    const report = (error: unknown): void => {
      this.#log.error({ ...this.#lease(), err: asError(error) }, 'leader change listener failed');
    };
    // Asynchronously, so that nothing that it does delays a renewal that is due.
    void Promise.resolve()
      .then(() => this.#onLeaderChange?.(identity))
      .catch(report);
  }

  #info(message: string, details: object): void {
    this.#log.info({ ...this.#lease(), ...details }, message);
  }

  #lease(): { lease: string } {
    return { lease: `${this.#election.namespace}/${this.#election.name}` };
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(messageOf(thrown));
}
