import assert from 'node:assert/strict';
import { parseLease, type Lease } from '../../../src/leader-election/decision/lease.ts';
import type { Election, Moment } from '../../../src/leader-election/decision/state.ts';

/**
 * electionOf returns the options of an elector, by default with the lease duration, renew deadline and retry period of
 * client-go.
 */
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

/** `wall` is the time that the simulated wall clock shows when a test begins, in milliseconds since 1970. */
export const wall = Date.UTC(2026, 0, 2);

/**
 * `at()` returns the moment that is `milliseconds` after the beginning of the test. `ahead` is how far the wall clock
 * has jumped forward, in milliseconds.
 */
export function at(milliseconds: number, ahead = 0): Moment {
  return { at: milliseconds, wall: wall + milliseconds + ahead };
}

/** `lease()` returns a Lease in the form in which an elector reads it from the API server. */
export function lease(spec: Record<string, unknown>, resourceVersion = '10', uid = 'u'): Lease {
  const parsed = parseLease({ kind: 'Lease', metadata: { name: 'app', uid, resourceVersion }, spec });
  assert.ok(parsed !== undefined);
  return parsed;
}
