import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chart, complaint, helms, objects, refusals, run, template, type Values } from './chart.ts';

const behind = { lameduck: { front: 'nginx' } };
const routed = { enabled: true, parentRefs: [{ name: 'gateway' }] };

test('H-059 HC-03 the chart rejects all invalid values in one message, the same in each version of Helm', async () => {
  const together: Values = {
    replicaCount: 1,
    image: { tag: 'latest' },
    lameduck: { front: 'aws', shutdownDelayDuration: '1s', longestRequestDuration: 90, probePort: 'http' },
    probes: { liveness: { path: '/readyz' } },
    strategy: { type: 'Recreate' },
    httpRoute: { enabled: true },
  };
  const [first, second] = await Promise.all(helms.map((helm) => refusals(together, { helm })));
  assert.deepEqual(first, second);
  assert.deepEqual(
    first?.map((line) => line.split(' ')[0]),
    [
      'lameduck.longestRequestDuration',
      'lameduck.probePort',
      'lameduck.shutdownDelayDuration',
      'probes.liveness.path',
      'strategy.type',
      'replicaCount',
      'image.tag',
      'httpRoute.parentRefs',
    ],
  );
});

test('H-058 HC-04 helm lint does not report values that the chart rejects, so the tests render the chart', async () => {
  for (const helm of helms) {
    const { code } = await run(helm, ['lint', '--strict', chart, '--set', 'replicaCount=1']);
    assert.equal(code, 0);
  }
});

test('H-030 HC-20 the schema rejects a value with an unknown name or of a wrong type, and the error names the path of this value', async () => {
  for (const helm of helms) {
    assert.match(await complaint({ lameduck: { shutdownDelay: '5s' } }, { helm }), /shutdownDelay/);
    assert.match(await complaint({ service: { type: 'ExternalName' } }, { helm }), /service.*type/s);
    assert.match(await complaint({ containerPort: 70_000 }, { helm }), /containerPort/);
    assert.match(await complaint({}, { helm, args: ['--set-string', 'containerPort=8080'] }), /containerPort/);
  }
});

test('H-034 the chart rejects values that lose requests even if Helm does not validate the schema', async () => {
  const lines = await refusals({ lameduck: { front: 'cloudflare' } }, { args: ['--skip-schema-validation'] });
  assert.equal(lines.length, 1);
});

test('H-080 the chart rejects a version of Kubernetes that has no sleep action for preStop', async () => {
  for (const helm of helms) {
    const args = ['--kube-version', '1.29.9'];
    assert.match(await complaint({}, { helm, args }), /kubeVersion: >=1\.30\.0-0/);
    await template({}, { helm, args: ['--kube-version', '1.30.1-gke.123'] });
  }
});

test('each value whose name begins with `allow` accepts what the chart would otherwise reject', async () => {
  await template({ allowSingleReplica: true, replicaCount: 1 });
  await template({ strategy: { allowDowntime: true, maxUnavailable: 1 } });
  await template({ strategy: { allowDowntime: true, type: 'Recreate' } });
  await template({ replicaCount: 4, podDisruptionBudget: { maxUnavailable: null, minAvailable: '75%' } });
  await template({ replicaCount: null, podDisruptionBudget: { maxUnavailable: null, minAvailable: '99%' } });
  await template({ lameduck: { allowShortDelay: true, shutdownDelayDuration: '0s' } });
  const leave = { preStop: { exec: { command: ['/bin/leave'] } } };
  await template({ lameduck: { allowShortDelay: true, enabled: false, preStopSeconds: 5 }, lifecycle: leave });
  await template({ lameduck: { allowUnknownFront: true }, httpRoute: routed });
  await template({ lameduck: { allowLongGracePeriod: true, longestRequestDuration: '10m' } });
  await template({ lameduck: { allowOtherStopSignal: true, shutdownSignals: 'SIGQUIT' } });
  await template({ podDisruptionBudget: { enabled: false, allowNone: true } });
  await template({ ...behind, httpRoute: { ...routed, timeouts: { request: '61s' }, allowLongTimeout: true } });
  await template({ readinessProbe: { tcpSocket: { port: 'http' }, periodSeconds: 2 }, allowOwnReadinessProbe: true });
  await template({ command: ['npm', 'start'], preStopHook: 'never', lameduck: { probePort: 'off' } });
});

test('if a Helm release creates no pods, the chart does not reject invalid values that concern only pods', async () => {
  const pods = {
    replicaCount: 1,
    strategy: { type: 'Recreate' },
    lameduck: { front: 'cloudflare', longestRequestDuration: '1h' },
    podDisruptionBudget: { enabled: false },
    ingress: { enabled: true },
  };
  const prometheusRule = { enabled: true, scope: 'cluster' };
  const release = { rulesOnly: true, prometheusRule };
  assert.deepEqual(await objects({ ...pods, ...release }), await objects(release));
});
