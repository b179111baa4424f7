import assert from 'node:assert/strict';
import { test } from 'node:test';
import { graphOf, signalNames, type Rule } from '../../src/lifecycle/graph.ts';

test("A-002 there are exactly eight lifecycle signals, with the apiserver's names", () => {
  assert.deepEqual(
    [...signalNames].sort(),
    [
      'AfterShutdownDelayDuration',
      'HTTPServerStoppedListening',
      'HasBeenReady',
      'InFlightRequestsDrained',
      'MuxAndDiscoveryComplete',
      'NotAcceptingNewRequest',
      'PreShutdownHooksStopped',
      'ShutdownInitiated',
    ].sort(),
  );
});

const shared: Readonly<Record<string, Rule>> = {
  MuxAndDiscoveryComplete: { after: [], unless: 'ShutdownInitiated' },
  HasBeenReady: { after: ['MuxAndDiscoveryComplete'], unless: 'ShutdownInitiated' },
  ShutdownInitiated: { after: [] },
  AfterShutdownDelayDuration: { after: ['ShutdownInitiated'] },
  PreShutdownHooksStopped: { after: ['ShutdownInitiated'] },
  NotAcceptingNewRequest: { after: ['AfterShutdownDelayDuration', 'PreShutdownHooksStopped'], automatic: true },
};

test('A-004…A-006, A-008, A-010 by default, HTTPServerStoppedListening fires after NotAcceptingNewRequest, and InFlightRequestsDrained after HTTPServerStoppedListening', () => {
  assert.deepEqual(graphOf(false), {
    ...shared,
    HTTPServerStoppedListening: { after: ['NotAcceptingNewRequest'] },
    InFlightRequestsDrained: { after: ['HTTPServerStoppedListening'] },
  });
});

test('A-004…A-006, A-009, A-011 with shutdownSendRetryAfter, the order is NotAcceptingNewRequest, then the end of the requests in flight, then the end of listening', () => {
  assert.deepEqual(graphOf(true), {
    ...shared,
    InFlightRequestsDrained: { after: ['NotAcceptingNewRequest'] },
    HTTPServerStoppedListening: { after: ['InFlightRequestsDrained'] },
  });
});
