// Decides which request an elector sends next, and what a reply changes. No side effects: no I/O, no timers, no
// `node:` imports. `plan` returns the next action for a state. `learn` and the other functions return the next state.
// The loop in ../loop/elector.ts calls them.
import { createdLease, isCoordinated, isNewer, microTime, recordOf, updatedLease, type Lease } from './lease.ts';
import {
  drift,
  isValid,
  mostDrift,
  type Change,
  type Claim,
  type Election,
  type Exchange,
  type LeaseReply,
  type LossCause,
  type Moment,
  type Observation,
  type Plan,
  type LeaseRequest,
  type State,
  type Step,
} from './state.ts';
import { expiry, followAt, isHeld, limitOf, nextTick, nextTry, pollAt, requestTimeout, spread } from './times.ts';

/** plan returns what the elector must do at a moment. */
export function plan(state: State, now: Moment, election: Election): Plan {
  const { goal, tenure, tried, due } = state;
  if (goal === 'end' || (goal === 'release' && now.at >= state.releaseBy)) return { kind: 'end' };
  const end = limitOf(state, election);
  if (tenure !== undefined && now.at >= end) return { kind: 'lose', cause: 'renew deadline' };
  const isSuspended = tenure !== undefined && tried !== undefined && drift(tried, now) > mostDrift;
  if (now.at < due && !isSuspended) return { kind: 'wait', until: Math.min(due, end) };
  const timeout = Math.min(requestTimeout(election), end - now.at);
  return { kind: 'send', request: { ...requestOf(state, now, election), timeout } };
}

// Returns the request of a step.
function requestOf(state: State, now: Moment, election: Election): Omit<LeaseRequest, 'timeout'> {
  const { step, observed, tenure } = state;
  const { identity, labels, leaseDuration } = election;
  const own = { holder: identity, durationSeconds: leaseDuration / 1_000, renewTime: now.wall };
  const current = tenure?.lease ?? observed?.lease;
  if (step === 'create') {
    return { method: 'POST', body: createdLease(election, { ...own, acquireTime: now.wall, transitions: 0 }) };
  }
  if (current === undefined || step === 'read' || step === 'check' || step === 'find') return { method: 'GET' };
  const { holder, acquireTime = now.wall, transitions } = current;
  const holding = {
    renew: { ...own, acquireTime, transitions },
    take:
      holder === identity
        ? { ...own, acquireTime, transitions }
        : { ...own, acquireTime: now.wall, transitions: nextTransitions(current) },
    // A release writes a lease duration of 1 second, because the API server rejects 0 (L-091).
    release: { holder: '', durationSeconds: 1, acquireTime: now.wall, renewTime: now.wall, transitions },
  }[step];
  return { method: 'PUT', body: updatedLease(current, holding, labels) };
}

// Returns the number of changes of the holder, increased by one (L-130). The count is an int32, so it restarts at 0 after
// the largest one. Otherwise a record with the largest count would prevent every election.
function nextTransitions({ transitions }: Lease): number {
  return (transitions + 1) % 2 ** 31;
}

/** sending returns the state after the planned request was sent at the given moment. */
export function sending(state: State, now: Moment, { identity }: Election): State {
  const { step, hasChecked, observed } = state;
  const isNewAttempt = step === 'read' || step === 'find' || (step === 'renew' && !hasChecked);
  const sent = { ...state, tried: now, attemptAt: isNewAttempt ? now.at : state.attemptAt };
  if (step === 'create') return { ...sent, claim: newClaim(undefined, now, 0) };
  if (step !== 'take' || observed === undefined) return sent;
  const { uid, holder, acquireTime = microTime(now.wall), transitions } = observed.lease;
  const isKept = holder === identity;
  const claim = isKept ? { uid, acquireTime, transitions } : newClaim(uid, now, nextTransitions(observed.lease));
  return { ...sent, claim };
}

/** learn returns the state after the reply to a request has arrived. */
export function learn(state: State, exchange: Exchange, election: Election): State {
  return replies[state.step](state, exchange, election);
}

type OnReply = (state: State, exchange: Exchange, election: Election) => State;

