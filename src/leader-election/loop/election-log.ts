// Writes the log lines of an elector, and calls the program's `onLeaderChange`.
import { messageOf } from '../../errors.ts';
import type { Logger } from '../../observers/logger.ts';
import type { Problem } from '../api-client/answer.ts';
import type { Election, LossCause } from '../decision/state.ts';
import { isNotLeader } from './term.ts';

/**
 * ElectionLog writes the log lines of one elector. While requests for the Lease fail for the same reason, it logs only
 * the first failure.
 */
export class ElectionLog {
  readonly #log: Logger;
  readonly #election: Election;
  readonly #onLeaderChange: ((identity: string) => unknown) | undefined;
  #problem: string | undefined;
  #watchProblem: string | undefined;
  #leader: string | undefined;

  constructor(log: Logger, election: Election, onLeaderChange: ((identity: string) => unknown) | undefined) {
    this.#log = log;
    this.#election = election;
    this.#onLeaderChange = onLeaderChange;
  }

  /**
   * `leader` is the identity of the last leader that the elector has seen. It is undefined if the elector has seen
   * none.
   */
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

  /**
   * stoppedWith is called if the program's work fails after the elector has stopped leading. It logs the error, unless
   * the error only reports the end of the leadership.
   */
  stoppedWith(error: unknown): void {
    const isAbort = error instanceof Error && error.name === 'AbortError';
    if (!isAbort && !isNotLeader(error))
      this.#log.warn({ ...this.#lease(), err: asError(error) }, 'work failed after its term');
  }

  /** noteProblem logs when the requests for the Lease begin to fail, fail for another reason, or succeed again. */
  noteProblem(problem: Problem | undefined): void {
    if (problem?.kind === this.#problem) return;
    this.#problem = problem?.kind;
    if (problem === undefined) this.#info('lease requests succeed again', {});
    else this.#log.error(this.#problemDetails(problem), 'lease request failed');
  }

  /**
   * noteWatch logs why the API server denies a follower's watch of the Lease. The follower then polls the Lease.
   * noteWatch does not log an interrupted watch, because each restart of an API server interrupts watches.
   */
  noteWatch(problem: Problem | undefined): void {
    if (problem?.kind === this.#watchProblem || problem?.kind === 'unreachable') return;
    this.#watchProblem = problem?.kind;
    if (problem !== undefined) this.#log.warn(this.#problemDetails(problem), 'lease watch failed');
  }

  /** noteLeader reports each change of the leader. While a Lease has no holder, it reports nothing (L-100). */
  noteLeader(identity: string): void {
    if (identity === '' || identity === this.#leader) return;
    this.#leader = identity;
    this.#info('leader changed', { leader: identity });
    const report = (error: unknown): void => {
      this.#log.error({ ...this.#lease(), err: asError(error) }, 'leader change listener failed');
    };
    // Call `onLeaderChange` asynchronously, so that it cannot delay a renewal.
    void Promise.resolve()
      .then(() => this.#onLeaderChange?.(identity))
      .catch(report);
  }

  #info(message: string, details: object): void {
    this.#log.info({ ...this.#lease(), ...details }, message);
  }

  #problemDetails(problem: Problem): object {
    const role = problem.kind === 'forbidden' ? { role: roleText(this.#election) } : {};
    return { ...this.#lease(), problem: problem.kind, reason: problem.message, ...role };
  }

  #lease(): { lease: string } {
    return { lease: `${this.#election.namespace}/${this.#election.name}` };
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(messageOf(thrown));
}

/**
 * roleText returns the Role that an elector needs, as YAML (L-041). The permission `create` cannot be restricted to
 * one name, because the name is not in the URL of the request, but in its body.
 */
export function roleText({ name, namespace }: { readonly name: string; readonly namespace: string }): string {
  return `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: ${name}
  namespace: ${namespace}
rules:
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    verbs: [create]
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    resourceNames: [${name}]
    verbs: [get, update, list, watch]
  - apiGroups: ['']
    resources: [events]
    verbs: [create, patch]
`;
}
