// Electors that contend for a Lease on a simulated API server, with real sockets and with clocks that the test
// advances.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { connect, type LeaseApi } from '../../../src/leader-election/api-client/api-client.ts';
import { Credentials, type ApiServer as Address } from '../../../src/leader-election/api-client/credentials.ts';
import { ElectionLog } from '../../../src/leader-election/loop/election-log.ts';
import { LeaseElector } from '../../../src/leader-election/loop/elector.ts';
import { ElectionEvents } from '../../../src/leader-election/loop/events.ts';
import type { Election } from '../../../src/leader-election/decision/state.ts';
import type { Term } from '../../../src/leader-election/loop/term.ts';
import { ApiServer } from '../../support/api-server.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { electionOf } from './election.ts';

/** Line is one line of an elector's log. */
export interface Line {
  readonly level: string;
  readonly message: string;
  readonly details: Record<string, unknown>;
}

/**
 * Contender is an elector and what has happened to it so far. Each entry of `terms` is one period in which it has led.
 */
export interface Contender {
  readonly elector: LeaseElector;
  readonly identity: string;
  readonly lines: Line[];
  readonly leaders: string[];
  readonly terms: Term[];
  /**
   * Ends the work function of the current leadership: this function throws `error`, or returns if the test gives no
   * `error`.
   */
  finish: (error?: Error) => void;
  exits: number;
  losses: number;
  /**
   * Starts the elector. While the elector leads, its work function runs. This function ends when its AbortSignal is
   * aborted.
   */
  run(): Promise<void>;
  /**
   * Like run(), but the work function of the leader ends only when the test calls `finish`, even if its AbortSignal is
   * aborted.
   */
  runStubborn(): Promise<void>;
}

/** Contest is a simulated API server, a clock, and the electors that contend for a Lease of this API server. */
export class Contest {
  readonly clock = new FakeClock();
  readonly server = new ApiServer(this.clock);
  /** The time in milliseconds that is added to the test's clock to get the simulated wall clock. */
  wallAhead = 0;
  /** If true, `quiet()` does not wait for the responses to requests that create Kubernetes Events. */
  ignoresEvents = false;
  /** How many watches of the Lease the followers have started so far. */
  watchesBegun = 0;
  #inFlight = 0;
  #url = '';
  #watches = 0;

  static async begin(t: { after: (end: () => void) => void }): Promise<Contest> {
    const contest = new Contest();
    contest.#url = await contest.server.listen();
    t.after(() => {
      contest.server.close();
      mock.reset();
    });
    return contest;
  }

  wall = (): number => this.wallAt(this.clock.now());

  /** Converts a time of the test's clock to a time of the wall clock, in milliseconds since 1970. */
  wallAt(moment: number): number {
    return Date.UTC(2026, 0, 2) + moment + this.wallAhead;
  }

  contender(
    identity: string,
    more: Partial<Election> & { address?: Partial<Address>; random?: () => number; onLeaderChange?: () => void } = {},
  ): Contender {
    const { address, random = () => 0, onLeaderChange, ...overrides } = more;
    const contended = electionOf(identity, overrides);
    const [lines, leaders, terms]: [Line[], string[], Term[]] = [[], [], []];
    const logTo = (level: string) => (details: object, message: string) => {
      lines.push({ level, message, details: { ...details } });
    };
    const { clock, wall } = this;
    const log = new ElectionLog(
      { info: logTo('info'), warn: logTo('warn'), error: logTo('error') },
      contended,
      (leader) => {
        leaders.push(leader);
        onLeaderChange?.();
      },
    );
    const events = new ElectionEvents(contended, clock, wall);
    const server = { url: this.#url, ...address };
    const credentials = new Credentials(server, clock);
    const { name, namespace } = contended;
    const elector = new LeaseElector({
      election: contended,
      label: contended.name,
      log,
      clock,
      wall,
      random,
      connect: async () =>
        this.#counted(
          await connect({ server, credentials, name, namespace, clock, userAgent: 'test', connectTimeout: 3_333 }),
        ),
      record: (api, uid, message) => {
        events.record(api, uid, message);
      },
      onLoss: () => {
        contender.losses++;
        return true;
      },
      exit: () => {
        contender.exits++;
      },
    });
    const run = (work: (term: Term) => Promise<void>): Promise<void> =>
      elector.run((term) => {
        terms.push(term);
        return work(term);
      });
    const contender: Contender = {
      elector,
      identity,
      lines,
      leaders,
      terms,
      exits: 0,
      losses: 0,
      finish: () => undefined,
      run: () =>
        run(
          ({ signal }) =>
            new Promise((resolve) => {
              contender.finish = () => {
                resolve();
              };
              signal.addEventListener('abort', () => {
                resolve();
              });
            }),
        ),
      runStubborn: () =>
        run(
          () =>
            new Promise((resolve, reject) => {
              contender.finish = (error) => {
                if (error === undefined) resolve();
                else reject(error);
              };
            }),
        ),
    };
    return contender;
  }

