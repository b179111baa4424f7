// The types of an elector's state, configuration, requests and replies, and the rule by which a term is valid. No side
// effects.
import type { Alteration, Lease, LeaseBody } from './lease.ts';

/** Election is the configuration of an elector. Times are in milliseconds. */
export interface Election {
  readonly identity: string;
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /**
   * leaseDuration is how long the Lease is valid after a renewal: a whole number of seconds. docs/conformance.md calls
   * it D.
   */
  readonly leaseDuration: number;
  /**
   * renewDeadline is how long the elector tries to renew before it gives up leadership. docs/conformance.md calls it
   * R.
   */
  readonly renewDeadline: number;
  /** retryPeriod is the time between two attempts. docs/conformance.md calls it P. */
  readonly retryPeriod: number;
}

/**
 * Moment is one point in time on the monotonic clock and on the wall clock, in milliseconds. Only `at` is used to
 * measure durations (L-096).
 */
export interface Moment {
  /** `at` is this moment on the monotonic clock, in milliseconds. */
  readonly at: number;
  /**
   * `wall` is the time of the wall clock, which the elector writes into the Lease. If the wall clock advances further
   * than the monotonic clock, the machine may have been suspended.
   */
  readonly wall: number;
}

/** Reply is the result of a request for the Lease. */
export type Reply =
  /** `lease` is the result if the API server has answered a GET or a PUT with 200, or a POST with 201. */
  | LeaseReply
  /** `absent`: the API server has answered with 404. */
  | { readonly kind: 'absent' }
  /**
   * `conflict`: the API server has answered with 409. Another client has changed or replaced the Lease in the meantime.
   */
  | { readonly kind: 'conflict' }
  /**
   * `recreated`: the API server has answered a PUT with 201. Somebody had deleted the Lease, and the PUT has created a
   * new Lease (L-032).
   */
  | { readonly kind: 'recreated' }
  /**
   * `failed`: any result that is none of the other kinds. If the request was a write, the API server may have applied
   * it, unless `isRejected` is true.
   */
  | { readonly kind: 'failed'; readonly isRejected: boolean; readonly retryAfter?: number | undefined };

/** LeaseReply is a reply that contains the Lease. */
export interface LeaseReply {
  readonly kind: 'lease';
  readonly lease: Lease;
  /**
   * `altered` is undefined, unless the API server has accepted a write but has stored another spec than this elector
   * sent. Then it describes the difference.
   */
  readonly altered: Alteration | undefined;
}

/**
 * Exchange is a request with its reply, and the times at which the request was sent and the reply arrived. `random` is
 * a number from 0 up to, but not including, 1. All jitter is computed from `random`.
 */
export interface Exchange {
  readonly sent: Moment;
  readonly received: Moment;
  readonly reply: Reply;
  readonly random: number;
}

/**
 * Step is the next request of the current attempt. `read`, `check` and `find` are GETs. `read` begins an attempt,
 * `check` finds out why a renewal got a 409, and `find` precedes a release.
 */
export type Step = 'read' | 'create' | 'take' | 'renew' | 'check' | 'find' | 'release';

/** isRead tells whether a step is a GET. */
export function isRead(step: Step): step is 'read' | 'check' | 'find' {
  return step === 'read' || step === 'check' || step === 'find';
}

/** LossCause is the reason why a term as leader ended although nothing stopped the elector (L-094). */
export type LossCause =
  'renew deadline' | 'other holder' | 'no holder' | 'deleted' | 'replaced' | 'edited' | 'coordinated';

/**
 * Claim identifies the last write with which this elector tried to become the holder of the Lease. The API server may
 * not have acknowledged that write.
 */
export interface Claim {
  /** `uid` is undefined if the creation of the Lease was not acknowledged. */
  readonly uid: string | undefined;
  readonly acquireTime: string | undefined;
  readonly transitions: number;
}

/**
 * Tenure is a term of this elector as leader. It begins with an acknowledged write that made this elector the holder.
 */
