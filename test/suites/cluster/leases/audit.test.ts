// Tests the code that reads an API server's audit log and reports Lease writes that break a rule of leader election.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { handOversOf, historyOf, jobFaults, rejectedWrites, type Term } from './audit.ts';

const lease = { namespace: 'ns', name: 'app' };

interface Given {
  readonly at: number;
  readonly version: number;
  readonly spec: Record<string, unknown>;
  readonly basedOn?: number;
  readonly verb?: string;
  readonly code?: number;
  readonly agent?: string;
  readonly name?: string;
}

const micro = (at: number) => `2026-01-02T03:${String(at).padStart(2, '0')}:00.000000Z`;

/** Returns a line of the audit log about one Lease request. `at` is the time of the request in minutes. */
function line({ at, version, spec, basedOn, verb = 'update', code = 200, agent = 'a/1', name = 'app' }: Given): string {
  const metadata = { name, namespace: 'ns' };
  const isCreation = verb === 'create';
  return JSON.stringify({
    kind: 'Event',
    stage: 'ResponseComplete',
    verb,
    userAgent: agent,
    responseStatus: { code },
    requestURI: `/apis/coordination.k8s.io/v1/namespaces/ns/leases${isCreation ? '' : `/${name}`}`,
    objectRef: { resource: 'leases', namespace: 'ns', ...(isCreation ? {} : { name }) },
    requestObject: { metadata: { ...metadata, ...(basedOn && { resourceVersion: String(basedOn) }) }, spec },
    responseObject: { metadata: { ...metadata, resourceVersion: String(version) }, spec },
    requestReceivedTimestamp: micro(at),
  });
}

const held = (holder: string, transitions: number, at: number) => ({
  holderIdentity: holder,
  leaseDurationSeconds: 60,
  leaseTransitions: transitions,
  acquireTime: micro(at),
  renewTime: micro(at),
});

/**
 * Valid writes of one Lease. `a` leads twice. `b` leads after `a` has released the Lease, and `a` leads again after the
 * Lease of `b` has expired. The audit log contains the last two writes in reverse order.
 */
const good: readonly Given[] = [
  { at: 0, version: 9, verb: 'create', code: 201, spec: held('a', 0, 0) },
  { at: 1, version: 10, basedOn: 9, spec: held('a', 0, 1) },
  { at: 2, version: 12, basedOn: 10, spec: { ...held('', 0, 2), leaseDurationSeconds: 1 } },
  { at: 2, version: 13, basedOn: 12, spec: held('a', 1, 2) },
  { at: 3, version: 15, basedOn: 13, spec: { ...held('', 1, 3), leaseDurationSeconds: 1 } },
  { at: 3, version: 16, basedOn: 15, spec: held('b', 2, 3), agent: 'b/1' },
  { at: 5, version: 18, basedOn: 17, spec: held('a', 3, 5) },
  { at: 4, version: 17, basedOn: 16, spec: held('b', 2, 4), agent: 'b/1' },
];

const historyWith = (change: (given: Given) => Given | undefined, more: readonly Given[] = []) =>
  historyOf([...good.flatMap((given) => change(given) ?? []), ...more].map(line).join('\n'), lease);

const replaced = (version: number, changes: Partial<Given>) =>
  historyWith((given) => (given.version === version ? { ...given, ...changes } : given));

test('if all Lease writes follow the rules of leader election, the check of the audit log returns each period of leadership and reports no fault', () => {
  const conflict = { at: 2, version: 0, basedOn: 10, code: 409, spec: held('b', 1, 2), agent: 'b/1' };
  const foreign = { at: 2, version: 11, verb: 'create', code: 201, spec: held('c', 7, 2), name: 'other' };
  const { terms, faults } = historyWith((given) => given, [conflict, foreign]);
  assert.deepEqual(faults, []);
  const at = (minute: number) => Date.parse(micro(minute));
  const summary = terms.map(({ agent, token, transitions }) => [agent, token, transitions]);
  assert.deepEqual(summary, [['a/1', '9', 0], ['a/1', '13', 1], ['b/1', '16', 2], ['a/1', '18', 3]]); // prettier-ignore
  const times = terms.map(({ acquiredAt, releasedAt }) => [acquiredAt, releasedAt]);
  assert.deepEqual(times, [[at(0), at(2)], [at(2), at(3)], [at(3), undefined], [at(5), undefined]]); // prettier-ignore
});

test('if a Lease write got no response, but a later write is based on its version, the check of the audit log counts it as stored', () => {
  const { terms, faults } = historyWith((given) =>
    given.version === 17 ? { ...given, version: 0, code: 504 } : given,
  );
  assert.deepEqual(faults, []);
  assert.equal(terms.length, 4);
  const early = historyWith((given) => {
    if (given.version === 17) return { ...given, version: 0, code: 504 };
    return given.version === 18 ? { ...given, at: 4 } : given;
  });
  assert.match(early.faults.join('\n'), /18 by a\/1: a took the Lease 0 ms after a write of b/);
});

test('the check of the audit log of the API server accepts a Lease whose first write has no leaseTransitions and no acquireTime, because a kubelet writes such Leases', () => {
  const { acquireTime, leaseTransitions, ...spec } = held('a', 0, 0);
  assert.ok(acquireTime !== '' && leaseTransitions === 0);
  assert.deepEqual(replaced(9, { spec }).faults, []);
});

