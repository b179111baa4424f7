// The state and the inputs of an elector's decision, and the rule for when a term is valid. Pure.
import type { Lease, LeaseBody } from './lease.ts';

/** Election is the configuration of an elector. Times are in milliseconds. */
export interface Election {
  readonly identity: string;
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** D, a whole number of seconds. */
  readonly leaseDuration: number;
  /** R. */
  readonly renewDeadline: number;
  /** P. */
  readonly retryPeriod: number;
}

/** Moment is one instant on both clocks, in milliseconds. Lengths of time are measured with `at` alone (L-096). */
export interface Moment {
  /** Monotonic. */
  readonly at: number;
  /** The wall clock. It is written into records. A jump against the monotonic clock shows that the machine was suspended. */
  readonly wall: number;
}

/** Reply is the outcome of a request. */
export type Reply =
  /** 200 to a GET or a PUT, 201 to a POST. */
  | { readonly kind: 'lease'; readonly lease: Lease }
  /** 404. */
  | { readonly kind: 'absent' }
  /** 409: another write came first, or the object has been replaced. */
  | { readonly kind: 'conflict' }
  /** 201 to a PUT: the Lease had been deleted, and the write created another one (L-032). */
  | { readonly kind: 'recreated' }
  /** Any other outcome. A write may have been applied, unless the API server has rejected it. */
  | { readonly kind: 'failed'; readonly isRejected: boolean; readonly retryAfter?: number | undefined };

/** Exchange is a request, its reply, and when each happened. `random` is drawn for each exchange, from 0 to below 1. */
export interface Exchange {
  readonly sent: Moment;
  readonly received: Moment;
  readonly reply: Reply;
  readonly random: number;
}

/**
 * Step names the next request of the attempt in progress. `read`, `check` and `find` are GETs: to contend, to learn why a
 * renewal met a conflict, and to release.
 */
export type Step = 'read' | 'create' | 'take' | 'renew' | 'check' | 'find' | 'release';

/** LossCause is why a term ended without a stop (L-094). */
export type LossCause =
  'renew deadline' | 'other holder' | 'no holder' | 'deleted' | 'replaced' | 'edited' | 'coordinated';

/** Claim identifies the record that this elector's last acquisition wrote, even if the API server has not acknowledged it. */
export interface Claim {
  /** Undefined for a Lease whose creation was not acknowledged. */
  readonly uid: string | undefined;
  readonly acquireTime: string | undefined;
  readonly transitions: number;
}

/** Tenure is a term: it begins with an acknowledged write that made this elector the holder. */
export interface Tenure {
  /** The resourceVersion of the acquiring write (L-131). */
  readonly token: string;
  /** The last version of the Lease that is known to be this term's own. */
  readonly lease: Lease;
  /** When the last acknowledged write was sent (L-093). */
  readonly renewed: Moment;
}

/** Observation is a version of the Lease, and when its record was first seen. */
export interface Observation {
  readonly lease: Lease;
  readonly at: number;
}

/** Change is what a watch reports. */
export interface Change {
  readonly lease: Lease;
  readonly isDeleted: boolean;
}

/** State is the whole input of the decision, apart from the clocks. */
export interface State {
  readonly goal: 'contend' | 'release' | 'end';
  readonly step: Step;
  /** When the next request is due, on the monotonic clock. */
  readonly due: number;
  /** When the attempt in progress began: an expiry is judged by this moment, which is before its GET (L-064). */
  readonly attemptAt: number;
  /** When the last request was sent. */
  readonly tried: Moment | undefined;
  /** The Lease as it was last read, and when this version of its record was first seen. */
  readonly observed: Observation | undefined;
  /** The newest version of which the watch has reported that nobody holds the Lease. */
  readonly freed: string | undefined;
  /** Whether a watch reports changes, so that nothing needs to be polled. */
  readonly isWatching: boolean;
  /** Whether a GET has followed a conflict in this attempt. */
  readonly hasChecked: boolean;
  readonly claim: Claim | undefined;
  readonly tenure: Tenure | undefined;
  /** Why the last term ended. */
  readonly loss: LossCause | undefined;
  /** When an unfinished release is given up. */
  readonly releaseBy: number;
  readonly isReleased: boolean;
  /** Renewals that needed a GET, as `leader_election_slowpath_total` counts them. */
  readonly slowpaths: number;
}

/** Request is one call of the API server. */
export interface Request {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly body?: LeaseBody;
  /** How long to wait for the reply, in milliseconds. */
  readonly timeout: number;
}

/** Plan is what to do next. */
export type Plan =
  | { readonly kind: 'send'; readonly request: Request }
  | { readonly kind: 'wait'; readonly until: number }
  | { readonly kind: 'lose'; readonly cause: LossCause }
  | { readonly kind: 'end' };

/**
 * mostDrift is how much more time may pass on the wall clock than on the monotonic clock during a term, in milliseconds.
 * After more, the machine may have been suspended, and another elector may have become the leader (L-096).
 */
export const mostDrift = 2_000;

/** begin returns the initial state of an elector. Its first attempt is due immediately. */
export function begin(now: Moment): State {
  return {
    ...{ goal: 'contend', step: 'read', due: now.at, attemptAt: now.at, tried: undefined, observed: undefined },
    ...{ freed: undefined, isWatching: false, hasChecked: false, claim: undefined, tenure: undefined, loss: undefined },
    ...{ releaseBy: Infinity, isReleased: false, slowpaths: 0 },
  };
}

/** validUntil returns when a term ends unless it is renewed (L-093). */
export function validUntil({ renewed }: Tenure, { renewDeadline }: Election): number {
  return renewed.at + renewDeadline;
}

/** isValid tells whether a term is valid now: its renew deadline has not passed, and the machine has not been suspended. */
export function isValid(tenure: Tenure, now: Moment, election: Election): boolean {
  return now.at < validUntil(tenure, election) && drift(tenure.renewed, now) <= mostDrift;
}

/** drift returns how much more time has passed on the wall clock than on the monotonic clock since a moment. */
export function drift(since: Moment, now: Moment): number {
  return now.wall - since.wall - (now.at - since.at);
}
