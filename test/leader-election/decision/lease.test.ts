import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  alterationIn,
  createdLease,
  isNewer,
  microTime,
  parseLease,
  recordOf,
  updatedLease,
} from '../../../src/leader-election/decision/lease.ts';

const metadata = { name: 'app', namespace: 'ns', uid: 'u-1', resourceVersion: '7' };
const lease = (spec: unknown, more = {}): unknown => ({ kind: 'Lease', metadata: { ...metadata, ...more }, spec });

function parsed(received: unknown): NonNullable<ReturnType<typeof parseLease>> {
  const result = parseLease(received);
  assert.ok(result !== undefined);
  return result;
}

test('L-010, L-011, L-014 a Lease with absent or null fields is parsed as not held', () => {
  for (const spec of [
    undefined,
    null,
    {},
    { holderIdentity: null, leaseDurationSeconds: null, leaseTransitions: null },
    { acquireTime: null, renewTime: null, strategy: null, preferredHolder: null },
  ]) {
    const { holder, duration, transitions, acquireTime, strategy } = parsed(lease(spec));
    assert.deepEqual(
      { holder, duration, transitions, acquireTime, strategy },
      {
        holder: '',
        duration: undefined,
        transitions: 0,
        acquireTime: undefined,
        strategy: '',
      },
    );
  }
});

test('L-036 a Lease with malformed election fields, or an object of another kind, is rejected', () => {
  const bad = [
    undefined,
    null,
    'Lease',
    [],
    { kind: 'Status', metadata, spec: {} },
    { kind: 'Lease', spec: {} },
    lease('x'),
    lease([]),
    lease({ holderIdentity: 5 }),
    lease({ leaseDurationSeconds: '15' }),
    lease({ leaseTransitions: -1 }),
    lease({ leaseTransitions: 1.5 }),
    lease({ acquireTime: {} }),
    lease({}, { uid: '' }),
    lease({}, { resourceVersion: undefined }),
    lease({}, { resourceVersion: '0x7' }),
    lease({}, { resourceVersion: 7 }),
  ];
  for (const received of bad) assert.equal(parseLease(received), undefined, JSON.stringify(received));
});

test('L-016 a leaseDurationSeconds of 0 or less in a Lease counts as missing', () => {
  assert.equal(parsed(lease({ leaseDurationSeconds: 0 })).duration, undefined);
  assert.equal(parsed(lease({ leaseDurationSeconds: -5 })).duration, undefined);
  assert.equal(parsed(lease({ leaseDurationSeconds: 3 })).duration, 3_000);
});

test('L-017 to an elector, a Lease has changed if any field of its spec has changed, but not if only its labels or its resourceVersion have', () => {
  const spec = { holderIdentity: 'b', leaseDurationSeconds: 15, renewTime: '2026-01-02T03:04:05.000001Z' };
  const record = recordOf(parsed(lease(spec)));
  assert.equal(recordOf(parsed(lease(spec, { resourceVersion: '8', labels: { a: 'b' } }))), record);
  const changes = [
    { holderIdentity: 'c' },
    { leaseDurationSeconds: 16 },
    { renewTime: '2026-01-02T03:04:05.000002Z' },
    { acquireTime: '2026-01-02T03:04:05.000000Z' },
    { leaseTransitions: 1 },
    { strategy: 'S' },
    { preferredHolder: 'x' },
  ];
  for (const change of changes) assert.notEqual(recordOf(parsed(lease({ ...spec, ...change }))), record);
  assert.notEqual(recordOf(parsed(lease(spec, { uid: 'u-2' }))), record);
});

test('L-036 of two resourceVersions the one with more digits is newer, and of two with equally many digits the greater one is newer', () => {
  for (const [older, newer] of [
    ['9', '10'],
    ['99', '100'],
    ['101', '102'],
    ['9007199254740993', '9007199254740994'],
  ] as const) {
    assert.equal(isNewer(newer, older), true);
    assert.equal(isNewer(older, newer), false);
    assert.equal(isNewer(newer, newer), false);
  }
});

test('L-011, L-012 a time of a Lease is written with six fractional digits and Z', () => {
  assert.equal(microTime(Date.UTC(2026, 0, 2, 3, 4, 5, 678)), '2026-01-02T03:04:05.678000Z');
  assert.equal(microTime(Date.UTC(2026, 0, 2, 3, 4, 5)), '2026-01-02T03:04:05.000000Z');
});

test('L-015, L-021 an elector writes all five election fields when it creates a Lease, and when it updates a Lease that has none of them', () => {
  const at = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
  const holding = { holder: 'a', durationSeconds: 15, acquireTime: at, renewTime: at, transitions: 0 };
  assert.deepEqual(createdLease({ name: 'app', namespace: 'ns', labels: {} }, holding), {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'app', namespace: 'ns' },
    spec: {
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-02T03:04:05.678000Z',
      renewTime: '2026-01-02T03:04:05.678000Z',
      leaseTransitions: 0,
    },
  });
  assert.deepEqual(updatedLease(parsed(lease({})), holding, {}).spec, {
    holderIdentity: 'a',
    leaseDurationSeconds: 15,
    acquireTime: '2026-01-02T03:04:05.678000Z',
    renewTime: '2026-01-02T03:04:05.678000Z',
    leaseTransitions: 0,
  });
});

test('L-019 an update of the Lease keeps all metadata that the elector has read, and changes only the configured labels', () => {
  const received = parsed(
    lease(
      { holderIdentity: 'a', acquireTime: '2026-01-02T03:04:05.123456Z', future: 1 },
      {
        labels: { team: 'x', app: 'old' },
        annotations: { note: 'y' },
        finalizers: ['f'],
        ownerReferences: [{ uid: 'o' }],
      },
    ),
  );
  const holding = {
    holder: 'a',
    durationSeconds: 15,
    acquireTime: '2026-01-02T03:04:05.123456Z',
    renewTime: 0,
    transitions: 3,
  };
  const body = updatedLease(received, holding, { app: 'new' });
  assert.deepEqual(body.metadata, { ...received.metadata, labels: { team: 'x', app: 'new' } });
  assert.equal(body.spec['acquireTime'], '2026-01-02T03:04:05.123456Z');
  assert.equal(body.spec['future'], 1);
  assert.equal(
    updatedLease({ ...received, metadata: { ...metadata, labels: null } }, holding, {}).metadata['labels'],
    null,
  );
});

test('a field of the Lease counts as unchanged if the API server returns it as the elector sent it, or omits it because it was empty or 0', () => {
  const [time, holding] = ['2026-01-02T03:04:05.678000Z', { holder: '', durationSeconds: 1, transitions: 0 }];
  const sent = createdLease(
    { name: 'app', namespace: 'ns', labels: {} },
    { ...holding, acquireTime: time, renewTime: Date.parse(time) },
  );
  const alterationOf = (spec: object) => alterationIn(parsed(lease({ ...sent.spec, ...spec })), sent);
  for (const spec of [{}, { holderIdentity: null, leaseTransitions: null }, { strategy: '' }, { unknown: 1 }]) {
    assert.equal(alterationOf(spec), undefined, JSON.stringify(spec));
  }
  for (const [field, stored] of Object.entries({
    holderIdentity: 'b',
    leaseDurationSeconds: null,
    acquireTime: '2026-01-02T03:04:05.678Z',
    renewTime: null,
    leaseTransitions: 1,
    strategy: 'OldestEmulationVersion',
    preferredHolder: 'b',
  })) {
    assert.deepEqual(alterationOf({ [field]: stored }), { field, stored, sent: sent.spec[field] });
  }
});
