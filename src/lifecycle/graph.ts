// The order of the eight lifecycle signals in both modes, as data. No I/O, no time.

/** signalNames are the apiserver's eight signals, in the order in which a default-mode shutdown passes them. */
export const signalNames = [
  'MuxAndDiscoveryComplete',
  'HasBeenReady',
  'ShutdownInitiated',
  'AfterShutdownDelayDuration',
  'PreShutdownHooksStopped',
  'NotAcceptingNewRequest',
  'HTTPServerStoppedListening',
  'InFlightRequestsDrained',
] as const;

/** SignalName is the name of a lifecycle signal. */
export type SignalName = (typeof signalNames)[number];

/** Rule is the condition under which a signal fires. */
export interface Rule {
  /** Signals that must have fired. */
  readonly after: readonly SignalName[];
  /** A signal after which this one never fires. */
  readonly unless?: SignalName;
  /** Whether the signal fires without a report, as soon as `after` is met. */
  readonly automatic?: true;
}

/** Graph has the rule of each signal. */
export type Graph = Readonly<Record<SignalName, Rule>>;

const shared = {
  MuxAndDiscoveryComplete: { after: [], unless: 'ShutdownInitiated' },
  HasBeenReady: { after: ['MuxAndDiscoveryComplete'], unless: 'ShutdownInitiated' },
  ShutdownInitiated: { after: [] },
  AfterShutdownDelayDuration: { after: ['ShutdownInitiated'] },
  PreShutdownHooksStopped: { after: ['ShutdownInitiated'] },
  NotAcceptingNewRequest: { after: ['AfterShutdownDelayDuration', 'PreShutdownHooksStopped'], automatic: true },
} as const satisfies Partial<Graph>;

/**
 * graphOf returns the rules of a mode. By default the listener closes and then requests drain. With
 * `shutdownSendRetryAfter`, requests drain first, while new connections get a 429.
 */
export function graphOf(shutdownSendRetryAfter: boolean): Graph {
  return shutdownSendRetryAfter
    ? {
        ...shared,
        InFlightRequestsDrained: { after: ['NotAcceptingNewRequest'] },
        HTTPServerStoppedListening: { after: ['InFlightRequestsDrained'] },
      }
    : {
        ...shared,
        HTTPServerStoppedListening: { after: ['NotAcceptingNewRequest'] },
        InFlightRequestsDrained: { after: ['HTTPServerStoppedListening'] },
      };
}