  /**
   * Writes the Lease in the simulated API server as another elector would write it: with the holder `holder`, renewed
   * at the current time.
   */
  heldBy(holder: string, spec: Record<string, unknown> = {}): void {
    const time = new Date(this.wall()).toISOString().replace('Z', '000Z');
    this.server.store.put('app', {
      holderIdentity: holder,
      leaseDurationSeconds: 15,
      acquireTime: time,
      renewTime: time,
      leaseTransitions: 3,
      ...spec,
    });
  }

  /**
   * `advance()` moves the test's clock forward by `milliseconds` and runs the timers that become due, in order. After
   * each timer, `advance()` waits until the simulated API server has answered all requests, except the requests whose
   * answers the test has delayed.
   */
  async advance(milliseconds: number): Promise<void> {
    const end = this.clock.now() + milliseconds;
    await this.quiet();
    while (this.clock.now() < end) {
      await this.clock.advance(Math.min(this.clock.untilNext, end - this.clock.now()));
      await this.quiet();
    }
  }

  /**
   * `quiet()` resolves when no promise callback is pending, and each request either has its response or is held back by
   * the test's API server.
   */
  async quiet(): Promise<void> {
    for (let calm = 0; calm < 12;) {
      await new Promise((resolve) => setImmediate(resolve));
      calm = this.#inFlight === this.server.held ? calm + 1 : 0;
    }
  }

  spec(): Record<string, unknown> {
    return this.server.store.current('app')?.spec ?? {};
  }

  get openWatches(): number {
    return this.#watches;
  }

  #counted(api: LeaseApi): LeaseApi {
    return {
      send: (request) => this.#count(api.send(request)),
      watch: async (onOpen, onChange, signal) => {
        this.#watches++;
        this.watchesBegun++;
        try {
          return await api.watch(onOpen, onChange, signal);
        } finally {
          this.#watches--;
        }
      },
      record: (event, signal) =>
        this.ignoresEvents ? api.record(event, signal) : this.#count(api.record(event, signal)),
      closeWatch: () => {
        api.closeWatch();
      },
      close: () => {
        api.close();
      },
    };
  }

  async #count<Value>(promise: Promise<Value>): Promise<Value> {
    this.#inFlight++;
    try {
      return await promise;
    } finally {
      this.#inFlight--;
    }
  }
}

/**
 * `leading()` starts a single elector, `a`, and waits until `a` leads. If `isStubborn` is true, the work function of
 * `a` ignores its AbortSignal, and ends only when the test calls `a.finish`.
 */
export async function leading(
  t: Parameters<typeof Contest.begin>[0],
  isStubborn = false,
): Promise<{ contest: Contest; a: Contender; running: Promise<void> }> {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  const running = isStubborn ? a.runStubborn() : a.run();
  await contest.advance(1_000);
  assert.equal(a.terms.length, 1);
  return { contest, a, running };
}
