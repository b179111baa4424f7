// The decision: which request an elector sends next, and what a reply changes. Pure: no I/O, no timers, no `node:` imports.
// `plan` reads a state; `learn` and the functions after it return the next one. The loop in elector.ts joins them.
import { isNewer, microTime, recordOf, type Lease } from './lease.ts';
import { nextTransitions, requestOf, requestTimeout } from './request.ts';
import {
  drift,
  isValid,
  mostDrift,
  validUntil,
  type Change,
  type Claim,
  type Election,
  type Exchange,
  type LossCause,
  type Moment,
  type Observation,
  type Plan,
  type Reply,
  type State,
  type Step,
  type Tenure,
} from './state.ts';

// The factor of client-go's jitter: a delay is drawn from the retry period to 2.2 times that (L-050).
const jitter = 1.2;

/** plan returns what to do at a moment. */
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

// Nothing is waited for beyond this moment.
function limitOf({ goal, tenure, releaseBy }: State, election: Election): number {
  if (goal === 'release') return releaseBy;
  return tenure === undefined ? Infinity : validUntil(tenure, election);
}

/** sending notes that the planned request is sent at a moment. */
export function sending(state: State, now: Moment, { identity }: Election): State {
  const { step, hasChecked, observed } = state;
  const isNewAttempt = step === 'read' || step === 'find' || (step === 'renew' && !hasChecked);
  const sent = { ...state, tried: now, attemptAt: isNewAttempt ? now.at : state.attemptAt };
  if (step === 'create') return { ...sent, claim: newClaim(undefined, now, 0) };
  if (step !== 'take' || observed === undefined) return sent;
  const { lease } = observed;
  const isKept = lease.holder === identity;
  return { ...sent, claim: isKept ? claimTo(lease) : newClaim(lease.uid, now, nextTransitions(lease)) };
}

/** learn returns the state after a reply. */
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
    // A record of somebody else ends the doubt about a write whose reply was lost.
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
    if (reply.kind === 'lease' && isOwn(reply.lease, state.claim, election)) {
      const renewed = { ...tenure, lease: reply.lease, renewed: sent };
      return { ...state, tenure: renewed, hasChecked: false, due: nextTick(exchange, election) };
    }
    if (reply.kind === 'recreated') return lose(state, 'replaced', received);
    const isConflict = reply.kind === 'conflict' || reply.kind === 'absent';
    if (!isConflict) return { ...state, hasChecked: false, due: nextTry(tenure, exchange, election) };
    // A record that changes again and again must not make requests without a pause.
    const due = hasChecked ? nextTick(exchange, election) : received.at;
    return { ...state, step: 'check', hasChecked: false, due };
  },
  check(state, exchange, election) {
    const { reply, received } = exchange;
    const { tenure, claim } = state;
    if (tenure === undefined) return state;
    if (reply.kind === 'absent') return lose(state, 'deleted', received);
    if (reply.kind !== 'lease') return { ...state, due: nextTry(tenure, exchange, election) };
    const cause = lossIn(reply.lease, claim, election);
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
    if (isOwn(lease, state.claim, election)) {
      return { ...observe(state, lease, received.at), step: 'release', due: received.at };
    }
    // The reply to a release was lost: the record shows that it was applied.
    const isSame = lease.uid === state.claim?.uid && lease.transitions === state.claim.transitions;
    const isReleased = state.hasChecked && lease.holder === '' && isSame;
    return { ...state, goal: 'end', isReleased };
  },
  release(state, exchange, election) {
    const { reply, received } = exchange;
    if (reply.kind === 'lease') return { ...state, goal: 'end', isReleased: true };
    if (reply.kind === 'recreated') return { ...state, goal: 'end' };
    const due = reply.kind === 'conflict' ? received.at : nextTick(exchange, election);
    return { ...state, step: 'find', hasChecked: true, due };
  },
};

