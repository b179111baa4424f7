// The rules by which the eight lifecycle signals fire, with and without `shutdownSendRetryAfter`. No side effects.

/**
 * signalNames are the eight lifecycle signals of the apiserver, in the order in which a shutdown with default
 * settings fires them.
 */
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

/** Rule is the condition under which one lifecycle signal fires. */
export interface Rule {
  /** `after` is the list of lifecycle signals that must have fired before this one fires. */
  readonly after: readonly SignalName[];
  /** `unless` names another lifecycle signal. If the other signal fires first, this signal can never fire. */
  readonly unless?: SignalName;
  /**
   * If `automatic` is true, the lifecycle signal fires as soon as all signals in the list `after` have fired. No call
   * of `report` is needed.
   */
  readonly automatic?: true;
}

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
 * graphOf returns the rules by which the eight lifecycle signals fire. By default, the servers stop listening before
 * requests drain. With `shutdownSendRetryAfter`, requests drain first. Until they have drained, requests
 * on new connections get a 429.
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
