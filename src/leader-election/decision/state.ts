// The types of an elector's state, configuration, requests and replies, and the functions that decide whether the
// elector still leads. No side effects.
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
  /**
   * retryPeriod is the time between two attempts of the elector to acquire or renew the Lease. docs/conformance.md
   * calls it P.
   */
  readonly retryPeriod: number;
}

/**
 * Moment is one point in time on the monotonic clock and on the wall clock, in milliseconds. Only `at` is used to
 * measure durations (L-096).
 */
export interface Moment {
  /** `at` is a time of the monotonic clock, in milliseconds. */
  readonly at: number;
  /**
   * `wall` is the time of the wall clock, which the elector writes into the Lease. If the wall clock advances further
   * than the monotonic clock, the machine may have been suspended.
   */
  readonly wall: number;
}

/** Reply is the result of a request that reads or writes the Lease. */
export type Reply =
  /** `lease`: the API server has answered a GET or a PUT with 200, or a POST with 201. The reply contains the Lease. */
  | LeaseReply
  /** `absent`: the API server has answered with 404. */
  | { readonly kind: 'absent' }
  /**
   * `conflict`: the API server has answered with 409. Another client has changed or replaced the Lease since this
   * elector read it.
   */
  | { readonly kind: 'conflict' }
  /**
   * `recreated`: the API server has answered a PUT with 201. Somebody had deleted the Lease, and the PUT has created a
   * new Lease (L-032).
   */
  | { readonly kind: 'recreated' }
  /**
   * `failed`: the request has failed in a way that no other kind describes. If the request was a write, the API server
   * may still have applied it, unless `isRejected` is true.
   */
  | { readonly kind: 'failed'; readonly isRejected: boolean; readonly retryAfter?: number | undefined };

/** LeaseReply is a reply that contains the Lease. */
export interface LeaseReply {
  readonly kind: 'lease';
  readonly lease: Lease;
  /**
   * If the API server has accepted a write but stored another spec than the elector sent, `altered` describes the
   * difference. In all other cases, `altered` is undefined.
   */
  readonly altered: Alteration | undefined;
}

/**
 * Exchange is one request to the API server with its reply, and with the times at which the request was sent and the
 * reply arrived. `random` is a number from 0 up to, but not including, 1. The random delay before the next request is
 * computed from it.
 */
export interface Exchange {
  readonly sent: Moment;
  readonly received: Moment;
  readonly reply: Reply;
  readonly random: number;
}

/**
 * Step is the kind of the elector's next request. `read`, `check` and `find` are GETs. `read` begins an attempt to
 * acquire the Lease. `check` finds out why a renewal got a 409. `find` precedes the write that releases the Lease.
 */
export type Step = 'read' | 'create' | 'take' | 'renew' | 'check' | 'find' | 'release';

export function isRead(step: Step): step is 'read' | 'check' | 'find' {
  return step === 'read' || step === 'check' || step === 'find';
}

/** LossCause is the reason why an elector lost its leadership without a call of `stop()` (L-094). */
export type LossCause =
  'renew deadline' | 'other holder' | 'no holder' | 'deleted' | 'replaced' | 'edited' | 'coordinated';

/**
 * Claim identifies the last write in which this elector named itself as the holder of the Lease. The API server may not
 * have acknowledged this write.
 */
export interface Claim {
  /**
   * `uid` is the uid of the Lease. While the API server has not acknowledged this elector's request to create the
   * Lease, `uid` is undefined.
   */
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
  /** `lease` is the newest version of the Lease that this elector has received while it was the holder. */
  readonly lease: Lease;
  /**
   * `renewed` is the time at which the elector sent the last write of the Lease that the API server has acknowledged
   * (L-093).
   */
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

/**
 * State is the state of an elector. It contains everything on which the elector's next action depends, except the
 * current time.
 */
export interface State {
  readonly goal: 'contend' | 'release' | 'end';
  readonly step: Step;
  /** `due` is the time on the monotonic clock at which the elector must send its next request. */
  readonly due: number;
  /**
   * attemptAt is the time at which the current attempt to acquire the Lease began, just before the attempt's GET of the
   * Lease. The Lease counts as expired only if it had already expired at this time (L-064).
   */
  readonly attemptAt: number;
  /**
   * `tried` is the time at which the elector sent its last request for the Lease. It is undefined before the first
   * request.
   */
  readonly tried: Moment | undefined;
  /**
   * `observed` is the version of the Lease that the elector read most recently. It includes the time at which the
   * elector first read this version.
   */
  readonly observed: Observation | undefined;
  /**
   * `freed` is the resourceVersion of the newest released version of the Lease that the watch has reported. If the
   * watch has reported no release, `freed` is undefined.
   */
  readonly freed: string | undefined;
  /** isWatching tells whether a watch request for the Lease is open, so that the elector need not poll the Lease. */
  readonly isWatching: boolean;
  /**
   * hasChecked is true if the elector has already sent a GET after a 409, in its current attempt to renew or release
   * the Lease.
   */
  readonly hasChecked: boolean;
  readonly claim: Claim | undefined;
  readonly tenure: Tenure | undefined;
  /** `loss` says why the elector's most recent term as leader ended. */
  readonly loss: LossCause | undefined;
  /** releaseBy is the time after which the elector no longer tries to release the Lease. */
  readonly releaseBy: number;
  readonly isReleased: boolean;
  /**
   * `slowpaths` is the number of renewals that needed a GET before the PUT. It is the value of the metric
   * `leader_election_slowpath_total`.
   */
  readonly slowpaths: number;
}

/** LeaseRequest is one HTTP request of the elector that reads or writes the Lease. */
export interface LeaseRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly body?: LeaseBody;
  /** `timeout` is how long to wait for the reply, in milliseconds. */
  readonly timeout: number;
}

/** Plan says what the elector does next: it sends a request, waits, gives up leadership, or leaves the election. */
export type Plan =
  | { readonly kind: 'send'; readonly request: LeaseRequest }
  | { readonly kind: 'wait'; readonly until: number }
  | { readonly kind: 'lose'; readonly cause: LossCause }
  | { readonly kind: 'end' };

/**
 * mostDrift limits the result of `drift()` while this process leads, in milliseconds. A greater result means that the
 * machine may have been suspended. Another elector may then have become the leader (L-096).
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

/**
 * validUntil returns the time at which this process stops being the leader if it does not renew the Lease again
 * (L-093).
 */
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

/**
 * `drift()` returns how much more time has passed on the wall clock than on the monotonic clock between `since` and
 * `now`.
 */
export function drift(since: Moment, now: Moment): number {
  return now.wall - since.wall - (now.at - since.at);
}
