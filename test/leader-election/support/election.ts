import assert from 'node:assert/strict';
import { parseLease, type Lease } from '../../../src/leader-election/decision/lease.ts';
import type { Election, Moment } from '../../../src/leader-election/decision/state.ts';

/** electionOf returns the options of a contender, by default with the durations of client-go. */
export function electionOf(identity: string, overrides: Partial<Election> = {}): Election {
  return {
    identity,
    name: 'app',
    namespace: 'ns',
    labels: {},
    leaseDuration: 15_000,
    renewDeadline: 10_000,
    retryPeriod: 2_000,
    ...overrides,
  };
}

/** wall is the time of the wall clock at the beginning of a test. */
export const wall = Date.UTC(2026, 0, 2);

/** at returns a moment after the beginning. `ahead` is how far the wall clock has jumped, in milliseconds. */
export function at(milliseconds: number, ahead = 0): Moment {
  return { at: milliseconds, wall: wall + milliseconds + ahead };
}

/** lease returns a Lease that was read. */
export function lease(spec: Record<string, unknown>, resourceVersion = '10', uid = 'u'): Lease {
  const parsed = parseLease({ kind: 'Lease', metadata: { name: 'app', uid, resourceVersion }, spec });
  assert.ok(parsed !== undefined);
  return parsed;
}
