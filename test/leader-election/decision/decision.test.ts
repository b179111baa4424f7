import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hint, learn, lose, plan, release, sending, watching } from '../../../src/leader-election/decision/decision.ts';
import { alterationIn, microTime, type Lease } from '../../../src/leader-election/decision/lease.ts';
import { begin, isValid, type Moment, type Reply, type State } from '../../../src/leader-election/decision/state.ts';
import { at, electionOf, lease, wall } from '../support/election.ts';

const election = electionOf('a');

const foreign = (renewTime = 'r', resourceVersion = '10'): Lease =>
  lease({ holderIdentity: 'b', leaseDurationSeconds: 15, renewTime, leaseTransitions: 4 }, resourceVersion);
// Returns the Lease as the leader writes it at the time `sent`. The leader has led since the start of the test.
const own = (resourceVersion: string, spec = {}, sent = at(0)): Lease =>
  lease(
    {
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: microTime(wall),
      renewTime: microTime(sent.wall),
      leaseTransitions: 5,
      ...spec,
    },
    resourceVersion,
  );
const found = (read: Lease): Reply => ({ kind: 'lease', lease: read, altered: undefined });
const failed: Reply = { kind: 'failed', isRejected: false };

function exchange(state: State, sent: number, reply: Reply, took = 0, random = 0): State {
  const now = at(sent);
  const planned = plan(state, now, election);
  assert.ok(planned.kind === 'send');
  const { body } = planned.request;
  const altered = reply.kind === 'lease' && body ? { altered: alterationIn(reply.lease, body) } : {};
  const exchanged = { sent: now, received: at(sent + took), reply: { ...reply, ...altered }, random };
  return learn(sending(state, now, election), exchanged, election);
}

function methodAt(state: State, now: Moment): string {
  const planned = plan(state, now, election);
  return planned.kind === 'send' ? planned.request.method : planned.kind;
}

function led(): State {
  const read = exchange(begin(at(0)), 0, found(lease({ leaseTransitions: 4 }, '9')));
  return exchange(read, 0, found(own('11')));
}

// Each entry names a field of the Lease, and the value that an admission webhook stores in this field. The elector has
// sent another value.
const altered = [
  ['holderIdentity', 'b'],
  ['leaseDurationSeconds', 14],
  ['leaseDurationSeconds', null],
  ['acquireTime', null],
  ['renewTime', '2020-01-01T00:00:00.000000Z'],
  ['leaseTransitions', 9],
  ['strategy', 'OldestEmulationVersion'],
] as const;

test('L-062, L-068 an elector becomes the leader only by a write that the API server has acknowledged', () => {
  const absent = exchange(begin(at(0)), 0, { kind: 'absent' });
  assert.equal(methodAt(absent, at(0)), 'POST');
  const replies: Reply[] = [failed, { kind: 'conflict' }, { kind: 'absent' }, { kind: 'recreated' }, found(foreign())];
  for (const reply of [...replies, { kind: 'failed', isRejected: true } as const]) {
    const after = exchange(absent, 0, reply);
    assert.equal(after.tenure, undefined, reply.kind);
    assert.equal(after.step, 'read', reply.kind);
    assert.equal(methodAt(after, at(1_999)), 'wait', reply.kind);
  }
  for (const reply of [...replies.filter(({ kind }) => kind !== 'absent'), found(own('9'))]) {
    assert.equal(exchange(begin(at(0)), 0, reply).tenure, undefined, reply.kind);
  }
  const created = { leaseTransitions: 0 };
  assert.equal(exchange(absent, 0, found(own('8', created))).tenure?.token, '8');
  for (const [field, value] of altered) {
    assert.equal(exchange(absent, 0, found(own('8', { ...created, [field]: value }))).tenure, undefined, field);
  }
});

test('L-063, L-064, L-066 if another elector holds the Lease, a follower takes it over a lease duration after the last change that it has seen in the Lease', () => {
  const seen = exchange(begin(at(0)), 0, found(foreign()), 300);
  const early = exchange({ ...seen, due: 0 }, 15_299, found(foreign('r', '11')), 500);
  assert.equal(early.step, 'read');
  const late = exchange({ ...seen, due: 0 }, 15_300, found(foreign('r', '11')), 500);
  assert.equal(late.step, 'take');
  const changed = exchange({ ...seen, due: 0 }, 15_300, found(foreign('s', '11')));
  assert.equal(changed.step, 'read');
});

test('L-065, L-016 a follower waits for the lease duration that the Lease contains, or for its own lease duration if the Lease contains none', () => {
  for (const [seconds, expected] of [
    [3, 3_000],
    [60, 60_000],
    [undefined, 15_000],
    [0, 15_000],
  ] as const) {
    const record = lease({ holderIdentity: 'b', leaseDurationSeconds: seconds });
    const seen = { ...exchange(begin(at(0)), 0, found(record)), due: 0 };
    assert.equal(exchange(seen, expected - 1, found(record)).step, 'read', String(seconds));
    assert.equal(exchange(seen, expected, found(record)).step, 'take', String(seconds));
  }
});

