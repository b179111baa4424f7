// The loop of an elector. It sends the requests that the function `plan` returns, and calls the program's work function
// while this process leads. The method `stop` aborts the signal of the work function. The loop ends after the work has
// ended.
import type { Clock } from '../../clock.ts';
import { LameduckError } from '../../errors.ts';
import type { ElectorCounts } from '../../observer.ts';
import { checkFunction } from '../../arguments.ts';
import type { LeaseApi } from '../api-client/api-client.ts';
import { hint, learn, lose, plan, release, sending, watching } from '../decision/decision.ts';
import type { ElectionLog } from './election-log.ts';
import { begin, isRead, isValid, validUntil } from '../decision/state.ts';
import type { Election, LossCause, Moment, State, Tenure } from '../decision/state.ts';
import { RunningTerm, type Ended, type Work } from './term.ts';
import { Following } from './watch.ts';

export interface ElectorParts {
  readonly election: Election;
  /** `label` is the value of the label `name` in the metrics of this elector. */
  readonly label: string;
  readonly clock: Clock;
  /** `wall()` returns the time of the wall clock in milliseconds. */
  readonly wall: () => number;
  readonly random: () => number;
  readonly connect: () => Promise<LeaseApi>;
  readonly log: ElectionLog;
  /**
   * onLoss is called at each loss of leadership, while the program's work may still be running. If it returns true, the
   * elector contends for the Lease again.
   */
  readonly onLoss: () => boolean;
  /**
   * `exit()` ends the process at once. The elector calls it if the program's work is still running at the end of the
   * lease duration after a loss of leadership.
   */
  readonly exit: () => void;
  /** `record()` sends a core/v1 Event about the Lease with the given uid. No renewal waits for this call. */
  readonly record: (api: LeaseApi, uid: string, message: string) => void;
}

// The minimum time, in milliseconds, that the program's work gets after the abort of its AbortSignal, before the
// elector exits the process. The work gets this time even if the lease duration has already passed, for example after a
// suspension of the process.
const leastTimeToStop = 1_000;

// The elector stops trying to release the Lease this many milliseconds before the time limit of `stop()`. The promise
// of `stop()` thus resolves within the limit.
const leastTimeToReport = 100;

// The livez check fails only if the last renewal is older than the lease duration plus this many milliseconds. The
// components of Kubernetes tolerate the same time (L-103).
const renewalTolerance = 20_000;

interface Contest {
  readonly api: LeaseApi;
  readonly work: Work;
  state: State;
}

type Counts = { -readonly [Name in keyof Omit<ElectorCounts, 'name' | 'renewalAgeMs'>]: ElectorCounts[Name] };

/** LeaseElector contends for one Lease. */
export class LeaseElector {
  readonly #counts: Counts = { isLeader: false, slowpaths: 0, attemptMs: undefined };
  #renewedAt: number | undefined;
  readonly #parts: ElectorParts;
  readonly #following = new Following();
  #contest: Contest | undefined;
  #term: RunningTerm | undefined;
  #isRunning = false;
  #isStopped = false;
  #isReleased = false;
  /**
   * #stopBy is the time limit of `stop()`: from then on, the elector no longer tries to release the Lease. If the
   * program's work ends after #stopBy, the elector still tries for at most `renewDeadline`.
   */
  #stopBy = Infinity;
  #done: Promise<void> = Promise.resolve();
  #wake: () => void = () => undefined;
  #cancelExit: () => void = () => undefined;

  constructor(parts: ElectorParts) {
    this.#parts = parts;
  }

  get leader(): string | undefined {
    return this.#parts.log.leader;
  }

  remainingMs(): number {
    return this.#term?.remainingMs() ?? 0;
  }

  /** `counts` returns the state of the elector for the metrics. */
  get counts(): ElectorCounts {
    const renewalAgeMs = this.#renewedAt === undefined ? undefined : this.#parts.clock.now() - this.#renewedAt;
    return { name: this.#parts.label, ...this.#counts, renewalAgeMs };
  }

  /**
   * checkRenewals is the elector's check on /livez. It throws if this process leads and its last renewal is too old.
   * The kubelet then restarts the container. It never throws for a follower.
   */
  checkRenewals(): void {
    const { name, leaseDuration } = this.#parts.election;
    const { renewalAgeMs } = this.counts;
    if (renewalAgeMs === undefined || renewalAgeMs <= leaseDuration + renewalTolerance) return;
    throw new Error(`the leader has not renewed the Lease ${name} in time`);
  }

  async run(work: Work): Promise<void> {
    checkFunction('elector.run()', work);
    if (this.#isRunning) {
      throw new LameduckError(
        'LAMEDUCK_ERR_ELECTOR_RUNNING',
        'the previous call of `run` has not ended: await its promise before the next call',
      );
    }
    if (this.#isStopped) return;
    this.#isRunning = true;
    this.#isReleased = false;
    const running = this.#contend(work).finally(() => {
      this.#isRunning = false;
    });
    this.#done = running.catch(() => undefined);
    await running;
  }