const bad: Readonly<Record<string, [() => { faults: readonly string[] }, RegExp]>> = {
  'an empty log': [() => historyOf('', lease), /no write of ns\/app/],
  'a log of another Lease': [() => historyOf(good.map(line).join('\n'), { ...lease, name: 'b' }), /no write of ns\/b/],
  'a log with only rejected writes': [() => historyWith((given) => ({ ...given, code: 409 })), /no write of ns\/app/],
  'a takeover before the expiry': [
    () => replaced(17, { spec: { ...held('b', 2, 4), leaseDurationSeconds: 61 } }),
    /version 18 by a\/1: a took the Lease 60000 ms after a write of b, for 61000 ms/,
  ],
  'a takeover without a release': [
    () => replaced(15, { spec: held('a', 1, 3) }),
    /version 16 by b\/1: b took the Lease 0 ms after a write of a/,
  ],
  'a change of holder without a new transition': [
    () => replaced(16, { spec: held('b', 1, 3) }),
    /16 .*1 transitions instead of 2/,
  ],
  'a return of the same holder without a new transition': [
    () => replaced(13, { spec: held('a', 0, 2) }),
    /13 .*0 transitions/,
  ],
  'a renewal with a new transition': [() => replaced(10, { spec: held('a', 1, 1) }), /10 .*1 transitions instead of 0/],
  'a count of transitions that begins again': [
    () => replaced(18, { spec: held('a', 0, 5) }),
    /0 transitions instead of 3/,
  ],
  'a second release of the same Lease': [
    () => replaced(13, { spec: { ...held('', 0, 2), leaseDurationSeconds: 1 } }),
    /13 .*nobody held/,
  ],
  'a release by another program than the holder': [
    () => replaced(15, { agent: 'b/1' }),
    /15 by b\/1: the Lease was released, but its holder a has the user agent a\/1/,
  ],
  'a log without the creation of the Lease': [
    () => historyWith((given) => (given.version === 9 ? undefined : given)),
    /the creation is not/,
  ],
  'a missing write': [
    () => historyWith((given) => (given.version === 12 ? undefined : given)),
    /writes after 10 are not in the log/,
  ],
  'a time with three fractional digits': [
    () => replaced(10, { spec: { ...held('a', 0, 1), renewTime: '2026-01-02T03:04:05.000Z' } }),
    /renewTime is "2026-01-02T03:04:05.000Z"/,
  ],
  'a missing time': [() => replaced(10, { spec: { ...held('a', 0, 1), acquireTime: null } }), /acquireTime is null/],
  'a record that the API server rejected': [() => replaced(18, { code: 422 }), /a\/1: update was rejected with 422/],
  'a deletion': [() => replaced(18, { verb: 'delete' }), /nobody may delete a Lease/],
  'a patch': [() => replaced(18, { verb: 'patch' }), /nobody may patch a Lease/],
  'a second creation': [() => replaced(18, { verb: 'create', code: 201 }), /18 .*was created again/],
  'a log without the request objects': [
    () => historyOf(line(good[0] as Given).replace('requestObject', 'request'), { ...lease, name: 'app' }),
    /no write of ns\/app/,
  ],
  'a log without the response objects': [
    () => historyOf(good.map((given) => line(given).replace('responseObject', 'response')).join('\n'), lease),
    /has no objects for update/,
  ],
};

for (const [title, [history, expected]] of Object.entries(bad)) {
  test(`the check of the audit log reports Lease writes that break a rule of leader election: ${title}`, () => {
    assert.match(history().faults.join('\n'), expected);
  });
}

const term = (token: string, acquiredAt: number, releasedAt?: number): Term => ({
  holder: `holder ${token}`,
  agent: 'a/1',
  token,
  transitions: 0,
  acquiredAt,
  releasedAt,
});
const terms = [term('9', 1_000, 3_000), term('10', 3_500), term('11', 9_000)];
const jobs = [
  { time: 3_600, token: '10' },
  { time: 1_000, token: '9' },
  { time: 3_000, token: '9' },
  { time: 8_999, token: '10' },
  { time: 9_100, token: '11' },
];

test("the check of the leaders' log lines reports no fault if each leader wrote its log lines only while it held the Lease", () => {
  assert.deepEqual(jobFaults(jobs, terms), []);
});

test("the check of the leaders' log lines reports a log line of a program that did not hold the Lease at that time, and a log line with an unknown fencing token", () => {
  const faultsWith = (time: number, token: string) => jobFaults([...jobs, { time, token }], terms).join('\n');
  assert.match(faultsWith(9_001, '10'), /a line at 9001 with the token 10 is outside its term/);
  assert.match(faultsWith(9_200, '10'), /follows one with the token 11/);
  assert.match(faultsWith(3_100, '9'), /outside its term/);
  assert.match(faultsWith(999, '9'), /outside its term/);
  assert.match(faultsWith(9_200, '12'), /belongs to no term/);
  assert.deepEqual(jobFaults([], terms), ['no work was done']);
});

test('a store that checks fencing tokens rejects the writes of a previous leader after the next leader has written', () => {
  assert.deepEqual(rejectedWrites(jobs, terms), []);
  const late = { time: 3_501, token: '9' };
  assert.deepEqual(rejectedWrites([...jobs, late], terms), [late]);
  assert.deepEqual(rejectedWrites([{ ...late, time: 3_499 }], terms), []);
});

test('handOversOf() returns the time from the release of the Lease to its acquisition by the next leader, and the time from the release to the first log line of the next leader', () => {
  assert.deepEqual(handOversOf(terms, jobs), [{ untilAcquired: 500, untilJobDone: 600 }]);
  const [withoutWork] = handOversOf(terms, jobs.slice(1, 3));
  assert.equal(withoutWork?.untilJobDone, Infinity);
});
