// The loop: it carries out what the decision plans, gives the work its terms, and ends both at a stop.
import type { Clock } from '../clock.ts';
import { LameduckError } from '../errors.ts';
import type { ElectorCounts } from '../observer.ts';
import type { Problem } from './answer.ts';
import type { LeaseApi } from './api-client.ts';
import { ask } from './ask.ts';
import { hint, isCoordinated, learn, lose, plan, release, sending, watching } from './decision.ts';
import type { ElectionLog } from './election-log.ts';
import { begin, isValid, validUntil } from './state.ts';
import type { Election, LossCause, Moment, Reply, State, Tenure } from './state.ts';
import { RunningTerm, type Ended, type Work } from './term.ts';
import { Following } from './watch.ts';

/** ElectorParts is what an elector is put together from. */
export interface ElectorParts {
  readonly election: Election;
  readonly clock: Clock;
  /** Milliseconds of the wall clock. */
  readonly wall: () => number;
  readonly random: () => number;
  readonly connect: () => Promise<LeaseApi>;
  readonly log: ElectionLog;
  /** Called at each loss, before the work has settled. Returns whether the elector contends again. */
  readonly onLoss: () => boolean;
  /** Ends the process at once, since work outlived the lease duration. */
  readonly exit: () => void;
  /** Records an Event off the path of the renewals. */
  readonly record: (api: LeaseApi, message: string) => void;
}

// How long work may continue after its abort if the lease duration has already passed, in milliseconds. In that case the
// process was blocked or frozen, so the work has received the abort late.
const leastTimeToStop = 1_000;

// Node's longest timer, in milliseconds. Another client's record may say a longer lease duration. A longer timer would end at once.
const longestTimer = 2 ** 31 - 1;

