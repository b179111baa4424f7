// The signals of one lifecycle. Other code reports each event that a lifecycle signal announces, such as the end of the
// drain. The rules in graph.ts then decide when the signal fires.
import { graphOf, signalNames, type Graph, type SignalName } from './graph.ts';
import { Latch, type LifecycleSignal } from './signal.ts';

/**
 * LifecycleSignals contains the eight signals of a lifecycle by name. The signals that have fired are the complete
 * state of the lifecycle.
 */
export type LifecycleSignals = {
  readonly [Name in SignalName as PropertyName<Name>]: LifecycleSignal<Name>;
};

type PropertyName<Name extends SignalName> = Name extends `HTTP${infer Rest}` ? `http${Rest}` : Uncapitalize<Name>;

/**
 * Lifecycle contains the eight signals of one lifecycle. Code that detects an event calls `report`. All other code
 * reads `signals`.
 */
export interface Lifecycle {
  readonly signals: LifecycleSignals;
  /**
   * Call `report()` when the event that a lifecycle signal announces has happened. The signal fires as soon as all
   * signals that must fire before it have fired. `report()` has no effect for a signal that has been reported before or
   * can no longer fire.
   */
  report(name: SignalName): void;
}

/**
 * createLifecycle creates the eight signals. The setting `shutdownSendRetryAfter` decides in which order they fire.
 * Just before a signal fires, createLifecycle calls `onSignal` with its name.
 */
export function createLifecycle(
  shutdownSendRetryAfter: boolean,
  onSignal: (name: SignalName) => void = () => undefined,
): Lifecycle {
  const graph = graphOf(shutdownSendRetryAfter);
  const latches = new Map<SignalName, Latch<SignalName>>(signalNames.map((name) => [name, new Latch(name)]));
  const reported = new Set<SignalName>();
  const latch = <Name extends SignalName>(name: Name): Latch<Name> =>
    latches.get(name) as Latch<SignalName> as Latch<Name>;
  const hasSignaled = (name: SignalName): boolean => latch(name).hasSignaled;

  let isFiring = false;

  // `onSignal` may lead to the report of a second lifecycle signal. The second signal then fires in the next iteration
  // of the loop below, after `onSignal` has returned.
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
    },
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
