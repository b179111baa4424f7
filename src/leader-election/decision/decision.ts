// Decides which request an elector sends next, and how a reply changes the elector's state. `plan` returns the next
// action for a state. `learn` and the other functions return the next state. The loop in ../loop/elector.ts calls these
// functions. No side effects: no I/O, no timers, no `node:` imports.
import { createdLease, isCoordinated, isNewer, microTime, recordOf, updatedLease, type Lease } from './lease.ts';
import {
  drift,
  isRead,
  isValid,
  mostDrift,
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

/**
 * `plan()` returns what the elector does next at the time `now`. It sends a request to the API server, waits, gives up
 * leadership, or leaves the election.
 */
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

function requestOf(state: State, now: Moment, election: Election): Omit<LeaseRequest, 'timeout'> {
  const { step, observed, tenure } = state;
  const { identity, labels, leaseDuration } = election;
  const own = { holder: identity, durationSeconds: leaseDuration / 1_000, renewTime: now.wall };
  const current = tenure?.lease ?? observed?.lease;
  if (step === 'create') {
    return { method: 'POST', body: createdLease(election, { ...own, acquireTime: now.wall, transitions: 0 }) };
  }
  if (current === undefined || isRead(step)) return { method: 'GET' };
  const { holder, acquireTime = now.wall, transitions } = current;
  const holding = {
    renew: { ...own, acquireTime, transitions },
    take:
      holder === identity
        ? { ...own, acquireTime, transitions }
        : { ...own, acquireTime: now.wall, transitions: nextTransitions(current) },
    // To release the Lease, write an empty holder and a lease duration of 1 second. The API server rejects a duration
    // of 0 (L-091).
    release: { holder: '', durationSeconds: 1, acquireTime: now.wall, renewTime: now.wall, transitions },
  }[step];
  return { method: 'PUT', body: updatedLease(current, holding, labels) };
}

// Returns the `leaseTransitions` of the Lease, increased by one (L-130). The field is an int32, so after its largest
// value it restarts at 0. Without the restart, no elector could acquire a Lease with the largest value.
function nextTransitions({ transitions }: Lease): number {
  return (transitions + 1) % 2 ** 31;
}

/** `sending()` returns the state of an elector that sends its next read or write of the Lease at the time `now`. */
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

/**
 * `learn()` returns the new state of an elector after the API server has replied to its request, or after the request
 * has failed.
 */
export function learn(state: State, exchange: Exchange, election: Election): State {
  return replies[state.step](state, exchange, election);
}

type OnReply = (state: State, exchange: Exchange, election: Election) => State;

const replies: Readonly<Record<Step, OnReply>> = {
  read(state, exchange, election) {
    const { reply, sent, received } = exchange;
    if (reply.kind === 'absent') {
      // The Lease was deleted, but its holder may lead until its next renewal fails (L-072). So this elector creates a
      // new Lease only after the time at which the deleted Lease would have expired.
      if (isHeld(state.observed, sent, election)) return retryLater(state, exchange, election);
      return { ...state, observed: undefined, step: 'create', due: received.at };
    }
    if (reply.kind !== 'lease') return retryLater(state, exchange, election);
    const { lease } = reply;
    // `claim` describes the last write of this elector, whose reply may have been lost. If another elector holds the
    // Lease now, that elector has overwritten the write, so set `claim` to undefined.
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
      // If the wall clock has not advanced, a renewal writes the same `renewTime` as before. The API server then stores
      // no new version of the Lease, so followers do not see this renewal.
      const isStored = isNewer(reply.lease.resourceVersion, tenure.lease.resourceVersion);
      const renewed = isStored ? { ...tenure, lease: reply.lease, renewed: sent } : tenure;
      return { ...state, tenure: renewed, hasChecked: false, due: nextTick(exchange, election) };
    }
    if (reply.kind === 'recreated') return lose(state, 'replaced', received);
    const isConflict = reply.kind === 'conflict' || reply.kind === 'absent';
    if (!isConflict) return { ...state, hasChecked: false, due: nextTry(tenure, exchange, election) };
    // If the API server has rejected two PUTs of the same renewal, wait for the next retry period before reading the
    // Lease again. Otherwise, while another client keeps changing the Lease, this elector would send requests nonstop.
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
    // The Lease may have no holder, but still the uid and transitions of this elector's last write. In this case, an
    // earlier request of this elector has released the Lease, and only the reply was lost.
    const isSame = lease.uid === state.claim?.uid && lease.transitions === state.claim.transitions;
    const isReleased = state.hasChecked && lease.holder === '' && isSame;
    return { ...state, goal: 'end', isReleased };
  },
  release(state, exchange, election) {
    const { reply, received } = exchange;
    if (reply.kind === 'lease' && reply.lease.holder === '') return { ...state, goal: 'end', isReleased: true };
    if (reply.kind === 'recreated') return { ...state, goal: 'end' };
    // If the API server rejects the first PUT that releases the Lease with 409, read the Lease at once. If it rejects a
    // later PUT, pause before reading the Lease. Otherwise, while another client keeps changing the Lease, this elector
    // would send requests nonstop.
    const isFirst = reply.kind === 'conflict' && !state.hasChecked;
    return { ...state, step: 'find', hasChecked: true, due: isFirst ? received.at : nextTick(exchange, election) };
  },
};