/** Contest is one call of `run`: its client of the API server, its work and its state. */
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

  /** The values for the metrics. */
  get counts(): ElectorCounts {
    const renewalAgeMs = this.#renewedAt === undefined ? undefined : this.#parts.clock.now() - this.#renewedAt;
    return { name: this.#parts.election.name, ...this.#counts, renewalAgeMs };
  }

  async run(work: Work): Promise<void> {
    if (this.#isRunning) {
      throw new LameduckError('LAMEDUCK_ERR_ELECTOR_RUNNING', '`run` is in progress: await it before the next call');
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

  async stop(): Promise<boolean> {
    this.#isStopped = true;
    if (!this.#isRunning) return false;
    this.#term?.abort('the elector was stopped');
    this.#wake();
    await this.#done;
    return this.#isReleased;
  }

  async #contend(work: Work): Promise<void> {
    const api = await this.#parts.connect();
    try {
      let ended: Ended | undefined;
      // Work that has rejected because its term was over gave up the Lease, and contends for it again.
      do {
        const state = { ...begin(this.#now()), slowpaths: this.#counts.slowpaths };
        ended = await this.#holdOnce({ api, work, state });
      } while (ended?.kind === 'stopped' && !this.#isStopped);
      if (ended?.kind === 'failed') throw ended.error;
    } finally {
      this.#contest = undefined;
      this.#following.end();
      api.close();
    }
  }

  // From the first attempt to a release, over terms that were lost. It returns how the work of the last term has settled.
  async #holdOnce(contest: Contest): Promise<Ended | undefined> {
    const { election, log, clock } = this.#parts;
    this.#contest = contest;
    for (;;) {
      this.#settle(contest);
      // The next term must not begin beside the work of the last one.
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
        const { reply, problem } = await ask(contest.api, planned.request, clock);
        const received = this.#now();
        this.#counts.attemptMs = received.at - now.at;
        log.noteProblem(coordinationIn(reply) ?? problem);
        const exchange = { sent: now, received, reply, random: this.#parts.random() };
        this.#advance(contest, learn(contest.state, exchange, election));
      }
    }
    const ended = this.#term?.ended;
    this.#isReleased = contest.state.isReleased;
    if (this.#term !== undefined) log.released(this.#isReleased);
    this.#forgetTerm();
    return ended;
  }

  // When the work has settled or the elector is stopped, release the Lease. After a loss, contend again.
  #settle(contest: Contest): void {
    const term = this.#term;
    const { goal, tenure } = contest.state;
    if (goal !== 'contend' || (term !== undefined && term.ended === undefined)) return;
    const { election, log, record } = this.#parts;
    if (term?.ended?.kind === 'stopped') {
      log.stoppedWith(term.ended.error);
      const now = this.#now();
      // After a pause of the process, the work may notice before this loop that its term is over: that is a loss, too.
      if (!this.#isStopped && tenure !== undefined && !isValid(tenure, now, election)) {
        this.#advance(contest, lose(contest.state, 'renew deadline', now));
      }
    }
    const { state, api } = contest;
    const isLost = term !== undefined && state.tenure === undefined;
    if (isLost && !this.#isStopped) {
      this.#forgetTerm();
    } else if (this.#isStopped || term !== undefined) {
      if (term !== undefined && !isLost) record(api, `${election.identity} stopped leading`);
      contest.state = release(state, this.#now(), election.renewDeadline);
    }
  }

  // Adopts a new state: begins or ends a term, and begins or ends the watch of the Lease.
  #advance(contest: Contest, next: State): void {
    const before = contest.state.tenure;
    contest.state = next;
    const { tenure, observed, loss } = next;
    this.#noteLeader(next);
    this.#counts.slowpaths = next.slowpaths;
    if (tenure !== undefined) this.#renewedAt = tenure.renewed.at;
    if (before === undefined && tenure !== undefined) this.#beginTerm(contest, tenure.token);
    if (before !== undefined && tenure === undefined && loss !== undefined) this.#loseTerm(contest, before, loss);
    if (tenure !== undefined || next.goal !== 'contend' || this.#isStopped) this.#endFollowing(contest);
    else if (observed !== undefined) this.#follow(contest);
  }

  #beginTerm({ api, work }: Contest, token: string): void {
    // A write that was under way at the stop has been acknowledged: it is released, and no work begins.
    if (this.#isStopped) return;
    const { election, log, record } = this.#parts;
    this.#counts.isLeader = true;
    log.becameLeader(token);
    record(api, `${election.identity} became leader`);
    this.#term = new RunningTerm(work, {
      ...{ token, leaseName: `${election.namespace}/${election.name}`, remainingMs: () => this.#tenureMs() },
      onSettled: () => {
        this.#wake();
      },
    });
  }

  // Computed from both clocks at each call. A term in doubt is proved or lost by a request that is sent at once (L-096).
  #tenureMs(): number {
    const tenure = this.#contest?.state.tenure;
    const { election } = this.#parts;
    const now = this.#now();
    if (tenure === undefined) return 0;
    if (isValid(tenure, now, election)) return validUntil(tenure, election) - now.at;
    this.#wake();
    return 0;
  }

  #loseTerm({ api }: Contest, { renewed }: Tenure, loss: LossCause): void {
    const { election, log, clock, onLoss, exit, record } = this.#parts;
    const term = this.#term;
    this.#counts.isLeader = false;
    if (term === undefined) return;
    term.abort(loss);
    log.lost(loss);
    record(api, `${election.identity} stopped leading`);
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
    const { election, clock, random } = this.#parts;
    const apply = (state: State): void => {
      contest.state = state;
      this.#noteLeader(state);
      this.#wake();
    };
    this.#following.begin({
      ...{ api: contest.api, clock, random, retryPeriod: election.retryPeriod },
      onOpen: (isOpen) => {
        apply(watching(contest.state, isOpen, this.#now(), random(), election));
      },
      onChange: (change) => {
        apply(hint(contest.state, change, this.#now(), random(), election));
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
      const most = Math.min(milliseconds, longestTimer);
      const cancel = milliseconds === Infinity ? () => undefined : this.#parts.clock.after(most, done);
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

function coordinationIn(reply: Reply): Problem | undefined {
  if (reply.kind !== 'lease' || !isCoordinated(reply.lease)) return undefined;
  return {
    kind: 'coordinated',
    message: 'the Lease has a strategy or a preferred holder: coordinated leader election chooses its holder',
  };
}
