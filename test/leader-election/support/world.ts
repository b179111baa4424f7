// Simulates electors that contend for a Lease. Each elector has its own clocks, pauses and suspensions. A request may
// arrive late or never, and its response may be lost.
import {
  begin,
  isValid,
  type Election,
  type Moment,
  type Reply,
  type State,
} from '../../../src/leader-election/decision/state.ts';
import { hint, learn, lose, plan, release, sending, watching } from '../../../src/leader-election/decision/decision.ts';
import { parseLease } from '../../../src/leader-election/decision/lease.ts';
import { LeaseStore, type Answered } from '../../support/lease-store.ts';
import { seededRandom } from '../../../src/cli/rehearsal/random.ts';
import { electionOf } from './election.ts';

interface Event {
  readonly at: number;
  readonly order: number;
  readonly node: Node | undefined;
  readonly run: () => void;
}

interface Node {
  readonly election: Election;
  readonly rate: number;
  readonly offset: number;
  wallOffset: number;
  suspendedMs: number;
  state: State;
  wake: number;
  isBusy: boolean;
  isStopping: boolean;
  hasWatch: boolean;
  blockedUntil: number;
  isSuspended: boolean;
}

/**
 * Weather has the probability of each fault in a simulation of electors, from 0 to 1. `longestDelay` is the longest
 * delay of a simulated message, in milliseconds.
 */
export interface Weather {
  readonly lostRequests: number;
  readonly lostReplies: number;
  readonly failures: number;
  readonly longestDelay: number;
  readonly pauses: number;
  readonly suspensions: number;
  readonly wallSteps: number;
  readonly outages: number;
  readonly edits: number;
  readonly stops: number;
  readonly watches: number;
}

export interface Outcome {
  readonly terms: number;
  readonly takeovers: number;
  readonly problems: readonly string[];
}

const name = 'app';

/** World simulates electors that contend for one Lease. */
export class World {
  readonly #random: () => number;
  readonly #weather: Weather;
  readonly #store = new LeaseStore();
  readonly #nodes: Node[];
  readonly #events: Event[] = [];
  readonly #problems: string[] = [];
  #now = 0;
  #order = 0;
  #outageUntil = 0;
  #terms = 0;
  #lastToken = 0n;

  constructor(seed: number, electors: number, weather: Weather) {
    this.#random = seededRandom(seed);
    this.#weather = weather;
    this.#nodes = Array.from({ length: electors }, (_, index) => this.#createNode(index));
    this.#store.onWrite = ({ lease }) => {
      this.#tellWatches(lease);
    };
    for (const node of this.#nodes) this.#wakeAt(node, this.#chanceIn(20_000));
    this.#trouble();
  }

  run(duration: number): Outcome {
    for (let next = this.#next(); next !== undefined && next.at <= duration; next = this.#next()) {
      this.#events.splice(this.#events.indexOf(next), 1);
      this.#now = next.at;
      const { node } = next;
      // If an event comes while the simulated process is suspended, the process handles the event when it resumes.
      if (node !== undefined && node.blockedUntil > this.#now) this.#at(node.blockedUntil, node, next.run);
      else next.run();
      this.#check();
    }
    const holders = new Set(this.#store.writes.map(({ lease }) => String(lease.spec['leaseTransitions'])));
    return { terms: this.#terms, takeovers: holders.size, problems: this.#problems };
  }

  #createNode(index: number): Node {
    const election = electionOf(`elector-${String(index)}`, { name });
    const node: Node = {
      election,
      // The clocks of this simulation run too fast or too slow by up to a twentieth. A real quartz clock is wrong by
      // only a few millionths.
      rate: 0.95 + this.#random() * 0.1,
      offset: this.#chanceIn(1e9),
      wallOffset: this.#chanceIn(1e7),
      suspendedMs: 0,
      wake: 0,
      isBusy: false,
      isStopping: false,
      hasWatch: false,
      blockedUntil: 0,
      isSuspended: false,
      state: begin({ at: 0, wall: 0 }),
    };
    node.state = begin(this.#moment(node));
    return node;
  }

  #moment(node: Node): Moment {
    const { rate, offset, wallOffset, suspendedMs } = node;
    return { at: offset + (this.#now - suspendedMs) * rate, wall: 1.7e12 + wallOffset + this.#now * rate };
  }

  // Runs one iteration of the simulated elector's loop. Unlike the loop of a real elector, it uses no promises.
  #turn(node: Node): void {
    if (node.isBusy) return;
    const { election } = node;
    const now = this.#moment(node);
    if (node.isStopping && node.state.goal === 'contend') node.state = release(node.state, now, 10_000);
    const planned = plan(node.state, now, election);
    if (planned.kind === 'lose') {
      node.state = lose(node.state, planned.cause, now);
      this.#turn(node);
    } else if (planned.kind === 'end') {
      node.isStopping = false;
      node.state = begin(now);
      this.#wakeAt(node, this.#now + this.#chanceIn(10_000));
    } else if (planned.kind === 'wait') {
      this.#wakeAt(node, this.#now + (planned.until - now.at) / node.rate + 0.01);
    } else {
      const { request } = planned;
      node.state = sending(node.state, now, election);
      node.isBusy = true;
      this.#send(node, now, request.method, request.body as unknown as Record<string, unknown>, request.timeout);
    }
  }

  #send(node: Node, sent: Moment, method: string, body: Record<string, unknown>, timeout: number): void {
    let isOver = false;
    const settle = (reply: Reply): void => {
      if (isOver) return;
      isOver = true;
      node.isBusy = false;
      const had = node.state.tenure;
      const received = this.#moment(node);
      node.state = learn(node.state, { sent, received, reply, random: this.#random() }, node.election);
      const { tenure } = node.state;
      if (had === undefined && tenure !== undefined) this.#noteTerm(tenure.token);
      this.#turn(node);
    };
    this.#at(this.#now + timeout / node.rate, node, () => {
      settle({ kind: 'failed', isRejected: false });
    });
    if (this.#happens(this.#weather.lostRequests) || this.#now < this.#outageUntil) return;
    // The request of a simulated elector may reach the API server seconds later, even if the elector no longer waits
    // for the response.
    this.#at(this.#now + this.#delay(), undefined, () => {
      const isServed = !this.#happens(this.#weather.failures);
      const reply = isServed ? this.#serve(method, body) : undefined;
      if (this.#happens(this.#weather.lostReplies) || this.#now < this.#outageUntil) return;
      this.#at(this.#now + this.#delay(), node, () => {
        settle(reply ?? { kind: 'failed', isRejected: false, retryAfter: 1_000 });
      });
    });
  }