export interface Tenure {
  /** `token` is the resourceVersion of the write that acquired the Lease (L-131). */
  readonly token: string;
  /** `lease` is the newest known version of the Lease in which this elector is the holder. */
  readonly lease: Lease;
  /** `renewed` is when the elector sent the last write that the API server has acknowledged (L-093). */
  readonly renewed: Moment;
}

/**
 * Observation is a version of the Lease, with the time when this elector first saw it. Two versions with the same
 * `recordOf` count as one version.
 */
export interface Observation {
  readonly lease: Lease;
  readonly at: number;
}

/** State is the state of an elector. It has everything that a decision depends on, apart from the clocks. */
export interface State {
  readonly goal: 'contend' | 'release' | 'end';
  readonly step: Step;
  /** `due` is when the next request is due, on the monotonic clock. */
  readonly due: number;
  /**
   * attemptAt is when the current attempt to get the Lease began, before its GET. A Lease counts as expired only if it
   * had expired at this time (L-064).
   */
  readonly attemptAt: number;
  /** `tried` is when the elector sent its last request. It is undefined before the first request. */
  readonly tried: Moment | undefined;
  /** `observed` is the last version of the Lease that was read, with the time when it was first seen. */
  readonly observed: Observation | undefined;
  /** `freed` is the resourceVersion of the newest version of the Lease without a holder that the watch has reported. */
  readonly freed: string | undefined;
  /** isWatching tells whether a watch reports changes, so that polling is not necessary. */
  readonly isWatching: boolean;
  /** hasChecked is true if, in this attempt, the elector has sent a GET after a 409. */
  readonly hasChecked: boolean;
  readonly claim: Claim | undefined;
  readonly tenure: Tenure | undefined;
  /** `loss` is the reason why the elector's last term as leader ended. */
  readonly loss: LossCause | undefined;
  /** releaseBy is the time at which the elector stops its attempts to release the Lease. */
  readonly releaseBy: number;
  readonly isReleased: boolean;
  /**
   * `slowpaths` is the number of renewals that needed a GET before the PUT. It is the value of the metric
   * `leader_election_slowpath_total`.
   */
  readonly slowpaths: number;
}

/** LeaseRequest is one request to the API server. */
export interface LeaseRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly body?: LeaseBody;
  /** `timeout` is how long to wait for the reply, in milliseconds. */
  readonly timeout: number;
}

/** Plan is the next action of an elector. */
export type Plan =
  | { readonly kind: 'send'; readonly request: LeaseRequest }
  | { readonly kind: 'wait'; readonly until: number }
  | { readonly kind: 'lose'; readonly cause: LossCause }
  | { readonly kind: 'end' };

/**
 * mostDrift is how much further the wall clock may advance than the monotonic clock in a term, in milliseconds. If it
 * advances further, the machine may have been suspended, and another elector may have become the leader (L-096).
 */
export const mostDrift = 2_000;

/** `begin()` returns the initial state of an elector. The first attempt is due at once. */
export function begin(now: Moment): State {
  return {
    goal: 'contend',
    step: 'read',
    due: now.at,
    attemptAt: now.at,
    tried: undefined,
    observed: undefined,
    freed: undefined,
    isWatching: false,
    hasChecked: false,
    claim: undefined,
    tenure: undefined,
    loss: undefined,
    releaseBy: Infinity,
    isReleased: false,
    slowpaths: 0,
  };
}

/** validUntil returns the time at which a term as leader ends unless the Lease is renewed (L-093). */
export function validUntil({ renewed }: Tenure, { renewDeadline }: Election): number {
  return renewed.at + renewDeadline;
}

/**
 * isValid tells whether this process still leads: the renew deadline of its term has not passed, and the machine was
 * not suspended.
 */
export function isValid(tenure: Tenure, now: Moment, election: Election): boolean {
  return now.at < validUntil(tenure, election) && drift(tenure.renewed, now) <= mostDrift;
}

/** `drift()` returns how much more time has passed on the wall clock than on the monotonic clock since a moment. */
export function drift(since: Moment, now: Moment): number {
  return now.wall - since.wall - (now.at - since.at);
}