const replies: Readonly<Record<Step, OnReply>> = {
  read(state, exchange, election) {
    const { reply, received } = exchange;
    if (reply.kind === 'absent') return { ...state, observed: undefined, step: 'create', due: received.at };
    if (reply.kind !== 'lease') return retryLater(state, exchange, election);
    const { lease } = reply;
    // The reply to an earlier write may have been lost. If another holder has the Lease now, that write has no effect
    // any more.
    const claim = lease.holder === election.identity ? state.claim : undefined;
    const seen = { ...observe(state, lease, received.at), claim };
    if (!isTakeable(seen, election)) return retryLater(seen, exchange, election);
    return { ...seen, step: 'take', due: received.at };
  },
  create: acquire,
  take: acquire,
  renew(state, exchange, election) {
    const { reply, sent, received } = exchange;
    const { tenure, hasChecked } = state;
    if (tenure === undefined) return state;
    if (reply.kind === 'lease') {
      const cause = lossIn(reply, state.claim, election);
      if (cause !== undefined) return lose(observe(state, reply.lease, received.at), cause, received);
      const renewed = { ...tenure, lease: reply.lease, renewed: sent };
      return { ...state, tenure: renewed, hasChecked: false, due: nextTick(exchange, election) };
    }
    if (reply.kind === 'recreated') return lose(state, 'replaced', received);
    const isConflict = reply.kind === 'conflict' || reply.kind === 'absent';
    if (!isConflict) return { ...state, hasChecked: false, due: nextTry(tenure, exchange, election) };
    // Pause after a second conflict. Otherwise, if another client changes the record all the time, this elector would
    // send requests without a pause.
    const due = hasChecked ? nextTick(exchange, election) : received.at;
    return { ...state, step: 'check', hasChecked: false, due };
  },
  check(state, exchange, election) {
    const { reply, received } = exchange;
    const { tenure, claim } = state;
    if (tenure === undefined) return state;
    if (reply.kind === 'absent') return lose(state, 'deleted', received);
    if (reply.kind !== 'lease') return { ...state, due: nextTry(tenure, exchange, election) };
    const cause = lossIn(reply, claim, election);
    if (cause !== undefined) return lose(observe(state, reply.lease, received.at), cause, received);
    const slowpaths = state.slowpaths + 1;
    const confirmed = { ...tenure, lease: reply.lease };
    return { ...state, tenure: confirmed, step: 'renew', hasChecked: true, due: received.at, slowpaths };
  },
  find(state, exchange, election) {
    const { reply, received } = exchange;
    if (reply.kind === 'absent') return { ...state, goal: 'end' };
    if (reply.kind !== 'lease') return { ...state, due: nextTick(exchange, election) };
    const { lease } = reply;
    if (isOwn(reply, state.claim, election)) {
      return { ...observe(state, lease, received.at), step: 'release', due: received.at };
    }
    // The reply to a release was lost, but the record shows that the release was applied.
    const isSame = lease.uid === state.claim?.uid && lease.transitions === state.claim.transitions;
    const isReleased = state.hasChecked && lease.holder === '' && isSame;
    return { ...state, goal: 'end', isReleased };
  },
  release(state, exchange, election) {
    const { reply, received } = exchange;
    if (reply.kind === 'lease' && reply.lease.holder === '') return { ...state, goal: 'end', isReleased: true };
    if (reply.kind === 'recreated') return { ...state, goal: 'end' };
    // Send the GET at once only after the first conflict. Otherwise, a client that writes all the time would make this
    // elector send requests without a pause.
    const isFirst = reply.kind === 'conflict' && !state.hasChecked;
    return { ...state, step: 'find', hasChecked: true, due: isFirst ? received.at : nextTick(exchange, election) };
  },
};

// Begins a term as leader. A term begins only with a write of the Lease that the API server has acknowledged (L-062,
// L-068).
function acquire(state: State, exchange: Exchange, election: Election): State {
  const { reply, sent, received } = exchange;
  const isDenied =
    reply.kind === 'conflict' || reply.kind === 'absent' || (reply.kind === 'failed' && reply.isRejected);
  if (isDenied) return retryLater({ ...state, claim: undefined }, exchange, election);
  if (reply.kind !== 'lease') return retryLater(state, exchange, election);
  const { lease } = reply;
  if (!isOwn(reply, state.claim, election)) return retryLater(state, exchange, election);
  const tenure = { token: lease.resourceVersion, lease, renewed: sent };
  const claimed = { ...state, claim: claimTo(lease) };
  if (!isValid(tenure, received, election)) return retryLater(claimed, exchange, election);
  return { ...claimed, tenure, loss: undefined, observed: undefined, step: 'renew', due: received.at };
}

function newClaim(uid: string | undefined, { wall }: Moment, transitions: number): Claim {
  return { uid, acquireTime: microTime(wall), transitions };
}

function claimTo({ uid, acquireTime, transitions }: Lease): Claim {
  return { uid, acquireTime, transitions };
}

/**
 * Stores an observed Lease. As long as its record does not change, it keeps the time of the first observation (L-063).
 */
function observe(state: State, lease: Lease, at: number): State {
  const { observed } = state;
  return { ...state, observed: { lease, at: hasRecordOf(observed, lease) ? observed.at : at } };
}

function hasRecordOf(observed: Observation | undefined, lease: Lease): observed is Observation {
  return observed !== undefined && recordOf(observed.lease) === recordOf(lease);
}

