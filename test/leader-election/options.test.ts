import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOptions } from '../../src/leader-election/options.ts';

const nowhere = '/nowhere';
const valid = { leaseName: 'app', leaseNamespace: 'ns' };

function problems(options: object, environment: Record<string, string> = {}): string[] {
  try {
    readOptions({ ...valid, ...options }, environment, nowhere);
    return [];
  } catch (error) {
    return (error as Error).message.split('\n  ').slice(1);
  }
}

test('LT-48, L-002, L-003 leaseDuration of an elector must be longer than renewDeadline, and renewDeadline must be longer than 1.2 times retryPeriod', () => {
  const fits = (leaseDuration: string, renewDeadline: string, retryPeriod: string): boolean =>
    problems({ leaseDuration, renewDeadline, retryPeriod }).length === 0;
  assert.equal(fits('15s', '15s', '2s'), false);
  assert.equal(fits('15s', '2.4s', '2s'), false);
  assert.equal(fits('15s', '2.41s', '2s'), true);
  assert.equal(fits('15s', '2s', '1s'), true);
});

test('L-018 the retry period of an elector is at least one second', () => {
  assert.match(problems({ retryPeriod: '999ms' }).join(), /^retryPeriod: /);
  assert.deepEqual(problems({ retryPeriod: '1s' }), []);
});

test('LT-48, L-004, L-193 the lease duration of an elector is a whole number of seconds', () => {
  for (const leaseDuration of ['0.9s', '10.9s', 0, -15_000, 15_000.5, NaN, Infinity, '15', null, true]) {
    assert.match(problems({ leaseDuration }).join(), /^leaseDuration: /, String(leaseDuration));
  }
  assert.deepEqual(problems({ leaseDuration: 20_000 }), []);
});

test('LT-48, L-002 each duration of an elector is a positive, finite number with a unit', () => {
  for (const name of ['leaseDuration', 'renewDeadline', 'retryPeriod']) {
    for (const given of [0, '0s', -1, '-1s', NaN, Infinity, '10', '', null]) {
      assert.match(problems({ [name]: given }).join(), new RegExp(`^${name}: `), `${name} ${String(given)}`);
    }
  }
});

test('L-002, L-008, L-110 all problems with the options of an elector are reported in one error', () => {
  const all = problems(
    {
      leaseName: 'App_1',
      leaseNamespace: 'NS',
      identity: ' ',
      labels: { a: 1 },
      onLoss: 'exit',
      logger: {},
      apiServer: { url: 'http://10.0.0.1' },
      leaseDuration: '10s',
      renewDeadline: '10s',
      retryPeriod: '9s',
      lease: 1,
    },
    { LAMEDUCK_LEADER_ELECTION_STOP_TIMEOUT: '5', LAMEDUCK_LEADER_ELECTION_ALONE: 'yes' },
  );
  const named = [
    'leaseNamespace',
    'stopTimeout',
    'leaseName',
    'identity',
    'labels',
    'logger',
    'onLoss',
    'apiServer',
    'lease',
  ];
  for (const name of named)
    assert.ok(
      all.some((line) => line.startsWith(name)),
      name,
    );
  assert.ok(all.some((line) => line.startsWith('leaseDuration must be greater than renewDeadline')));
  assert.ok(all.some((line) => line.startsWith('renewDeadline must be greater than 1.2 times retryPeriod')));
  assert.ok(all.some((line) => line.startsWith('LAMEDUCK_LEADER_ELECTION_ALONE must be')));
});

test('L-001, L-110, LT-27 the default durations are 15 s, 10 s and 2 s, and each elector has its own identity', () => {
  const first = readOptions(valid, {}, nowhere);
  const second = readOptions(valid, {}, nowhere);
  const { leaseDuration, renewDeadline, retryPeriod } = first.election;
  assert.deepEqual(
    [leaseDuration, renewDeadline, retryPeriod, first.settings.stopTimeout],
    [15_000, 10_000, 2_000, 5_000],
  );
  assert.ok(first.election.identity.startsWith(`${hostname()}_`));
  assert.match(problems({ identity: '' }).join(), /^identity: /);
  assert.match(first.election.identity, /^.+_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.notEqual(first.election.identity, second.election.identity);
});

test('environment variables override the options that an elector gets in code, and readOptions() names the source of each value', () => {
  const environment = {
    LAMEDUCK_LEADER_ELECTION_LEASE_DURATION: '30s',
    LAMEDUCK_LEADER_ELECTION_LEASE_NAMESPACE: 'other',
  };
  const { election, sources, warnings } = readOptions(
    { ...valid, leaseDuration: '20s', retryPeriod: 1_500 },
    environment,
    nowhere,
  );
  assert.deepEqual([election.leaseDuration, election.retryPeriod, election.namespace], [30_000, 1_500, 'other']);
  assert.equal(sources['leaseDuration'], 'LAMEDUCK_LEADER_ELECTION_LEASE_DURATION');
  assert.equal(sources['retryPeriod'], 'code');
  assert.equal(sources['renewDeadline'], 'default');
  assert.deepEqual(warnings, []);
  const { warnings: unknown } = readOptions(valid, { LAMEDUCK_LEADER_ELECTION_LEASE_DURATIO: '1s' }, nowhere);
  assert.match(unknown.join(), /nearest is LAMEDUCK_LEADER_ELECTION_LEASE_DURATION/);
});

test('L-008 the default namespace is that of the pod, and an option overrides it', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'lease-'));
  t.after(() => {
    rmSync(folder, { recursive: true });
  });
  writeFileSync(join(folder, 'namespace'), 'shop');
  assert.equal(readOptions({ leaseName: 'app' }, {}, folder).election.namespace, 'shop');
  assert.equal(readOptions(valid, {}, folder).election.namespace, 'ns');
});

