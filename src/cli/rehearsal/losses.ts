// Counts the lost requests in the events of a scenario, and compares their times with the start of the shutdown. No side
// effects.
import type { EventKind, RehearsalEvent } from './event-log.ts';

export type Events = readonly RehearsalEvent[];

/** lostOrRefused contains the two kinds of events that record a failed request. */
export const lostOrRefused: readonly EventKind[] = ['requestLost', 'requestRefused'];

export const first = (events: Events, kind: EventKind): RehearsalEvent | undefined =>
  events.find((one) => one.kind === kind);

/** countOf returns the number of requests that these events record. One event can record several requests. */
export const countOf = (losses: Events): number =>
  losses.reduce((total, { detail: { count = 1 } }) => total + Number(count), 0);

/** `counted()` returns the number of lost requests and a noun as text, such as `3 requests`. */
export const counted = (losses: Events, noun: string): string => {
  const count = countOf(losses);
  return `${String(count)} ${noun}${count === 1 ? '' : 's'}`;
};

/** lossesOf returns the events that record failed requests of one kind of client. */
export const lossesOf = (events: Events, client: string, kinds: readonly EventKind[]): Events =>
  events.filter((one) => kinds.includes(one.kind) && one.detail['client'] === client);

// Returns the event that began the shutdown. This is the deletion of the pod, or the kill of a container that the
// kubelet restarts afterwards.
const endingOf = (events: Events): RehearsalEvent | undefined =>
  first(events, 'podDeleted') ?? first(events, 'containerKilling');

/**
 * endOf returns the time at which the shutdown of the pod or the container began. This is the end of normal operation.
 * endOf returns Infinity if there was no shutdown.
 */
export const endOf = (events: Events): number => endingOf(events)?.at ?? Infinity;

export const nameOfEnd = (events: Events): string => (endingOf(events)?.kind === 'podDeleted' ? 'deletion' : 'kill');

export const seconds = (milliseconds: number): string => `${(milliseconds / 1_000).toFixed(1)} s`;

/**
 * `span()` describes the time from the first loss to the last loss, relative to the start of the shutdown. One example
 * is `from 2.1 s before to 0.4 s after the deletion`.
 */
export function span(events: Events, losses: Events): string {
  const end = endOf(events);
  if (end === Infinity) return 'without a deletion of the pod';
  const times = losses.map(({ at }) => at - end);
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const name = nameOfEnd(events);
  if (from >= 0) return `from ${seconds(from)} to ${seconds(to)} after the ${name}`;
  if (to < 0) return `from ${seconds(-from)} to ${seconds(-to)} before the ${name}`;
  return `from ${seconds(-from)} before to ${seconds(to)} after the ${name}`;
}

/** isRefusal tells whether the server answered a request with a complete response whose status is a refusal. */
export const isRefusal = ({ detail: { why } }: RehearsalEvent): boolean => String(why).startsWith('status ');