function isTakeable({ observed, attemptAt }: State, election: Election): boolean {
  if (observed === undefined || isCoordinated(observed.lease)) return false;
  const { holder } = observed.lease;
  return holder === '' || holder === election.identity || attemptAt >= expiry(observed, election);
}

function isOwn(reply: LeaseReply, claim: Claim | undefined, election: Election): boolean {
  return claim !== undefined && lossIn(reply, claim, election) === undefined;
}

// Returns why a Lease does not belong to this elector. A write that was stored altered does not count, although the API
// server has accepted it. Followers wait only for the stored duration, and only while the stored `renewTime` changes.
function lossIn(
  { lease, altered }: LeaseReply,
  claim: Claim | undefined,
  { identity }: Election,
): LossCause | undefined {
  if (claim?.uid !== undefined && lease.uid !== claim.uid) return 'replaced';
  if (lease.holder === '') return 'no holder';
  if (lease.holder !== identity) return 'other holder';
  if (lease.transitions !== claim?.transitions || lease.acquireTime !== claim.acquireTime) return 'edited';
  if (isCoordinated(lease)) return 'coordinated';
  return altered === undefined ? undefined : 'edited';
}

/**
 * lose returns the state after this elector has lost its leadership. It stores the claim only if the Lease may still
 * contain this elector's record. That record must then be released (L-092).
 */
export function lose(state: State, cause: LossCause, now: Moment): State {
  const claim = cause === 'renew deadline' ? state.claim : undefined;
  return { ...state, claim, tenure: undefined, loss: cause, step: 'read', hasChecked: false, due: now.at };
}

/**
 * release begins to release the Lease. It sends a GET first, and then a write if this elector still holds the Lease
 * (L-092). If this elector has never tried to write the Lease, it sends no request.
 */
export function release(state: State, now: Moment, budget: number): State {
  if (state.claim === undefined) return { ...state, goal: 'end', tenure: undefined };
  const releaseBy = now.at + budget;
  return { ...state, goal: 'release', step: 'find', tenure: undefined, hasChecked: false, due: now.at, releaseBy };
}

/**
 * hint processes a change that the watch has reported. The change may restart a wait, or make the next attempt
 * earlier. Every attempt still begins with a GET. hint ignores a version of the Lease that is older than the version
 * that was read last.
 */
export function hint(state: State, change: Change, now: Moment, random: number, election: Election): State {
  const { observed, step, goal, due } = state;
  const { lease, isDeleted } = change;
  const version = lease.resourceVersion;
  if (goal !== 'contend' || step !== 'read') return state;
  if (observed !== undefined && !isNewer(version, observed.lease.resourceVersion)) return state;
  if (isDeleted || lease.holder === '') {
    return { ...state, freed: version, due: Math.min(due, now.at + spread(random, election)) };
  }
  const updated = observe(state, lease, now.at);
  // An edit of labels does not delay the next attempt. Otherwise, such edits could prevent a takeover forever.
  return { ...updated, due: hasRecordOf(observed, lease) ? due : followAt(updated, now, random, election) };
}

/** watching returns the state after a watch has begun or ended. */
export function watching(state: State, isWatching: boolean, now: Moment, random: number, election: Election): State {
  const changed = { ...state, isWatching };
  const { goal, step, observed, due } = changed;
  if (goal !== 'contend' || step !== 'read') return changed;
  const follow = followAt(changed, now, random, election);
  if (!isWatching) return { ...changed, due: Math.min(due, follow) };
  // With a watch, polling is not necessary before the record expires.
  const canWait = isHeld(observed, now, election) && !isReleaseUnread(changed);
  return canWait ? { ...changed, due: follow } : changed;
}

function retryLater(state: State, exchange: Exchange, election: Election): State {
  const { reply, received, random } = exchange;
  const asked = reply.kind === 'failed' ? (reply.retryAfter ?? 0) : 0;
  let { freed } = state;
  let due = followAt(state, received, random, election);
  if (isReleaseUnread(state)) {
    if (reply.kind === 'failed') due = Math.min(due, pollAt(received, random, election));
    else {
      // Forget the release after one more GET, even if the GET does not confirm it. Otherwise, if no GET ever confirmed
      // it, as after a restore of etcd, this elector would send requests without a pause.
      due = received.at + spread(random, election);
      freed = undefined;
    }
  }
  return { ...state, freed, step: 'read', due: Math.max(due, received.at + Math.min(asked, election.leaseDuration)) };
}

// Tells whether the watch has reported a release that is newer than the Lease that was read last.
function isReleaseUnread({ freed, observed }: State): boolean {
  return freed !== undefined && observed !== undefined && isNewer(freed, observed.lease.resourceVersion);
}
