// Collects the state of the main thread for the debug socket.
import { wallTime, type Clock } from '../clock.ts';
import type { MainThreadFacts } from '../inspection.ts';
import type {
  ElectorCounts,
  HookKind,
  PreviousRun,
  ShutdownRecord,
  SignalEvent,
  TrafficCounts,
  UnfinishedRequest,
} from '../observer.ts';
import { settingsTable, type SettingName, type Settings } from '../settings/table.ts';
import { textOf } from '../settings/text.ts';
import { version } from '../version.ts';

// Maps each protocol to the kind of connection that the JSON document of the debug socket shows for it.
const kinds = { handshake: 'http1', http: 'http1', session: 'http2', upgraded: 'upgraded' } as const;

// The maximum number of requests in the JSON document of the debug socket.
const mostRequests = 20;

/** Inspected contains the members of a lifecycle that the class Inspector reads for the debug socket. */
export interface Inspected {
  readonly recorder: { soFar(): ShutdownRecord };
  readonly shutdown: { readonly endsAt: number | undefined };
  readonly traffic: {
    readonly counts: TrafficCounts;
    readonly connections: Iterable<{ readonly spoken: { readonly is: keyof typeof kinds } }>;
    unfinished(): readonly UnfinishedRequest[];
  };
  readonly hooks: {
    readonly running: Iterable<{ readonly kind: HookKind; readonly name: string; readonly ageMs: number }>;
  };
  readonly health: { readonly isHeldUnready: boolean };
  readonly electors: readonly (() => ElectorCounts)[];
}

/**
 * Inspector records the time of each lifecycle signal. It reads all other parts of the state only when a client of the
 * debug socket requests the state.
 */
export class Inspector {
  readonly #signals: MainThreadFacts['signals'][number][] = [];
  readonly #settings: MainThreadFacts['settings'];
  readonly #clock: Pick<Clock, 'now'>;

  constructor(settings: Settings, sources: Readonly<Record<SettingName, string>>, clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
    this.#settings = Object.fromEntries(
      (Object.keys(settingsTable) as SettingName[]).map((name) => {
        const value = textOf(settingsTable[name].kind, settings[name]);
        return [name, { value, source: sources[name] }];
      }),
    );
  }

  noteSignal({ name, durationMs }: SignalEvent): void {
    this.#signals.push({ name, durationMs, at: new Date(wallTime()).toISOString() });
  }

  /** `inspect()` returns the current state of a lifecycle. */
  inspect(
    { recorder, shutdown, traffic, hooks, health, electors }: Inspected,
    previousRun?: PreviousRun,
  ): MainThreadFacts {
    const { requestsInFlight, longRunningRequests } = traffic.counts;
    return {
      pid: process.pid,
      version,
      signals: this.#signals,
      isHeldUnready: health.isHeldUnready,
      requestsInFlight,
      longRunningRequests,
      settings: this.#settings,
      ...(shutdown.endsAt !== undefined && { shutdown: this.#shutdown(recorder.soFar(), shutdown.endsAt) }),
      oldestRequests: traffic.unfinished().slice(0, mostRequests),
      runningHooks: [...hooks.running],
      connections: countByKind(traffic.connections),
      leadership: electors.map((countsOf) => countsOf()),
      ...(previousRun && { previousRun }),
    };
  }

  #shutdown({ reason, durationMs, budgetMs }: ShutdownRecord, endsAt: number): MainThreadFacts['shutdown'] & {} {
    const remainingMs = Math.max(0, Math.round(endsAt - this.#clock.now()));
    return { reason, elapsedMs: durationMs, budgetMs, remainingMs };
  }
}

function countByKind(connections: Inspected['traffic']['connections']): MainThreadFacts['connections'] {
  const counts = { http1: 0, http2: 0, upgraded: 0 };
  for (const { spoken } of connections) counts[kinds[spoken.is]]++;
  return counts;
}
