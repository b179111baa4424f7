// Tests what the chart adds for a program that uses lameduck/leader-election.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { roleText } from '../../../src/leader-election/loop/election-log.ts';
import { readOptions } from '../../../src/leader-election/options.ts';
import { budgetOf } from '../../../src/settings/budget.ts';
import { completeSettings } from '../../../src/settings/complete.ts';
import { blocksIn, readPage } from '../../support/markdown.ts';
import { object, objects, type Values } from './chart.ts';
import { containerOf, environmentOf, specOf } from './pods.ts';

const on = (more: Values = {}): Values => ({ leaderElection: { enabled: true, ...more } });

interface Rules {
  readonly rules: unknown;
}

test('H-113 HC-23 L-041 the Role that the chart renders equals the Role in the log of an elector and in docs/leader-election.md', async () => {
  const { rules } = (await object('Role', on({ leaseName: 'shop-worker' }))) as unknown as Rules;
  assert.deepEqual(rules, (parse(roleText({ name: 'shop-worker', namespace: 'orders' })) as Rules).rules);
  const [shown] = blocksIn(readPage('docs/leader-election.md')).filter(({ text }) => text.includes('kind: Role'));
  const onPage = parseAllDocuments(shown?.text ?? '').map((document) => document.toJS() as Rules & { kind: string });
  assert.deepEqual(rules, onPage.find(({ kind }) => kind === 'Role')?.rules);
  const narrowed = (rules as { verbs: string[]; resourceNames?: string[] }[]).map(({ verbs, resourceNames }) => ({
    isCreate: verbs.includes('create'),
    resourceNames,
  }));
  assert.deepEqual(narrowed.slice(0, 2), [
    { isCreate: true, resourceNames: undefined },
    { isCreate: false, resourceNames: ['shop-worker'] },
  ]);
});

test('H-112 H-113 HC-23 with leaderElection the pods get the token of their ServiceAccount, and only that account is bound to the Role', async () => {
  const all = await objects(on({ leaseNamespace: 'jobs' }));
  const [deployment, role, binding] = ['Deployment', 'Role', 'RoleBinding'].map(
    (kind) => all.find((one) => one.kind === kind) ?? assert.fail(kind),
  );
  const { serviceAccountName, automountServiceAccountToken } = specOf(deployment as never).template.spec;
  assert.equal(automountServiceAccountToken, true);
  assert.deepEqual(binding?.['subjects'], [{ kind: 'ServiceAccount', name: serviceAccountName, namespace: 'orders' }]);
  assert.deepEqual(binding['roleRef'], {
    apiGroup: 'rbac.authorization.k8s.io',
    kind: 'Role',
    name: role?.metadata.name,
  });
  for (const { metadata } of [role, binding] as { metadata: object }[]) {
    assert.partialDeepStrictEqual(metadata, { namespace: 'jobs' });
  }
});

test('by default, the Lease has the name of the other objects of its Helm release, so that two Helm releases never share a Lease', async () => {
  for (const [release, given, expected] of [
    ['shop', {}, 'shop-lameduck'],
    ['other', {}, 'other-lameduck'],
    ['shop', { leaseName: 'orders.worker' }, 'orders.worker'],
  ] as const) {
    const deployment = await object('Deployment', on(given), { release });
    const environment = environmentOf(deployment);
    assert.equal(environment['LEASE_NAME'], expected);
    const names = containerOf(deployment).env.map(({ name }) => name);
    assert.ok(['POD_NAME', 'POD_NAMESPACE'].every((name) => names.includes(name)));
  }
  assert.equal(environmentOf(await object('Deployment'))['LEASE_NAME'], undefined);
});

test('H-043 HC-01 the grace period includes the time limit of the hook that releases the Lease, and the chart and the process compute the same time for the drain', async () => {
  const cases: [Values, Values, number][] = [
    [{}, {}, 48],
    [{ stopTimeout: '12s' }, {}, 50],
    [{ stopTimeout: '12s' }, { preShutdownHookTimeout: '14s' }, 52],
    [{ stopTimeout: '1m' }, { shutdownDelayDuration: '20s', preStopSeconds: 2 }, 100],
  ];
  for (const [election, lameduck, seconds] of cases) {
    const deployment = await object('Deployment', { ...on(election), lameduck });
    const grace = specOf(deployment).template.spec.terminationGracePeriodSeconds;
    assert.equal(grace, seconds);
    const environment = environmentOf(deployment);
    const { settings } = completeSettings({}, environment);
    const { stopTimeout } = readOptions({ leaseName: 'a', leaseNamespace: 'b' }, environment, '/nowhere').settings;
    // The time for the drain is the longest request plus the margin, minus the 2 s that the process reserves for its
    // exit.
    const { drain } = budgetOf(settings, Math.max(settings.preShutdownHookTimeout, stopTimeout));
    assert.equal(drain, 30_000 + 5_000 - 2_000, JSON.stringify({ election, lameduck }));
  }
  const off = await object('Deployment', { leaderElection: { stopTimeout: '1m' } });
  assert.equal(specOf(off).template.spec.terminationGracePeriodSeconds, 48);
});
