// The request to the API server for each step of an attempt. Pure.
import { createdLease, updatedLease, type Lease } from './lease.ts';
import type { Election, Moment, Request, State } from './state.ts';

/** requestTimeout returns how long to wait for a reply, in milliseconds. Three attempts fit into the renew deadline (L-084). */
export function requestTimeout({ renewDeadline }: Election): number {
  return Math.max(1_000, renewDeadline / 3);
}

/** requestOf returns what a step sends. */
export function requestOf(state: State, now: Moment, election: Election): Omit<Request, 'timeout'> {
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
    // The server rejects a duration of 0 (L-091).
    release: { holder: '', durationSeconds: 1, acquireTime: now.wall, renewTime: now.wall, transitions },
  }[step];
  return { method: 'PUT', body: updatedLease(current, holding, labels) };
}

/**
 * nextTransitions counts a change of holder (L-130). The count is an int32 on the wire: a record that somebody has given
 * the largest one must not keep everybody from leading.
 */
export function nextTransitions({ transitions }: Lease): number {
  return (transitions + 1) % 2 ** 31;
}
