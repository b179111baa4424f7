// Describes what happened to the pod before its shutdown, apart from lost requests and their causes. Also says whether
// the rehearsal itself was late. No side effects.
import type { RehearsalEvent } from './event-log.ts';
import { counted, first, lostOrRefused, seconds, type Events } from './losses.ts';
import { withoutSidecars } from './sidecar-causes.ts';

/**
 * notesOf returns one sentence for each incident, such as a failed probe. An incident can occur although no request is
 * lost.
 */
export function notesOf(events: Events): string[] {
  const block = events.find(({ detail }) => detail['deed'] === 'block');
  return [
    ...(block === undefined ? [] : blockTexts(events, block)),
    ...readinessTexts(events),
    ...killTexts(events),
    ...delayTexts(events),
  ];
}

// The client thread reports its losses and its delays only periodically. They are logged up to this many milliseconds
// late.
const reportLateness = 200;

// Returns a note if requests failed while the rehearsal itself ran late. The note says how late it ran, because the
// rehearsal may have caused these failures. For example, a client that runs late sends a request on a connection that
// the server closed long before.
function delayTexts(events: Events): string[] {
  const delays = events
    .filter(({ kind }) => kind === 'loadDelayed' || kind === 'kubeletDelayed')
    .map(({ at, detail }) => ({ at, delayMs: Number(detail['delayMs']) }));
  const delaysOf = ({ at, detail }: RehearsalEvent): typeof delays =>
    delays.filter(
      (delay) =>
        at >= delay.at - delay.delayMs - reportLateness &&
        at - Number(detail['afterMs'] ?? 0) <= delay.at + reportLateness,
    );
  const failed = events.filter((one) => lostOrRefused.includes(one.kind) && delaysOf(one).length > 0);
  if (failed.length === 0) return [];
  const longest = Math.max(...failed.flatMap(delaysOf).map(({ delayMs }) => delayMs));
  return [
    `${counted(failed, 'request')} failed while this rehearsal was up to ${seconds(longest)} late: a rehearsal on a less busy machine shows whether the server loses them`,
  ];
}

const deletionOf = (events: Events): number => first(events, 'podDeleted')?.at ?? Infinity;

// Says how long the server was blocked. The block ends at the latest when the container exits.
function blockTexts(events: Events, block: RehearsalEvent): string[] {
  const end = withoutSidecars(events).find(
    ({ kind, at, detail }) => at >= block.at && (kind === 'containerExited' || detail['deed'] === 'unblock'),
  );
  const until = (end ?? events.at(-1) ?? block).at;
  const requests = events.findLast(({ kind, at }) => kind === 'requests' && at <= until);
  const waiting = Number(requests?.detail['inFlight'] ?? 0);
  const isUnready = events.some(
    ({ kind, at, detail }) => kind === 'readinessChanged' && detail['isReady'] === false && at > block.at && at < until,
  );
  return [
    `the server was blocked for ${seconds(until - block.at)}, and ${String(waiting)} requests were waiting for a response at the end of the block`,
    ...(isUnready ? [] : ['the pod stayed ready during the block, so the Service still sent new connections to it']),
  ];
}

// Returns how long the pod was not ready because of a failed readiness probe.
function readinessTexts(events: Events): string[] {
  const shutdown = deletionOf(events);
  const times = events.flatMap(({ kind, at, detail }, index) => {
    if (kind !== 'readinessChanged' || detail['isReady'] !== false || at >= shutdown) return [];
    const last = events
      .slice(0, index)
      .findLast(
        (one) => one.kind === 'containerExited' || (one.kind === 'probe' && one.detail['type'] === 'readiness'),
      );
    if (last?.detail['published'] !== 'failure') return [];
    const later = events.slice(index + 1);
    const until = later.find((one) => one.kind === 'readinessChanged') ?? later.at(-1);
    return [(until?.at ?? at) - at];
  });
  const total = times.reduce((sum, one) => sum + one, 0);
  return times.length === 0 ? [] : [`the pod was not ready for ${seconds(total)}, because its readiness probe failed`];
}

// Returns one sentence for each container that the kubelet ended or restarted because its liveness or startup probe
// failed.
function killTexts(events: Events): string[] {
  const shutdown = deletionOf(events);
  const failures = events.filter(
    ({ kind, at, detail: { type, published } }) =>
      kind === 'probe' && type !== 'readiness' && published === 'failure' && at < shutdown,
  );
  const texts = failures.map(({ at, detail: { container, type } }) => {
    const isRestarted = events.some(
      (one) => one.kind === 'containerStarted' && one.at >= at && one.detail['container'] === container,
    );
    return `the kubelet ${isRestarted ? 'restarted' : 'ended'} container ${String(container)}, because its ${String(type)} probe failed`;
  });
  return [...new Set(texts)];
}
