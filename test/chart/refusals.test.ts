import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chart, complaint, helms, refusals, run, template, type Values } from './chart.ts';
import { refusal, refused } from './refusal.ts';

const duplicate = (names: string[]) => names.map((name) => ({ name, value: 'x' }));
const behind = { lameduck: { front: 'nginx' } };
const routed = { enabled: true, parentRefs: [{ name: 'gateway' }] };

refused('rollouts and replicas', [
  refusal(
    'H-064 HC-05 no rollout ends the old pods first',
    { strategy: { type: 'Recreate' } },
    /^strategy\.type \(Recreate\): must be RollingUpdate: /,
  ),
  refusal(
    'H-064 H-094 HC-05 no rollout takes pods away',
    { strategy: { maxUnavailable: '25%' } },
    /^strategy\.maxUnavailable \(25%\): must be 0: /,
  ),
  refusal(
    'H-065 a rollout can do something',
    { strategy: { maxSurge: '0%' } },
    /^strategy\.maxSurge \(0%\): must not be 0 when maxUnavailable is 0/,
  ),
  refusal(
    'H-066 there are two pods',
    { replicaCount: 1 },
    /^replicaCount \(1\): must be at least 2: .*; raise it, or set allowSingleReplica$/,
  ),
  refusal(
    'H-066 H-100 there are two pods when they are scaled as well',
    { autoscaling: { enabled: true, minReplicas: 1 } },
    /^autoscaling\.minReplicas \(1\): must be at least 2/,
  ),
  refusal(
    'H-068 nothing is scaled to zero',
    { allowSingleReplica: true, autoscaling: { enabled: true, minReplicas: 0 } },
    /^autoscaling\.minReplicas \(0\): must be at least 1/,
  ),
  refusal(
    'H-068 the most is not below the least',
    { autoscaling: { enabled: true, minReplicas: 11 } },
    /^autoscaling\.maxReplicas \(10\): must not be below autoscaling\.minReplicas \(11\)/,
  ),
  refusal(
    'H-067 a budget has one of its two',
    { podDisruptionBudget: { minAvailable: 1 } },
    /^podDisruptionBudget \(\{"maxUnavailable":1,"minAvailable":1\}\): must have one of maxUnavailable and minAvailable/,
  ),
  refusal(
    'H-067 a budget has not none of its two',
    { podDisruptionBudget: { maxUnavailable: null } },
    /^podDisruptionBudget \(\{"maxUnavailable":null,"minAvailable":null\}\): must have one/,
  ),
  refusal(
    'H-067 a budget allows something',
    { podDisruptionBudget: { maxUnavailable: '0%' } },
    /^podDisruptionBudget\.maxUnavailable \(0%\): must not be 0: no node could ever be drained/,
  ),
  refusal(
    'H-067 a budget does not keep all pods',
    { podDisruptionBudget: { maxUnavailable: null, minAvailable: 2 } },
    /^podDisruptionBudget\.minAvailable \(2\): must be below the least number of replicas \(2\)/,
  ),
  refusal(
    'H-067 a budget does not keep all pods by a percentage',
    { podDisruptionBudget: { maxUnavailable: null, minAvailable: '100%' } },
    /^podDisruptionBudget\.minAvailable \(100%\): /,
  ),
  refusal(
    'H-067 a budget does not keep all pods by a percentage that is rounded up to all',
    { replicaCount: 4, podDisruptionBudget: { maxUnavailable: null, minAvailable: '76%' } },
    /^podDisruptionBudget\.minAvailable \(76%\): must be below the least number of replicas \(4\)/,
  ),
  refusal(
    'H-069 a slow start is no failed rollout',
    { progressDeadlineSeconds: 124 },
    /^progressDeadlineSeconds \(124\): must be at least .* \+ 60 \(125\)/,
  ),
]);

