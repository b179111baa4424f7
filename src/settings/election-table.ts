// The table of an elector's settings, with rows like those in table.ts. The environment variables of these settings
// begin with LAMEDUCK_LEADER_ELECTION_.
import type { Duration } from './duration.ts';
import { limit, namespace, period, wholeSeconds } from './kinds.ts';
import { row, type GivenOf, type ValuesOf } from './row.ts';
import { variableOf } from './table.ts';

/** electionTable has one row for each setting of an elector. */
export const electionTable = {
  /**
   * leaseNamespace: The namespace of the Lease.
   *
   * @default unset: the namespace of the pod
   */
  leaseNamespace: row<string | undefined, string>({
    kind: namespace,
    default: () => undefined,
    namedAfter: '--leader-elect-resource-namespace',
  }),
  /**
   * leaseDuration: How long the other candidates wait for a leader that no longer renews the Lease, before one of them
   * takes the Lease. Set `leaseDuration` to at least `renewDeadline` plus the time that the leader's work needs to
   * stop.
   *
   * @remarks In code, a number is in milliseconds.
   * @default `15s`
   */
  leaseDuration: row<number, Duration>({
    kind: wholeSeconds,
    default: () => 15_000,
    namedAfter: '--leader-elect-lease-duration',
  }),
  /**
   * renewDeadline: How long a process stays the leader after it has sent the last renewal that the API server
   * acknowledged. This time must be longer than 1.2 times `retryPeriod`.
   *
   * @remarks In code, a number is in milliseconds.
   * @default `10s`
   */
  renewDeadline: row<number, Duration>({
    kind: period,
    default: () => 10_000,
    namedAfter: '--leader-elect-renew-deadline',
  }),
  /**
   * retryPeriod: The time after which the leader renews its Lease again. Between two attempts to take the Lease, a candidate waits
   * 1 to 2.2 times this time.
   *
   * @remarks In code, a number is in milliseconds.
   * @default `2s`
   */
  retryPeriod: row<number, Duration>({
    kind: period,
    default: () => 2_000,
    namedAfter: '--leader-elect-retry-period',
  }),
  /**
   * stopTimeout: How long the leader's work may take to stop at a shutdown, including the release of the Lease. This time
   * is the limit of the elector's pre-shutdown hook, and thus part of the shutdown budget.
   *
   * @remarks In code, a number is in milliseconds.
   * @default `5s`
   */
  stopTimeout: row<number, Duration>({
    kind: limit,
    default: () => 5_000,
  }),
} as const;

/** ElectionSettings are the settings of an elector, complete and validated. Durations are in milliseconds. */
export type ElectionSettings = ValuesOf<typeof electionTable>;

/** ElectionSettingsOptions contains the settings that code may pass. Environment variables override them. */
export type ElectionSettingsOptions = GivenOf<typeof electionTable>;

/**
 * electionVariableOf returns the variable of an elector's setting, such as `LAMEDUCK_LEADER_ELECTION_LEASE_DURATION`.
 */
export function electionVariableOf(name: string): string {
  return variableOf(`leaderElection${name.charAt(0).toUpperCase()}${name.slice(1)}`);
}