  /**
   * `stop()` resolves within `limit` milliseconds, unless the program's work ends too late for this. `stop()` then
   * resolves at most `renewDeadline` after the end of the work.
   */
  async stop(limit = Infinity): Promise<boolean> {
    this.#isStopped = true;
    if (!this.#isRunning) return false;
    this.#stopBy = Math.min(this.#stopBy, this.#parts.clock.now() + limit - leastTimeToReport);
    this.#term?.abort('the elector was stopped');
    this.#wake();
    await this.#done;
    return this.#isReleased;
  }

  async #contend(work: Work): Promise<void> {
    const api = await this.#parts.connect();
    try {
      let ended: Ended | undefined;
      // If the program's work rejects because its term has ended, the elector releases the Lease. It pauses before it
      // contends for the Lease again, so that another elector can become the leader.
      do {
        const now = this.#now();
        const pause = ended === undefined ? 0 : this.#parts.election.retryPeriod * (1 + this.#parts.random());
        const state = { ...begin(now), due: now.at + pause, slowpaths: this.#counts.slowpaths };
        ended = await this.#holdOnce({ api, work, state });
      } while (ended?.kind === 'stopped' && !this.#isStopped);
      if (ended?.kind === 'failed') throw ended.error;
    } finally {
      this.#contest = undefined;
      this.#following.end();
      api.close();
    }
  }

  // Contends for the Lease, and runs the program's work while this process leads. After a loss of leadership, contends
  // again. Ends when the elector has released the Lease, and returns how the work ended when it last ran.
  async #holdOnce(contest: Contest): Promise<Ended | undefined> {
    const { election, log } = this.#parts;
    this.#contest = contest;
    for (;;) {
      this.#settle(contest);
      // Do not begin another term as leader while the program's work of the previous term is still running.
      if (contest.state.tenure === undefined && this.#term !== undefined && this.#term.ended === undefined) {
        await this.#sleep(Infinity);
        continue;
      }
      const now = this.#now();
      const planned = plan(contest.state, now, election);
      if (planned.kind === 'end') break;
      if (planned.kind === 'lose') this.#advance(contest, lose(contest.state, planned.cause, now));
      else if (planned.kind === 'wait') await this.#sleep(planned.until - now.at);
      else {
        contest.state = sending(contest.state, now, election);
        const { reply, problem } = await contest.api.send(planned.request);
        const received = this.#now();
        this.#counts.attemptMs = received.at - now.at;
        const exchange = { sent: now, received, reply, random: this.#parts.random() };
        const next = learn(contest.state, exchange, election);
        // If the elector writes the Lease after a successful GET, do not log yet that its requests succeed again. The
        // write may still fail.
        const isFollowedByWrite = planned.request.method === 'GET' && !isRead(next.step);
        if (problem !== undefined || !isFollowedByWrite) log.noteProblem(problem);
        this.#advance(contest, next);
      }
    }
    const ended = this.#term?.ended;
    this.#isReleased = contest.state.isReleased;
    if (this.#term !== undefined) log.released(this.#isReleased);
    this.#forgetTerm();
    return ended;
  }

  // Decides what follows after the program's work has ended or the elector was stopped. If the elector has lost the
  // Lease and was not stopped, it contends for the Lease again. Otherwise, it releases the Lease.
  #settle(contest: Contest): void {
    const term = this.#term;
    const { goal, tenure } = contest.state;
    if (goal !== 'contend' || (term !== undefined && term.ended === undefined)) return;
    const { election, log, record } = this.#parts;
    const { ended } = term ?? {};
    if (ended?.kind === 'stopped') log.stoppedWith(ended.error);
    const now = this.#now();
    // The program's work may notice before the elector that the term as leader has ended, for example after a
    // suspension of the process. Record the loss of leadership now, unless the work failed for another reason: `run`
    // then rejects with the error of the work.
    const canLose = ended !== undefined && ended.kind !== 'failed' && !this.#isStopped;
    if (canLose && tenure !== undefined && !isValid(tenure, now, election)) {
      this.#advance(contest, lose(contest.state, 'renew deadline', now));
    }
    const { state, api } = contest;
    const isLost = term !== undefined && state.tenure === undefined;
    if (isLost && !this.#isStopped) {
      this.#forgetTerm();
    } else if (this.#isStopped || term !== undefined) {
      if (term !== undefined && state.tenure !== undefined) {
        record(api, state.tenure.lease.uid, `${election.identity} stopped leading`);
      }
      const left = this.#stopBy - now.at;
      contest.state = release(state, now, left > 0 ? Math.min(left, election.renewDeadline) : election.renewDeadline);
    }
  }

  // Stores `next` as the state of the election, and acts on the changes. If leadership begins, it starts the program's
  // work. If leadership ends, it aborts the signal of the work. For a follower, it begins the watch of the Lease. For
  // any other elector, it ends the watch.
  #advance(contest: Contest, next: State): void {
    const before = contest.state.tenure;
    contest.state = next;
    const { tenure, observed, loss, step } = next;
    this.#noteLeader(next);
    this.#counts.slowpaths = next.slowpaths;
    if (tenure !== undefined) this.#renewedAt = tenure.renewed.at;
    if (before === undefined && tenure !== undefined) this.#beginTerm(contest, tenure);
    if (before !== undefined && tenure === undefined && loss !== undefined) this.#loseTerm(contest, before, loss);
    if (tenure !== undefined || next.goal !== 'contend' || this.#isStopped) this.#endFollowing(contest);
    // A follower watches the Lease, unless its next request writes the Lease.
    else if (observed !== undefined && step === 'read') this.#follow(contest);
  }

  #beginTerm({ api, work }: Contest, { token, lease }: Tenure): void {
    // The elector may have been stopped while the write that acquired the Lease was in flight. In this case, the
    // elector does not start the work, and releases the Lease.
    if (this.#isStopped) return;
    const { election, log, record } = this.#parts;
    this.#counts.isLeader = true;
    log.becameLeader(token);
    record(api, lease.uid, `${election.identity} became leader`);
    this.#term = new RunningTerm(work, {
      token,
      leaseName: `${election.namespace}/${election.name}`,
      remainingMs: () => this.#tenureMs(),
      onSettled: () => {
        this.#wake();
      },
    });
  }