refused('names, images, routes, monitors', [
  refusal(
    'H-073 pods that end leave the Service',
    { service: { publishNotReadyAddresses: true } },
    /^service\.publishNotReadyAddresses \(true\): pods that end would stay in the Service; leave it out$/,
  ),
  refusal(
    'H-075 HC-18 no variable is there twice',
    { env: { A: '1' }, extraEnv: duplicate(['A']) },
    /^env, extraEnv \(A\): the container would have this variable twice/,
  ),
  refusal(
    'H-075 no variable of the chart is there twice',
    { env: { PORT: '1' } },
    /^env, extraEnv \(PORT\): the container would have this variable twice/,
  ),
  refusal(
    'H-121 HC-25 no setting comes past the block',
    { extraEnv: duplicate(['LAMEDUCK_SHUTDOWN_DELAY_DURATION']) },
    /^env, extraEnv \(LAMEDUCK_SHUTDOWN_DELAY_DURATION\): .*; set lameduck\.<option> instead$/,
  ),
  refusal(
    'H-075 no volume is there twice',
    { extraVolumes: [{ name: 'tmp', emptyDir: {} }] },
    /^extraVolumes \(tmp\): the pod would have this volume twice/,
  ),
  refusal(
    'H-075 nothing is mounted over something',
    {
      extraVolumes: [{ name: 'a', emptyDir: {} }],
      extraVolumeMounts: [{ name: 'a', mountPath: '/tmp' }],
    },
    /^extraVolumeMounts \(\/tmp\): the container would have two volumes at this path/,
  ),
  refusal(
    'H-076 the ports are two',
    { lameduck: { probePort: 8080 } },
    /^lameduck\.probePort \(8080\): must not be containerPort/,
  ),
  refusal(
    'H-077 an image is named for good',
    { image: { tag: 'latest' } },
    /^image\.tag \(latest\): without a digest the tag must say which image/,
  ),
  refusal(
    'H-077 a digest is one',
    { image: { digest: 'sha256:abc' } },
    /^image\.digest \(sha256:abc\): must be sha256: and 64 hexadecimal digits/,
  ),
  refusal(
    'H-077 what is injected is named for good',
    { inject: { enabled: true, image: 'registry.example:5000/lameduck' } },
    /^inject\.image \(registry\.example:5000\/lameduck\): its tag or digest must say/,
  ),
  refusal(
    'H-082 a program that is given the lifecycle is probed on the probe port',
    { inject: { enabled: true }, lameduck: { probePort: 'off' } },
    /^lameduck\.probePort \(off\): a program that knows nothing of lameduck answers no probes/,
  ),
  refusal(
    'H-075 what injection adds to NODE_OPTIONS has something to be added to',
    { inject: { enabled: true }, extraEnv: duplicate(['NODE_OPTIONS']) },
    /^extraEnv \(NODE_OPTIONS\): injection adds to it, and can only add to a text; put it into env$/,
  ),
  refusal(
    'H-075 nothing is mounted over what is injected',
    { inject: { enabled: true }, extraVolumes: [{ name: 'lameduck', emptyDir: {} }] },
    /^extraVolumes \(lameduck\): the pod would have this volume twice/,
  ),
  refusal(
    'H-018 no label overrides the selector',
    { podLabels: { 'app.kubernetes.io/name': 'other' } },
    /^podLabels\.app\.kubernetes\.io\/name \(other\): the selector has this label/,
  ),
  refusal(
    'H-079 a route has a Gateway',
    { ...behind, httpRoute: { enabled: true } },
    /^httpRoute\.parentRefs \(\[\]\): must name a Gateway/,
  ),
  refusal(
    'H-079 a route has a Service',
    { ...behind, service: { enabled: false }, httpRoute: routed },
    /^httpRoute\.enabled \(true\): it routes to the Service, which is switched off/,
  ),
  refusal(
    'H-079 an Ingress has a host',
    { ...behind, ingress: { enabled: true } },
    /^ingress\.hosts \(\[\]\): must name at least one host/,
  ),
  refusal(
    'H-079 a certificate has hosts',
    { ...behind, ingress: { enabled: true, hosts: [{ host: 'a.example' }], tls: [{ secretName: 'a' }] } },
    /^ingress\.tls \(\{"secretName":"a"\}\): must name its hosts/,
  ),
  refusal(
    'H-142 no pod is scraped twice',
    { podMonitor: { enabled: true }, serviceMonitor: { enabled: true } },
    /^serviceMonitor\.enabled \(true\): podMonitor is on as well/,
  ),
  refusal(
    'H-142 a scrape ends before the next',
    { podMonitor: { enabled: true, scrapeTimeout: '16s' } },
    /^podMonitor\.scrapeTimeout \(16s\): must be a duration of at most interval \(15s\)/,
  ),
  refusal(
    'H-143 a drain is scraped at least once',
    { podMonitor: { enabled: true, interval: '41s' } },
    /^podMonitor\.interval \(41s\): must be a duration from 1s to shutdownDelayDuration \+ longestRequestDuration/,
  ),
  refusal(
    'H-143 what is scraped is there',
    { lameduck: { probePort: 'off' }, podMonitor: { enabled: true } },
    /^podMonitor\.enabled \(true\): metrics are scraped at lameduck\.probePort, which is off/,
  ),
]);

