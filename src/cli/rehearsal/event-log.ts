// Records all events of a scenario in order. The verdict and the reports are derived only from these events.

/** EventKind says what happened in an event of a scenario. */
export type EventKind =
  | 'containerStarted'
  | 'containerListening'
  | 'containerExited'
  | 'containerBackOff'
  | 'containerKilling'
  | 'probe'
  | 'containerStartedCondition'
  | 'readinessChanged'
  | 'podDeleted'
  | 'podStopped'
  | 'endpointChanged'
  | 'preStopStarted'
  | 'preStopEnded'
  | 'postStartStarted'
  | 'postStartEnded'
  | 'stopSignal'
  | 'killSignal'
  | 'listenerClosed'
  | 'loadStarted'
  | 'loadEnded'
  | 'requestLost'
  | 'requestRefused'
  | 'requests'
  | 'loadDelayed'
  | 'kubeletDelayed'
  | 'interrupted'
  | 'note';

/**
 * Detail contains the fields that a logged rehearsal event has besides its time and its kind. Each kind of event has
 * its own fields.
 */
export type Detail = Readonly<Record<string, string | number | boolean | undefined>>;

/** RehearsalEvent is one event of a scenario. */
export interface RehearsalEvent {
  /** at is the time of the event, in milliseconds since the scenario began. */
  readonly at: number;
  readonly kind: EventKind;
  readonly detail: Detail;
}

/** EventLog collects the events of one scenario. */
export class EventLog {
  readonly events: RehearsalEvent[] = [];
  readonly #now: () => number;
  readonly #startedAt: number;
  readonly #listeners: ((event: RehearsalEvent) => void)[] = [];

  constructor(now: () => number) {
    this.#now = now;
    this.#startedAt = now();
  }

  /** at returns the milliseconds since the scenario began. */
  at(): number {
    return this.#now() - this.#startedAt;
  }

  add(kind: EventKind, detail: Detail = {}): RehearsalEvent {
    const event = { at: this.at(), kind, detail };
    this.events.push(event);
    for (const listener of this.#listeners) listener(event);
    return event;
  }

  onEvent(listener: (event: RehearsalEvent) => void): void {
    this.#listeners.push(listener);
  }

  /** The method `of()` returns all events of one kind. */
  of(kind: EventKind): readonly RehearsalEvent[] {
    return this.events.filter((event) => event.kind === kind);
  }
}
