// Sends core/v1 Events about a Lease to the API server. The command `kubectl describe lease` shows these Events.
// Renewals of the Lease do not wait for an Event (L-111, L-112).
import type { Clock } from '../../clock.ts';
import type { LeaseApi } from '../api-client/api-client.ts';
import type { Election } from '../decision/state.ts';

// The longest time for sending an Event, in milliseconds. No renewal and no exit of the process waits for an Event.
const longestRecording = 5_000;

/** ElectionEvents creates core/v1 Events about a Lease. It stops as soon as the API server denies one of them. */
export class ElectionEvents {
  readonly #election: Election;
  readonly #clock: Clock;
  readonly #wall: () => number;
  #isPermitted = true;
  #count = 0;

  constructor(election: Election, clock: Clock, wall: () => number) {
    this.#election = election;
    this.#clock = clock;
    this.#wall = wall;
  }

  /** `record()` sends a core/v1 Event about the Lease with the given uid. */
  record(api: LeaseApi, uid: string, message: string): void {
    if (!this.#isPermitted) return;
    const timesUp = new AbortController();
    const cancel = this.#clock.afterUnref(longestRecording, () => {
      timesUp.abort();
    });
    void api.record(this.#event(uid, message), timesUp.signal).then((isPermitted) => {
      cancel();
      this.#isPermitted &&= isPermitted;
    });
  }

  #event(uid: string, message: string): object {
    const { name, namespace, identity } = this.#election;
    const at = this.#wall();
    const timestamp = new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
    const unique = `${at.toString(16)}${String(this.#count++)}`;
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `${name}.${unique}`, namespace },
      // kubectl finds the Events of an object by the uid of the object, so each Event must contain it.
      involvedObject: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', name, namespace, uid },
      type: 'Normal',
      reason: 'LeaderElection',
      message,
      count: 1,
      firstTimestamp: timestamp,
      lastTimestamp: timestamp,
      source: { component: identity },
      reportingComponent: '',
      reportingInstance: '',
    };
  }
}