test('L-067, L-130 a takeover of the Lease adds one to leaseTransitions, or sets it to 0 if it is already 2147483647', () => {
  const bodyFor = (transitions: number): unknown => {
    const state = exchange(begin(at(0)), 0, found(lease({ leaseTransitions: transitions })));
    const planned = plan(state, at(0), election);
    return planned.kind === 'send' ? planned.request.body?.spec['leaseTransitions'] : planned.kind;
  };
  assert.equal(bodyFor(4), 5);
  assert.equal(bodyFor(2 ** 31 - 1), 0);
});

test('L-093 a leader stops leading when the time of the renew deadline has passed since the leader sent its last acknowledged write of the Lease', () => {
  const state = exchange(led(), 0, found(own('12')), 4_000);
  const renewed = exchange(state, 4_000, found(own('13', {}, at(4_000))), 3_000);
  assert.equal(methodAt(exchange(renewed, 7_000, failed, 3_300), at(13_999)), 'PUT');
  assert.deepEqual(plan(renewed, at(14_000), election), { kind: 'lose', cause: 'renew deadline' });
});

test('L-018, L-093 a renewal that leaves the resourceVersion of the Lease unchanged does not extend the leadership', () => {
  const renewed = exchange(led(), 0, found(own('12')));
  // In this test, the wall clock does not advance, so the renewal writes the same times as before. The Lease does not
  // change, and followers cannot notice the renewal.
  const state = learn(
    sending({ ...renewed, due: 0 }, at(2_000, -2_000), election),
    { sent: at(2_000, -2_000), received: at(2_000, -2_000), reply: found(own('12')), random: 0 },
    election,
  );
  assert.deepEqual(state.tenure, renewed.tenure);
  assert.equal(methodAt({ ...state, due: 0 }, at(9_999, -9_999)), 'PUT');
  assert.deepEqual(plan(state, at(10_000, -10_000), election), { kind: 'lose', cause: 'renew deadline' });
});

test("L-084 a leader's request to the API server times out after a third of the renew deadline, or earlier, when the leadership expires", () => {
  const timeoutAt = (moment: number): number => {
    const planned = plan({ ...led(), due: 0 }, at(moment), election);
    return planned.kind === 'send' ? planned.request.timeout : NaN;
  };
  assert.equal(Math.round(timeoutAt(0)), 3_333);
  assert.equal(timeoutAt(9_500), 500);
  const short = plan(begin(at(0)), at(0), electionOf('a', { renewDeadline: 2_000 }));
  assert.equal(short.kind === 'send' ? short.request.timeout : NaN, 1_000, 'the shortest timeout is one second');
});

test('L-093 if the response to a write of the Lease arrives when the renew deadline has passed, the elector does not become the leader', () => {
  const absent = exchange(begin(at(0)), 0, { kind: 'absent' });
  const created = found(own('8', { leaseTransitions: 0 }));
  assert.equal(exchange(absent, 0, created, 9_999).tenure?.token, '8');
  assert.equal(exchange(absent, 0, created, 10_000).tenure, undefined);
});

test('L-093, L-094 a leader stops leading at once if the response to a renewal, or to the GET after a conflict, contains no Lease or a Lease that the leader did not write', () => {
  const cases: [Reply, string][] = [
    [found(foreign()), 'other holder'],
    [found(own('20', { holderIdentity: '' })), 'no holder'],
    [{ kind: 'absent' }, 'deleted'],
    [found({ ...own('20'), uid: 'another' }), 'replaced'],
    [found(own('20', { leaseTransitions: 99 })), 'edited'],
    [found(own('20', { acquireTime: 'other' })), 'edited'],
    [found(own('20', { strategy: 'OldestEmulationVersion' })), 'coordinated'],
    [found(own('20', { strategy: 'x', preferredHolder: 'b' })), 'coordinated'],
  ];
  const conflicted = exchange(led(), 0, { kind: 'conflict' });
  for (const [reply, cause] of cases) {
    const after = exchange(conflicted, 0, reply);
    assert.equal(after.loss, cause);
    assert.equal(after.tenure, undefined, cause);
    assert.equal(after.claim, undefined, cause);
  }
  assert.equal(exchange(led(), 0, { kind: 'recreated' }).loss, 'replaced');
  for (const [field, value] of altered) {
    const after = exchange(led(), 0, found(own('12', { [field]: value })));
    assert.equal(after.tenure, undefined, field);
    assert.notEqual(after.loss, undefined, field);
  }
});

