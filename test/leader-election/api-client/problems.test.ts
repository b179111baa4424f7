// Tests what an elector logs about denied requests, and about a Lease whose namespace does not exist.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '../../support/lease-store.ts';
import { Contest, leading } from '../support/contest.ts';

test('LT-44 if each renewal gets a 403, a leader still leads until the renew deadline, and the log has the rule that the Role needs', async (t) => {
  const { contest, a, running } = await leading(t);
  const lastSent = contest.server.calls.at(-1)?.at ?? 0;
  contest.server.script = () => ({ answer: { status: 403, body: 'denied by a proxy' } });
  await contest.advance(lastSent + 9_999 - contest.clock.now());
  assert.equal(a.terms[0]?.signal.aborted, false);
  await contest.advance(1);
  assert.equal(a.terms[0].signal.aborted, true);
  const lines = a.lines.filter(({ message }) => message === 'lease request failed');
  assert.equal(lines.length, 1);
  assert.equal(lines[0]?.details['problem'], 'forbidden');
  assert.match(
    String(lines[0].details['reason']),
    /the response to the PUT has status 403 \(cannot update leases\): "denied by a proxy"/,
  );
  assert.match(String(lines[0].details['role']), /resourceNames: \[app\]/);
  contest.server.script = () => undefined;
  await contest.advance(5_000);
  await a.elector.stop();
  await running;
});

const failures = [
  ['namespace missing', status(404, 'NotFound', 'namespaces "ns" not found')],
  ['namespace terminating', status(403, 'Forbidden', 'terminating', { causes: [{ reason: 'NamespaceTerminating' }] })],
  ['forbidden', status(403, 'Forbidden', 'cannot create')],
] as const;

for (const [problem, answer] of failures) {
  test(`LT-45 an elector retries the failed creation of a Lease, and logs the reason once: ${problem}`, async (t) => {
    const contest = await Contest.begin(t);
    const a = contest.contender('a');
    contest.server.script = ({ method }) => (method === 'POST' ? { answer } : undefined);
    const running = a.run();
    await contest.advance(10_000);
    assert.ok(contest.server.calls.filter(({ method }) => method === 'POST').length >= 3);
    assert.equal(a.terms.length, 0);
    const messages = (): string[] => a.lines.map(({ message, details }) => `${message} ${String(details['problem'])}`);
    assert.deepEqual(messages(), [`lease request failed ${problem}`]);
    contest.server.script = () => undefined;
    await contest.advance(3_000);
    assert.equal(a.terms.length, 1);
    assert.equal(messages()[1], 'lease requests succeed again undefined');
    await a.elector.stop();
    await running;
  });
}

test('if a follower has no permission to update the Lease, it logs the 403 of the API server once, and again only after another elector has held the Lease', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  contest.heldBy('', { leaseDurationSeconds: 1 });
  contest.server.script = ({ method }) =>
    method === 'PUT' ? { answer: status(403, 'Forbidden', 'cannot update') } : undefined;
  const running = a.run();
  await contest.advance(30_000);
  const messages = (): string[] =>
    a.lines.map(({ message }) => message).filter((message) => message !== 'lease watch failed');
  assert.deepEqual(messages(), ['lease request failed']);
  contest.heldBy('b');
  await contest.advance(5_000);
  assert.deepEqual(messages(), ['lease request failed', 'lease requests succeed again', 'leader changed']);
  await a.elector.stop();
  await running;
});

const malformed: Readonly<Record<string, Record<string, unknown>>> = {
  'negative transitions': { leaseTransitions: -1 },
  'transitions with a fraction': { leaseTransitions: 1.5 },
  'a text as the duration': { leaseDurationSeconds: '1' },
  'a number as the holder': { holderIdentity: 7 },
  'an object as the renewTime': { renewTime: {} },
};

for (const [what, spec] of Object.entries(malformed)) {
  test(`an elector never takes over a malformed Lease with ${what}, and logs this once, however often it reads the Lease`, async (t) => {
    const contest = await Contest.begin(t);
    contest.heldBy('b', { leaseDurationSeconds: 1, ...spec });
    const a = contest.contender('a');
    const running = a.run();
    await contest.advance(60_000);
    assert.deepEqual([...new Set(contest.server.calls.map(({ method }) => method))], ['GET']);
    assert.equal(a.terms.length, 0);
    const problems = a.lines.filter(({ message }) => message === 'lease request failed');
    assert.deepEqual(
      problems.map(({ details }) => details['problem']),
      ['malformed'],
    );
    contest.heldBy('');
    await contest.advance(5_000);
    assert.equal(a.terms.length, 1, 'the elector must lead when the Lease was corrected');
    await a.elector.stop();
    await running;
  });
}
