// The signals of one lifecycle. The only way to fire one is a report; the graph decides when it fires.
import { graphOf, signalNames, type Graph, type SignalName } from './graph.ts';
import { Latch, type LifecycleSignal } from './signal.ts';

/** LifecycleSignals is the whole state of a lifecycle. */
export type LifecycleSignals = {
  readonly [Name in SignalName as PropertyName<Name>]: LifecycleSignal<Name>;
};

type PropertyName<Name extends SignalName> = Name extends `HTTP${infer Rest}` ? `http${Rest}` : Uncapitalize<Name>;

/** Lifecycle holds the latches. `report` is for the code that causes a signal, `signals` for all readers. */
export interface Lifecycle {
  readonly signals: LifecycleSignals;
  /**
   * report says that the event of a signal has happened. The signal fires now, or as soon as the signals before it have
   * fired. A report of a signal that can no longer fire is dropped. A repeated report has no effect.
   */
  report(name: SignalName): void;
}

/**
 * createLifecycle creates the eight signals of a mode. It calls `onSignal` with each name before the signal fires, so that
 * the order of the calls is the order of the signals.
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

  // The loop below handles a report that `onSignal` makes, so that no signal fires during another one.
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