test('L-096a if a renewal gets a 409, the leader reads the Lease again; if the leader is still the holder, it repeats the PUT with the new resourceVersion', () => {
  const conflicted = exchange(led(), 0, { kind: 'conflict' });
  const checked = exchange(conflicted, 0, found(own('20', { leaseDurationSeconds: 1 })));
  const planned = plan(checked, at(0), election);
  assert.ok(planned.kind === 'send');
  assert.equal(planned.request.body?.metadata['resourceVersion'], '20');
  assert.equal(planned.request.body.spec['leaseDurationSeconds'], 15);
  // However often another client edits the Lease, the elector makes at most one attempt to renew the Lease per retry
  // period.
  const again = exchange(checked, 0, { kind: 'conflict' });
  assert.equal(methodAt(again, at(1_999)), 'wait');
  assert.equal(methodAt(again, at(2_000)), 'GET');
});

test('L-095, L-096 if the wall clock jumps forward, a leader does not count as the leader until it has renewed its Lease', () => {
  const state = exchange(led(), 0, found(own('12')));
  assert.ok(state.tenure !== undefined);
  assert.equal(isValid(state.tenure, at(500, 1_999), election), true);
  assert.equal(isValid(state.tenure, at(500, 2_001), election), false);
  assert.equal(isValid(state.tenure, at(500, -3_600_000), election), true);
  assert.equal(methodAt(state, at(500, 1_999)), 'wait');
  const now = at(500, 3_600_000);
  assert.equal(methodAt(state, now), 'PUT');
  const sent = sending(state, now, election);
  const again = learn(sent, { sent: now, received: now, reply: failed, random: 0 }, election);
  assert.equal(methodAt(again, at(600, 3_600_000)), 'wait');
  const proved = learn(sent, { sent: now, received: now, reply: found(own('13', {}, now)), random: 0 }, election);
  assert.ok(proved.tenure !== undefined);
  assert.equal(isValid(proved.tenure, at(600, 3_600_000), election), true);
});

test('L-091, L-092 an elector that stops releases the Lease only if the Lease still names this elector as its holder', () => {
  const releasing = release(led(), at(0), 10_000);
  assert.equal(methodAt(releasing, at(0)), 'GET');
  for (const reply of [found(foreign()), { kind: 'absent' } as const, found({ ...own('12'), uid: 'x' })]) {
    const after = exchange(releasing, 0, reply);
    assert.deepEqual([after.goal, after.isReleased], ['end', false]);
  }
  const mine = exchange(releasing, 0, found(own('12')));
  assert.equal(methodAt(mine, at(0)), 'PUT');
  assert.equal(exchange(mine, 0, found(lease({}, '13'))).isReleased, true);
  const conflicted = exchange(mine, 0, { kind: 'conflict' });
  assert.equal(methodAt(conflicted, at(0)), 'GET');
  assert.equal(exchange(mine, 0, { kind: 'recreated' }).isReleased, false);
  const lost = exchange(mine, 0, failed);
  const applied = exchange(lost, 2_000, found(lease({ leaseTransitions: 5 }, '13')));
  assert.deepEqual([applied.goal, applied.isReleased], ['end', true]);
  assert.deepEqual(plan(lost, at(10_000), election), { kind: 'end' });
});

test('L-092 when an elector stops, it releases the Lease only if it has led and no other elector has taken over the Lease', () => {
  assert.equal(release(begin(at(0)), at(0), 1_000).goal, 'end');
  assert.equal(release(lose(led(), 'other holder', at(0)), at(0), 1_000).goal, 'end');
  assert.equal(release(lose(led(), 'renew deadline', at(0)), at(0), 1_000).goal, 'release');
});

test('L-163 an elector never takes over a Lease that uses coordinated leader election', () => {
  const coordinated = lease({ holderIdentity: 'a', strategy: 'OldestEmulationVersion' });
  assert.equal(exchange(begin(at(0)), 0, found(coordinated)).step, 'read');
});

test('L-053 if a watch event shows a Lease without a holder, a follower tries to acquire the Lease before the lease duration has passed; an event with a holder never makes the follower try earlier', () => {
  const seen = exchange(begin(at(0)), 0, found(foreign()));
  const followed = watching(seen, true, at(10), 0, election);
  assert.equal(followed.due, 15_000);
  const renewed = hint(followed, foreign('s', '11'), at(2_000), 0, election);
  assert.equal(renewed.due, 17_000);
  const old = hint(renewed, lease({}, '9'), at(2_100), 0, election);
  assert.equal(old, renewed);
  const freed = hint(renewed, lease({}, '12'), at(3_000), 0.5, election);
  assert.equal(freed.due, 3_250);
  assert.equal(methodAt(freed, at(3_250)), 'GET');
  // The watch has reported a Lease without a holder. The API server may answer the next GET with an older version of
  // the Lease, which still names a holder. Therefore, the elector repeats the GET.
  const outdated = exchange(freed, 3_250, found(foreign('s', '11')));
  assert.equal(outdated.due, 3_250);
  // After the watch has reported a Lease without a holder, two GETs in a row have returned a Lease with a holder. The
  // elector then sends no third GET at once, but waits for the next event of the watch.
  assert.equal(exchange(outdated, 3_250, found(foreign('s', '11'))).due, 17_000);
  const broken = watching(renewed, false, at(3_000), 0, election);
  assert.equal(broken.due, 5_000);
});
