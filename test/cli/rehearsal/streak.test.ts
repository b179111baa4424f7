import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  afterExit,
  afterResult,
  inNewContainer,
  newStreak,
  type ProbeType,
  type Result,
  type Streak,
} from '../../../src/cli/rehearsal/streak.ts';

const results: Readonly<Record<string, Result>> = { S: 'success', F: 'failure', E: 'error' };

interface Vector {
  readonly type: ProbeType;
  readonly thresholds: readonly [success: number, failure: number];
  /**
   * The results of successive probes: S is success, F is failure, E is error. `|` means that the container exited and
   * was restarted, and `k` means that the kubelet killed and restarted it.
   */
  readonly results: string;
  /** The state that the kubelet publishes after each probe result: + is success, - is failure, ? is unknown. */
  readonly published: string;
}

const marks = { success: '+', failure: '-', unknown: '?' } as const;

function play({ type, thresholds: [success, failure], results: text }: Vector): { published: string; last: Streak } {
  let streak = newStreak(type);
  let published = '';
  for (const letter of text) {
    if (letter === '|' || letter === 'k') streak = inNewContainer(afterExit(streak), type);
    else {
      streak = afterResult(streak, type, results[letter] ?? 'error', { success, failure });
      published += marks[streak.published];
    }
  }
  return { published, last: streak };
}

const vectors: readonly Vector[] = [
  { type: 'liveness', thresholds: [1, 3], results: 'SFFSFFF', published: '++++++-' },
  { type: 'liveness', thresholds: [1, 3], results: 'FFEF', published: '+++-' },
  { type: 'liveness', thresholds: [1, 3], results: 'FF|F', published: '++-' },
  { type: 'liveness', thresholds: [1, 3], results: 'FFFkFFF', published: '++-++-' },
  { type: 'liveness', thresholds: [1, 1], results: 'EEEE', published: '++++' },
  { type: 'readiness', thresholds: [2, 1], results: 'SSFSS', published: '-+--+' },
  { type: 'readiness', thresholds: [1, 3], results: '', published: '' },
  { type: 'readiness', thresholds: [3, 1], results: 'SSS|S', published: '--++' },
  { type: 'startup', thresholds: [1, 3], results: 'FFS', published: '??+' },
  { type: 'startup', thresholds: [1, 3], results: 'FFF', published: '??-' },
];

for (const vector of vectors) {
  const { type, thresholds, results: text, published } = vector;
  test(`K-048, K-049, K-050, K-217 for a ${type} probe with successThreshold/failureThreshold ${thresholds.join('/')} and the results "${text}", the kubelet publishes the states "${published}"`, () => {
    assert.equal(play(vector).published, published);
  });
}

test('K-048 a container without a probe result counts as not ready, as alive, and as not started', () => {
  assert.deepEqual(
    (['readiness', 'liveness', 'startup'] as const).map((type) => newStreak(type).published),
    ['failure', 'success', 'unknown'],
  );
});

test('K-052 a container that has exited becomes ready again only when a readiness probe succeeds after its restart', () => {
  const { last } = play({ type: 'readiness', thresholds: [3, 1], results: 'SSS', published: '' });
  assert.equal(afterExit(last).published, 'failure');
  assert.equal(inNewContainer(afterExit(last), 'readiness').published, 'failure');
});

test('K-056 after a startup probe has reached its success or failure threshold, or a liveness probe its failure threshold, the probe worker sends no probes until the container has restarted', () => {
  const started = play({ type: 'startup', thresholds: [1, 3], results: 'S', published: '' }).last;
  const dead = play({ type: 'liveness', thresholds: [1, 1], results: 'F', published: '' }).last;
  const unready = play({ type: 'readiness', thresholds: [1, 1], results: 'F', published: '' }).last;
  assert.deepEqual([started.isOnHold, dead.isOnHold, unready.isOnHold], [true, true, false]);
  assert.equal(inNewContainer(dead, 'liveness').isOnHold, false);
});