test('L-008 an elector needs a namespace, except with LAMEDUCK_LEADER_ELECTION_ALONE=1, which is rejected in a cluster', () => {
  const required = /^leaseNamespace or LAMEDUCK_LEADER_ELECTION_LEASE_NAMESPACE is required/;
  const unset = { leaseNamespace: undefined };
  assert.match(problems(unset, { KUBERNETES_SERVICE_HOST: '10.0.0.1' }).join(), required);
  assert.match(problems({ ...unset, apiServer: { url: 'http://127.0.0.1:8001' } }).join(), required);
  const alone = { LAMEDUCK_LEADER_ELECTION_ALONE: '1' };
  assert.equal(readOptions({ leaseName: 'app' }, alone, nowhere).isAlone, true);
  const cluster = { ...alone, KUBERNETES_SERVICE_HOST: '10.0.0.1' };
  assert.match(problems({}, cluster).join(), /LAMEDUCK_LEADER_ELECTION_ALONE=1 is invalid in a cluster/);
});

test('an elector accepts http: only for a loopback address, and onLoss: shutdown only with a lifecycle', () => {
  for (const url of ['http://127.0.0.1:8001', 'http://localhost:8001', 'http://[::1]:8001', 'https://example.com']) {
    assert.deepEqual(problems({ apiServer: { url } }), [], url);
  }
  for (const url of ['http://127.0.0.1.example.com', 'http://10.0.0.1', 'ftp://localhost', 'nothing', '']) {
    assert.equal(problems({ apiServer: { url } }).length, 1, url);
  }
  assert.deepEqual(problems({ onLoss: 'shutdown' }), ['onLoss: "shutdown" requires a lifecycle']);
});

test('each problem with the option apiServer has its own error, which never contains the token', () => {
  const url = 'https://example.com';
  const cases: [unknown, RegExp][] = [
    ['https://example.com', /^apiServer from code: expected an object/],
    [{ url: 'http://10.0.0.1' }, /^apiServer\.url: "http:\/\/10\.0\.0\.1" from code: expected an https: URL/],
    [{}, /^apiServer\.url: undefined from code/],
    [
      { url, cafile: '/ca.crt' },
      /^apiServer\.cafile from code: unknown option: expected url, token, tokenFile, caFile$/,
    ],
    [{ url, caFile: '' }, /^apiServer\.caFile: "" from code: expected the path of a file$/],
    [{ url, tokenFile: 5 }, /^apiServer\.tokenFile: 5 from code: expected the path of a file$/],
    [{ url, token: 'secret\n' }, /^apiServer\.token from code: expected a token of printable ASCII/],
    [{ url, token: 'secret', tokenFile: '/token' }, /exclude each other: pass only one/],
  ];
  for (const [apiServer, expected] of cases) {
    const found = problems({ apiServer });
    assert.equal(found.length, 1, found.join('\n'));
    assert.match(found[0] ?? '', expected);
    assert.doesNotMatch(found[0] ?? '', /secret/);
  }
});

test('an invalid namespace or label causes one error, and missing options cause the same error as a missing leaseName', () => {
  assert.equal(problems({ leaseNamespace: 'A b' }).length, 1);
  for (const labels of [{ 'a key': 'x' }, { a: 'x y' }, { a: 'x'.repeat(64) }, { a: 1 }]) {
    assert.match(problems({ labels }).join(), /^labels: .* expected an object whose names and values are valid labels/);
  }
  assert.deepEqual(problems({ labels: { 'app.kubernetes.io/part-of': 'shop', empty: '' } }), []);
  assert.throws(
    () => readOptions(undefined as never, {}, nowhere),
    /leaseName is required: expected the name of a Lease/,
  );
});
