import assert from 'node:assert/strict';
import { test } from 'node:test';
import { begin } from '../../../src/leader-election/decision/state.ts';
import { followAt, nextTry } from '../../../src/leader-election/decision/times.ts';
import { at, electionOf, lease } from '../support/election.ts';

const election = electionOf('a');

test('L-050 each delay between attempts is a new random number, from the retry period to 2.2 times the retry period', () => {
  const after = (random: number): number => followAt(begin(at(0)), at(100), random, election);
  assert.equal(after(0), 2_100);
  assert.equal(after(0.5), 3_300);
  assert.equal(Math.round(after(1 - 1e-9)), 4_500);
});

test('L-038, L-039 after a response with Retry-After, a leader waits for the time in Retry-After only if its leadership does not end during the wait', () => {
  const tenure = { token: '11', lease: lease({ holderIdentity: 'a' }, '11'), renewed: at(0) };
  const after = (retryAfter: number): number => {
    const reply = { kind: 'failed', isRejected: true, retryAfter } as const;
    return nextTry(tenure, { sent: at(0), received: at(100), reply, random: 0 }, election);
  };
  assert.equal(after(1_000), 1_100);
  assert.equal(after(30_000), 2_000);
});
