import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effectiveGrace, remaining, stopTimeout } from '../../../src/cli/rehearsal/termination.ts';

interface Vector {
  readonly grace: number;
  /** Seconds for which the preStop hook runs, unless the kubelet abandons the hook earlier. */
  readonly preStop?: number;
  /** Seconds from the start of this container's termination until the containers that must end before it have ended. */
  readonly ordering?: number;
  readonly signalAt: number;
  readonly killAt: number;
}

const vectors: readonly Vector[] = [
  { grace: 30, signalAt: 0, killAt: 30 },
  { grace: 30, preStop: 10, signalAt: 10, killAt: 30 },
  { grace: 30, preStop: 9.7, signalAt: 9.7, killAt: 30.7 },
  { grace: 30, preStop: 29.5, signalAt: 29.5, killAt: 31.5 },
  { grace: 30, preStop: 60, signalAt: 30, killAt: 32 },
  { grace: 2, signalAt: 0, killAt: 2 },
  { grace: 1, signalAt: 0, killAt: 2 },
  { grace: 1, preStop: 5, signalAt: 1, killAt: 3 },
  { grace: 1, preStop: 0.4, signalAt: 0.4, killAt: 2.4 },
  { grace: 30, ordering: 12.6, signalAt: 12.6, killAt: 30.6 },
  { grace: 30, preStop: 5, ordering: 12, signalAt: 12, killAt: 30 },
  { grace: 30, ordering: Infinity, signalAt: 30, killAt: 32 },
];

function play({ grace, preStop = 0, ordering = 0 }: Vector): { signalAt: number; killAt: number } {
  const hook = Math.min(preStop, grace);
  const afterHook = remaining(grace, hook * 1_000);
  const wait = Math.min(Math.max(0, ordering - hook), afterHook);
  const signalAt = hook + wait;
  return { signalAt, killAt: signalAt + stopTimeout(remaining(afterHook, wait * 1_000)) };
}

for (const vector of vectors) {
  const { grace, preStop = 0, ordering = 0, signalAt, killAt } = vector;
  test(`K-083, K-084, K-219 with a grace period of ${String(grace)} s, a preStop hook of ${String(preStop)} s, and other containers that end first after ${String(ordering)} s, a container gets the stop signal after ${String(signalAt)} s and SIGKILL after ${String(killAt)} s`, () => {
    assert.deepEqual(play(vector), { signalAt, killAt });
  });
}

test('K-125 the grace period of a probe applies if that probe kills the container, and may exceed the grace period of the pod', () => {
  assert.equal(effectiveGrace({ cause: 'probe', type: 'liveness', gracePeriodSeconds: 60 }, 30), 60);
  assert.equal(effectiveGrace({ cause: 'probe', type: 'startup' }, 30), 30);
});

test('K-071 a deletion uses the requested grace period or else the grace period of the pod, and at least one second', () => {
  assert.equal(effectiveGrace({ cause: 'deletion' }, 30), 30);
  assert.equal(effectiveGrace({ cause: 'deletion', gracePeriodSeconds: 5 }, 30), 5);
  assert.equal(effectiveGrace({ cause: 'deletion', gracePeriodSeconds: -1 }, 30), 1);
});

test("K-175 a hard eviction gives a pod a grace period of one second, and a soft eviction limits the grace period of the pod to the kubelet's maximum for evictions", () => {
  assert.equal(effectiveGrace({ cause: 'hardEviction' }, 30), 1);
  assert.equal(effectiveGrace({ cause: 'softEviction', maxPodGracePeriodSeconds: 20 }, 30), 20);
  assert.equal(effectiveGrace({ cause: 'softEviction', maxPodGracePeriodSeconds: 0 }, 30), 1);
});

test('K-174 at a node shutdown, a pod has its own grace period, but at most the shutdownGracePeriodSeconds of the node', () => {
  assert.equal(effectiveGrace({ cause: 'nodeShutdown', shutdownGracePeriodSeconds: 15 }, 30), 15);
});
