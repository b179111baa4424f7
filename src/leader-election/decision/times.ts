// Computes when an elector sends its next request for the Lease, how long it waits for the reply, and when a Lease
// expires. No side effects.
import { isCoordinated } from './lease.ts';
import {
  validUntil,
  type Election,
  type Exchange,
  type Moment,
  type Observation,
  type State,
  type Tenure,
} from './state.ts';

// client-go's jitter factor: the delay between two polls is random, from 1 to 2.2 times the retry period (L-050).
const jitter = 1.2;

/**
 * requestTimeout returns the timeout of one request to the API server, in milliseconds. Three such requests fit into
 * the renew deadline (L-084).
 */
export function requestTimeout({ renewDeadline }: Election): number {
  return Math.max(1_000, renewDeadline / 3);
}

/**
 * limitOf returns the deadline for the current renewal or release of the Lease. For a follower, which has no deadline,
 * it returns Infinity.
 */
export function limitOf({ goal, tenure, releaseBy }: State, election: Election): number {
  if (goal === 'release') return releaseBy;
  return tenure === undefined ? Infinity : validUntil(tenure, election);
}

/**
 * nextTick returns the time of the next renewal of the Lease. This time is `retryPeriod` after the last request was
 * sent, not after its reply arrived (L-080).
 */
export function nextTick({ sent, received }: Exchange, { retryPeriod }: Election): number {
  return Math.max(sent.at + retryPeriod, received.at);
}

/**
 * nextTry returns the time at which a leader repeats a failed request. The API server may have sent a `Retry-After`.
 * The leader waits that long only if its term leaves enough time for another attempt after the wait (L-039).
 */
export function nextTry(tenure: Tenure, exchange: Exchange, election: Election): number {
  const { reply, received } = exchange;
  if (reply.kind !== 'failed' || reply.retryAfter === undefined) return nextTick(exchange, election);
  const asked = received.at + reply.retryAfter;
  return asked + requestTimeout(election) <= validUntil(tenure, election) ? asked : nextTick(exchange, election);
}

/**
 * followAt returns the time of a follower's next GET. A follower polls the Lease. While a watch is open and another
 * elector holds the Lease, the follower instead waits until the Lease has expired (L-050, L-053).
 */
export function followAt({ observed, isWatching }: State, now: Moment, random: number, election: Election): number {
  const poll = pollAt(now, random, election);
  if (!isHeld(observed, now, election)) return poll;
  const end = expiry(observed, election);
  return isWatching ? end + spread(random, election) : Math.min(poll, end);
}

/** pollAt returns the time of the next GET of a follower that polls the Lease. */
export function pollAt(now: Moment, random: number, { retryPeriod }: Election): number {
  return now.at + retryPeriod * (1 + jitter * random);
}

/**
 * `spread()` returns a random delay before a follower's next GET. All followers learn at the same time that the Lease
 * was released or has expired. Without the delay, all of them would send a request at the same time.
 */
export function spread(random: number, { retryPeriod }: Election): number {
  return (retryPeriod / 4) * random;
}

/**
 * `expiry()` returns the time at which an observed Lease expires. A Lease without a duration expires after this
 * elector's `leaseDuration` (L-016, L-065).
 */
export function expiry({ lease, at }: Observation, { leaseDuration }: Election): number {
  return at + (lease.duration ?? leaseDuration);
}

/**
 * isHeld tells whether the observed Lease names another elector as the holder and has not expired. This elector must
 * then wait.
 */
export function isHeld(observed: Observation | undefined, now: Moment, election: Election): observed is Observation {
  if (observed === undefined || isCoordinated(observed.lease)) return false;
  const { holder } = observed.lease;
  return holder !== '' && holder !== election.identity && now.at < expiry(observed, election);
}