// Leadership begins with an acknowledged write and with nothing else (L-062, L-068).
function acquire(state: State, exchange: Exchange, election: Election): State {
  const { reply, sent, received } = exchange;
  const isDenied =
    reply.kind === 'conflict' || reply.kind === 'absent' || (reply.kind === 'failed' && reply.isRejected);
  if (isDenied) return retryLater({ ...state, claim: undefined }, exchange, election);
  if (reply.kind !== 'lease' || reply.lease.holder !== election.identity) return retryLater(state, exchange, election);
  const { lease } = reply;
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

/** The moment of the first sight stays while the record stays the same (L-063). */
function observe(state: State, lease: Lease, at: number): State {
  const { observed } = state;
  const isSame = observed !== undefined && recordOf(observed.lease) === recordOf(lease);
  return { ...state, observed: { lease, at: isSame ? observed.at : at } };
}

function isTakeable({ observed, attemptAt }: State, election: Election): boolean {
  if (observed === undefined || isCoordinated(observed.lease)) return false;
  const { holder } = observed.lease;
  return holder === '' || holder === election.identity || attemptAt >= expiry(observed, election);
}

/** By the record's own duration, and by one's own where it has none (L-016, L-065). */
function expiry({ lease, at }: Observation, { leaseDuration }: Election): number {
  return at + (lease.duration ?? leaseDuration);
}

/** isCoordinated tells a Lease whose holder is chosen by coordinated leader election (L-163). */
export function isCoordinated({ strategy, preferredHolder }: Lease): boolean {
  return strategy !== '' || preferredHolder !== '';
}

function isOwn(lease: Lease, claim: Claim | undefined, election: Election): boolean {
  return claim !== undefined && lossIn(lease, claim, election) === undefined;
}

function lossIn(lease: Lease, claim: Claim | undefined, { identity }: Election): LossCause | undefined {
  if (claim?.uid !== undefined && lease.uid !== claim.uid) return 'replaced';
  if (lease.holder === '') return 'no holder';
  if (lease.holder !== identity) return 'other holder';
  if (lease.transitions !== claim?.transitions || lease.acquireTime !== claim.acquireTime) return 'edited';
  return isCoordinated(lease) ? 'coordinated' : undefined;
}

/** lose ends a term. Only a claim that may still be in the record is kept, so that it can be released (L-092). */
export function lose(state: State, cause: LossCause, now: Moment): State {
  const claim = cause === 'renew deadline' ? state.claim : undefined;
  return { ...state, claim, tenure: undefined, loss: cause, step: 'read', hasChecked: false, due: now.at };
}

/**
 * release gives up whatever is held: a GET first, then a write only if the record is still one's own (L-092). It ends
 * without a request if nothing was ever claimed.
 */
export function release(state: State, now: Moment, budget: number): State {
  if (state.claim === undefined) return { ...state, goal: 'end', tenure: undefined };
  const releaseBy = now.at + budget;
  return { ...state, goal: 'release', step: 'find', tenure: undefined, hasChecked: false, due: now.at, releaseBy };
}

/**
 * hint notes what the watch has reported. It is a hint: it can begin a wait again and bring an attempt forward, and every
 * attempt begins with a GET. An older version than the one last read is ignored.
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
  return { ...updated, due: followAt(updated, now, random, election) };
}

/** watching notes that a watch has begun or ended. */
export function watching(state: State, isWatching: boolean, now: Moment, random: number, election: Election): State {
  const changed = { ...state, isWatching };
  const { goal, step, observed, due } = changed;
  if (goal !== 'contend' || step !== 'read') return changed;
  if (isWatching)
    return isHeld(observed, election) ? { ...changed, due: followAt(changed, now, random, election) } : changed;
  return { ...changed, due: Math.min(due, followAt(changed, now, random, election)) };
}

function retryLater(state: State, exchange: Exchange, election: Election): State {
  const { reply, received, random } = exchange;
  const asked = reply.kind === 'failed' ? (reply.retryAfter ?? 0) : 0;
  const due = isOutdated(state, reply)
    ? received.at + spread(random, election)
    : followAt(state, received, random, election);
  return { ...state, step: 'read', due: Math.max(due, received.at + Math.min(asked, election.leaseDuration)) };
}

// The watch has reported a release while the GET was under way.
function isOutdated({ freed, observed }: State, reply: Reply): boolean {
  if (reply.kind !== 'lease' || freed === undefined || observed === undefined) return false;
  return isNewer(freed, observed.lease.resourceVersion);
}

// A follower polls, or relies on the watch until the Lease expires (L-050, L-053).
function followAt({ observed, isWatching }: State, now: Moment, random: number, election: Election): number {
  const poll = now.at + election.retryPeriod * (1 + jitter * random);
  if (!isHeld(observed, election)) return poll;
  const end = expiry(observed, election);
  if (end <= now.at) return poll;
  return isWatching ? end + spread(random, election) : Math.min(poll, end);
}

function isHeld(observed: State['observed'], { identity }: Election): observed is Observation {
  if (observed === undefined || isCoordinated(observed.lease)) return false;
  return observed.lease.holder !== '' && observed.lease.holder !== identity;
}

// So that not all followers send a request at once when the watch tells all of them of a release.
function spread(random: number, { retryPeriod }: Election): number {
  return (retryPeriod / 4) * random;
}

// Renewals are due at fixed intervals from one send to the next (L-080).
function nextTick({ sent, received }: Exchange, { retryPeriod }: Election): number {
  return Math.max(sent.at + retryPeriod, received.at);
}

// A Retry-After is followed only if that leaves time for another attempt (L-039).
function nextTry(tenure: Tenure, exchange: Exchange, election: Election): number {
  const { reply, received } = exchange;
  if (reply.kind !== 'failed' || reply.retryAfter === undefined) return nextTick(exchange, election);
  const asked = received.at + reply.retryAfter;
  return asked + requestTimeout(election) <= validUntil(tenure, election) ? asked : nextTick(exchange, election);
}
