import type { Election } from '../../../src/leader-election/decision/state.ts';

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