  // Returns for how many milliseconds this elector may still act as leader. If the wall clock and the monotonic clock
  // disagree, the result is 0. The elector then sends a request at once to find out whether it still leads (L-096).
  #tenureMs(): number {
    const tenure = this.#contest?.state.tenure;
    const { election } = this.#parts;
    const now = this.#now();
    if (tenure === undefined) return 0;
    if (isValid(tenure, now, election)) return validUntil(tenure, election) - now.at;
    this.#wake();
    return 0;
  }

  #loseTerm({ api }: Contest, { renewed, lease }: Tenure, loss: LossCause): void {
    const { election, log, clock, onLoss, exit, record } = this.#parts;
    const term = this.#term;
    this.#counts.isLeader = false;
    if (term === undefined) return;
    term.abort(loss);
    log.lost(loss);
    record(api, lease.uid, `${election.identity} stopped leading`);
    const left = renewed.at + election.leaseDuration - clock.now();
    this.#cancelExit = clock.after(Math.max(leastTimeToStop, left), () => {
      if (term.ended !== undefined) return;
      log.unsettled();
      exit();
    });
    if (!onLoss()) this.#isStopped = true;
  }

  #forgetTerm(): void {
    this.#cancelExit();
    this.#term = undefined;
    this.#counts.isLeader = false;
    this.#renewedAt = undefined;
  }

  #noteLeader({ tenure, observed }: State): void {
    const { election, log } = this.#parts;
    log.noteLeader(tenure === undefined ? (observed?.lease.holder ?? '') : election.identity);
  }

  #follow(contest: Contest): void {
    const { election, clock, random, log } = this.#parts;
    const apply = (state: State): void => {
      contest.state = state;
      this.#noteLeader(state);
      this.#wake();
    };
    this.#following.begin({
      api: contest.api,
      clock,
      random,
      retryPeriod: election.retryPeriod,
      onProblem: (problem) => {
        log.noteWatch(problem);
      },
      onOpen: (isOpen) => {
        apply(watching(contest.state, isOpen, this.#now(), random(), election));
      },
      onChange: (lease) => {
        apply(hint(contest.state, lease, this.#now(), random(), election));
      },
    });
  }

  #endFollowing(contest: Contest): void {
    if (!this.#following.end()) return;
    contest.state = { ...contest.state, isWatching: false };
    contest.api.closeWatch();
  }

  #sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = milliseconds === Infinity ? () => undefined : this.#parts.clock.after(milliseconds, done);
      this.#wake = done;
      function done(): void {
        cancel();
        resolve();
      }
    });
  }

  #now(): Moment {
    return { at: this.#parts.clock.now(), wall: this.#parts.wall() };
  }
}
