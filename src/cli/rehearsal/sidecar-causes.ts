// Finds the causes of lost requests that concern sidecars. No side effects.
import type { Row } from './causes.ts';
import { first, seconds, type Events } from './losses.ts';

// Returns the names of the sidecars.
function sidecarsOf(events: Events): unknown[] {
  return events
    .filter(({ kind, detail }) => kind === 'containerStarted' && detail['isSidecar'] === true)
    .map(({ detail }) => detail['container']);
}

/** withoutSidecars returns the events of a scenario without the events of its sidecars. */
export function withoutSidecars(events: Events): Events {
  const sidecars = sidecarsOf(events);
  return events.filter(({ detail }) => !sidecars.includes(detail['container'] ?? ''));
}

/** sidecarRows are the causes of lost requests that concern sidecars. */
export const sidecarRows: readonly Row[] = [
  {
    name: 'sidecarEndedFirst',
    remedy: 'Do not end the sidecar in a preStop hook. The kubelet ends it after the other containers.',
    find(events) {
      const deletion = first(events, 'podDeleted');
      const sidecars = sidecarsOf(events);
      const exits = events.filter(({ kind, at }) => kind === 'containerExited' && at >= (deletion?.at ?? Infinity));
      const main = exits.findLast(({ detail }) => !sidecars.includes(detail['container']));
      // After the grace period, the kubelet itself ends the sidecars (K-106).
      const isSignaled = (name: unknown, until: number): boolean =>
        events.some(({ kind, at, detail }) => kind === 'stopSignal' && detail['container'] === name && at <= until);
      const early = exits.find(
        ({ at, detail: { container } }) =>
          sidecars.includes(container) && at < (main?.at ?? 0) && !isSignaled(container, at),
      );
      if (main === undefined || early === undefined) return undefined;
      const [sidecar, other] = [early, main].map(({ detail }) => String(detail['container']));
      return `sidecar ${String(sidecar)} exited ${seconds(main.at - early.at)} before container ${String(other)}, which may still need it`;
    },
  },
  {
    name: 'sidecarKilled',
    remedy:
      'Handle the stop signal in the sidecar. If the sidecar was killed 2 s after its stop signal, let the other containers exit earlier, or raise terminationGracePeriodSeconds.',
    find(events) {
      const sidecars = sidecarsOf(events);
      const kill = events.find(({ kind, detail }) => kind === 'killSignal' && sidecars.includes(detail['container']));
      const signal = events.find(
        ({ kind, detail }) => kind === 'stopSignal' && detail['container'] === kill?.detail['container'],
      );
      if (kill === undefined || signal === undefined) return undefined;
      const why = kill.detail['isStopSignalHandled'] === false ? ', for which it has no handler' : '';
      return `sidecar ${String(kill.detail['container'])} was killed ${seconds(kill.at - signal.at)} after the stop signal${why}`;
    },
  },
];
