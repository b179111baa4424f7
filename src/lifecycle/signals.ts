// The signals of one lifecycle and the only way to make them true: report a fact, and the graph decides when it counts.
import { graphOf, signalNames, type Graph, type SignalName } from './graph.ts';
import { Latch, type LifecycleSignal } from './signal.ts';

/** LifecycleSignals is the whole state of a lifecycle; every other question is answered by reading it. */
export type LifecycleSignals = {
  readonly [Name in SignalName as PropertyName<Name>]: LifecycleSignal<Name>;
};

type PropertyName<Name extends SignalName> = Name extends `HTTP${infer Rest}` ? `http${Rest}` : Uncapitalize<Name>;

/** Lifecycle holds the latches. `report` is for the code that brings a fact about, `signals` for everybody. */
export interface Lifecycle {
  readonly signals: LifecycleSignals;
  /**
   * report says that what a signal stands for has happened. The signal fires now, or as soon as those before it have;
   * one that has become impossible is dropped, and a repeated report is harmless.
   */
  report(name: SignalName): void;
}

/**
 * createLifecycle builds the eight signals of a mode. `onSignal` is told each name before the signal can be seen, so
 * that a record of the calls is the order in which the facts became true.
 */
export function createLifecycle(
  shutdownSendRetryAfter: boolean,
  onSignal: (name: SignalName) => void = () => undefined,
): Lifecycle {
  const graph = graphOf(shutdownSendRetryAfter);
  const latches = new Map<SignalName, Latch<SignalName>>(signalNames.map((name) => [name, new Latch(name)]));
  const reported = new Set<SignalName>();
  const latch = (name: SignalName): Latch<SignalName> => latches.get(name) as Latch<SignalName>;
  const hasSignaled = (name: SignalName): boolean => latch(name).hasSignaled;

  let isFiring = false;

  // A report made by `onSignal` itself is taken up by the loop that called it, so that no signal fires inside another.
  function fireWhatCan(): void {
    if (isFiring) return;
    isFiring = true;
    for (;;) {
      const next = signalNames.find((name) => !hasSignaled(name) && canFire(graph, name, reported, hasSignaled));
      if (next === undefined) break;
      onSignal(next);
      latch(next).signal();
    }
    isFiring = false;
  }

  return {
    signals: {
      muxAndDiscoveryComplete: latch('MuxAndDiscoveryComplete'),
      hasBeenReady: latch('HasBeenReady'),
      shutdownInitiated: latch('ShutdownInitiated'),
      afterShutdownDelayDuration: latch('AfterShutdownDelayDuration'),
      preShutdownHooksStopped: latch('PreShutdownHooksStopped'),
      notAcceptingNewRequest: latch('NotAcceptingNewRequest'),
      httpServerStoppedListening: latch('HTTPServerStoppedListening'),
      inFlightRequestsDrained: latch('InFlightRequestsDrained'),
    } as LifecycleSignals,
    report(name) {
      reported.add(name);
      fireWhatCan();
    },
  };
}

function canFire(
  graph: Graph,
  name: SignalName,
  reported: ReadonlySet<SignalName>,
  hasSignaled: (name: SignalName) => boolean,
): boolean {
  const rule = graph[name];
  if (rule.automatic !== true && !reported.has(name)) return false;
  if (rule.unless !== undefined && hasSignaled(rule.unless)) return false;
  return rule.after.every(hasSignaled);
}