test('H-059 HC-03 everything that is refused is in one message, the same in each Helm', async () => {
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

test('H-058 HC-04 helm lint keeps silent about what is refused, so each refusal is tested by rendering', async () => {
  for (const helm of helms) {
    const { code } = await run(helm, ['lint', '--strict', chart, '--set', 'replicaCount=1']);
    assert.equal(code, 0);
  }
});

test('H-030 HC-20 the schema refuses a value that is misspelled, or of another type, with its path', async () => {
  for (const helm of helms) {
    assert.match(await complaint({ lameduck: { shutdownDelay: '5s' } }, { helm }), /shutdownDelay/);
    assert.match(await complaint({ service: { type: 'ExternalName' } }, { helm }), /service.*type/s);
    assert.match(await complaint({ containerPort: 70_000 }, { helm }), /containerPort/);
    assert.match(await complaint({}, { helm, args: ['--set-string', 'containerPort=8080'] }), /containerPort/);
  }
});

test('H-034 what loses requests is refused also where the schema is not asked', async () => {
  const lines = await refusals({ lameduck: { front: 'cloudflare' } }, { args: ['--skip-schema-validation'] });
  assert.equal(lines.length, 1);
});

test('H-080 a Kubernetes that does not know the sleep of preStop is refused', async () => {
  for (const helm of helms) {
    const args = ['--kube-version', '1.29.9'];
    assert.match(await complaint({}, { helm, args }), /kubeVersion: >=1\.30\.0-0/);
    await template({}, { helm, args: ['--kube-version', '1.30.1-gke.123'] });
  }
});

test('each opt-out lets through what it is for', async () => {
  await template({ allowSingleReplica: true, replicaCount: 1 });
  await template({ strategy: { allowDowntime: true, maxUnavailable: 1 } });
  await template({ strategy: { allowDowntime: true, type: 'Recreate' } });
  await template({ replicaCount: 4, podDisruptionBudget: { maxUnavailable: null, minAvailable: '75%' } });
  await template({ replicaCount: null, podDisruptionBudget: { maxUnavailable: null, minAvailable: '99%' } });
  await template({ lameduck: { allowShortDelay: true, shutdownDelayDuration: '0s' } });
  await template({ lameduck: { allowUnknownFront: true }, httpRoute: routed });
  await template({ lameduck: { allowLongGracePeriod: true, longestRequestDuration: '10m' } });
  await template({ lameduck: { allowOtherStopSignal: true, shutdownSignals: 'SIGQUIT' } });
  await template({ podDisruptionBudget: { enabled: false, allowNone: true } });
  await template({ ...behind, httpRoute: { ...routed, timeouts: { request: '31s' }, allowLongTimeout: true } });
  await template({ readinessProbe: { tcpSocket: { port: 'http' }, periodSeconds: 2 }, allowOwnReadinessProbe: true });
  await template({ command: ['npm', 'start'], preStopHook: 'never', lameduck: { probePort: 'off' } });
});