// Begins a term of this elector as leader, if the API server has acknowledged the write that makes this elector the
// holder (L-062, L-068).
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
 * Stores a Lease that this elector has read, and the time of the reading. If an earlier reading returned the same
 * renewal of the Lease, the time of the earlier reading is kept (L-063).
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

// Returns why this elector does not hold the Lease, or undefined if it holds the Lease. The elector also loses the
// Lease if the API server has stored another lease duration or `renewTime` than the elector sent. Followers see only
// the stored values.
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
 * `lose()` returns the state of an elector that has just lost its leadership. If the renew deadline has passed, the
 * Lease may still name this elector as the holder. The state then keeps `claim`, which identifies the elector's last
 * write, so that the elector can later recognize and release the Lease (L-092). In all other cases, `lose()` removes
 * `claim`.
 */
export function lose(state: State, cause: LossCause, now: Moment): State {
  const claim = cause === 'renew deadline' ? state.claim : undefined;
  return { ...state, claim, tenure: undefined, loss: cause, step: 'read', hasChecked: false, due: now.at };
}

/**
 * `release()` begins to release the Lease. The elector first sends a GET. If it still holds the Lease, it then sends
 * the write that removes the holder (L-092). If this elector has never tried to write the Lease, it sends no request.
 */
export function release(state: State, now: Moment, budget: number): State {
  if (state.claim === undefined) return { ...state, goal: 'end', tenure: undefined };
  const releaseBy = now.at + budget;
  return { ...state, goal: 'release', step: 'find', tenure: undefined, hasChecked: false, due: now.at, releaseBy };
}

/**
 * `hint()` processes a version of the Lease that the watch has reported. That version may make the elector's next
 * attempt earlier or later. Every attempt still begins with a GET. `hint()` ignores a version that is older than the
 * version that was read last.
 */
export function hint(state: State, lease: Lease, now: Moment, random: number, election: Election): State {
  const { observed, step, goal, due } = state;
  const version = lease.resourceVersion;
  if (goal !== 'contend' || step !== 'read') return state;
  if (observed !== undefined && !isNewer(version, observed.lease.resourceVersion)) return state;
  if (lease.holder === '') {
    return { ...state, freed: version, due: Math.min(due, now.at + spread(random, election)) };
  }
  const updated = observe(state, lease, now.at);
  // If only the labels of the Lease have changed, do not delay the next attempt to acquire the Lease. Otherwise,
  // repeated edits of labels could prevent a takeover forever.
  return { ...updated, due: hasRecordOf(observed, lease) ? due : followAt(updated, now, random, election) };
}

/**
 * `watching()` returns the state of an elector after its watch of the Lease has begun (`isWatching` is true) or ended
 * (`isWatching` is false).
 */
export function watching(state: State, isWatching: boolean, now: Moment, random: number, election: Election): State {
  const changed = { ...state, isWatching };
  const { goal, step, observed, due } = changed;
  if (goal !== 'contend' || step !== 'read') return changed;
  const follow = followAt(changed, now, random, election);
  if (!isWatching) return { ...changed, due: Math.min(due, follow) };
  // While a watch is open, a follower need not poll before the Lease expires.
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
      // The watch has reported that the leader released the Lease. Send one more GET, and clear `freed` whatever
      // version of the Lease this GET returns. After a restore of etcd, every GET may return an older version, and the
      // elector would otherwise send GETs without a pause.
      due = received.at + spread(random, election);
      freed = undefined;
    }
  }
  return { ...state, freed, step: 'read', due: Math.max(due, received.at + Math.min(asked, election.leaseDuration)) };
}

// Tells whether the watch has reported that the leader released the Lease. The reported version of the Lease must be
// newer than the version that the elector read last.
function isReleaseUnread({ freed, observed }: State): boolean {
  return freed !== undefined && observed !== undefined && isNewer(freed, observed.lease.resourceVersion);
}