  #serve(method: string, body: Record<string, unknown>): Reply {
    const calls: Record<string, () => Answered> = {
      GET: () => this.#store.get(name),
      POST: () => this.#store.create(name, body),
      PUT: () => this.#store.update(name, body),
    };
    const answered = calls[method]?.();
    const lease = parseLease(answered?.body);
    if (lease !== undefined) return { kind: 'lease', lease, altered: undefined };
    if (answered?.status === 404) return { kind: 'absent' };
    return answered?.status === 409 ? { kind: 'conflict' } : { kind: 'failed', isRejected: true };
  }

  #tellWatches(lease: unknown): void {
    const parsed = parseLease(lease);
    if (parsed === undefined) return;
    for (const node of this.#nodes.filter(({ hasWatch }) => hasWatch)) {
      if (this.#happens(this.#weather.lostReplies)) continue;
      this.#at(this.#now + this.#delay(), node, () => {
        node.state = hint(node.state, parsed, this.#moment(node), this.#random(), node.election);
        this.#turn(node);
      });
    }
  }

  // Called once per second. Makes failures of the simulated electors happen at random, such as a pause or a change of
  // the wall clock.
  #trouble(): void {
    const { pauses, suspensions, wallSteps, outages, edits, stops, watches } = this.#weather;
    for (const node of this.#nodes) {
      const isRunning = node.blockedUntil <= this.#now;
      if (isRunning && this.#happens(pauses)) node.blockedUntil = this.#now + this.#chanceIn(40_000);
      else if (isRunning && this.#happens(suspensions)) this.#suspend(node, this.#chanceIn(90_000));
      // An elector notices a suspension of its machine by a forward jump of the wall clock. If the wall clock were set
      // back during the suspension, the elector could not notice it.
      const lowest = suspensions > 0 ? 0 : -0.5;
      if (this.#happens(wallSteps)) node.wallOffset += (lowest + this.#random()) * 7_200_000;
      if (this.#happens(stops)) node.isStopping = true;
      if (this.#happens(watches)) {
        node.hasWatch = !node.hasWatch;
        node.state = watching(node.state, node.hasWatch, this.#moment(node), this.#random(), node.election);
      }
      if (node.blockedUntil <= this.#now) this.#turn(node);
    }
    if (this.#happens(outages)) this.#outageUntil = this.#now + this.#chanceIn(60_000);
    const stored = this.#store.current(name);
    if (stored !== undefined && this.#happens(edits)) {
      this.#store.put(name, stored.spec, { labels: { edited: String(this.#now) } });
    }
    this.#at(this.#now + 1_000, undefined, () => {
      this.#trouble();
    });
  }

  // The monotonic clock stops during a suspension. The wall clock does not.
  #suspend(node: Node, duration: number): void {
    node.isSuspended = true;
    node.blockedUntil = this.#now + duration;
    this.#at(node.blockedUntil, undefined, () => {
      node.suspendedMs += duration;
      node.isSuspended = false;
    });
  }

  #check(): void {
    const leaders = this.#nodes.filter((node) => !node.isSuspended && this.#leads(node));
    if (leaders.length < 2) return;
    this.#problems.push(
      `${leaders.map(({ election }) => election.identity).join(' and ')} lead at ${String(this.#now)}`,
    );
  }

  #leads(node: Node): boolean {
    const { tenure } = node.state;
    return tenure !== undefined && isValid(tenure, this.#moment(node), node.election);
  }

  #noteTerm(token: string): void {
    this.#terms++;
    if (BigInt(token) <= this.#lastToken) this.#problems.push(`token ${token} follows ${String(this.#lastToken)}`);
    this.#lastToken = BigInt(token);
  }

  #wakeAt(node: Node, at: number): void {
    node.wake = at;
    this.#at(at, node, () => {
      if (node.wake === at) this.#turn(node);
    });
  }

  #at(at: number, node: Node | undefined, run: () => void): void {
    this.#events.push({ at, order: this.#order++, node, run });
  }

  #next(): Event | undefined {
    return this.#events.reduce<Event | undefined>(
      (first, event) =>
        first === undefined || event.at < first.at || (event.at === first.at && event.order < first.order)
          ? event
          : first,
      undefined,
    );
  }

  // Most delays of the simulated network are short, and some are very long.
  #delay(): number {
    const { longestDelay } = this.#weather;
    return this.#happens(0.9) ? this.#chanceIn(30) : this.#chanceIn(longestDelay);
  }

  #happens(chance: number): boolean {
    return this.#random() < chance;
  }

  #chanceIn(most: number): number {
    return this.#random() * most;
  }
}
