// Tests that docs/kubernetes.md, examples/kustomize and docker/compose.yaml have the same settings as the objects of
// the chart.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { budgetOf } from '../../../src/settings/budget.ts';
import { completeSettings } from '../../../src/settings/complete.ts';
import { blocksIn, firstColumn, readPage, tablesIn } from '../../support/markdown.ts';
import { kustomized, loadBalancers, only, withComponents, writtenByHand } from './by-hand.ts';
import { documentsIn, object, type KubernetesObject, type Values } from './chart.ts';
import { containerOf, environmentOf, specOf, type Container } from './pods.ts';

const page = readPage('docs/kubernetes.md');

const byName = <One extends { name: string }>(list: readonly One[]): One[] =>
  [...list].sort((one, other) => one.name.localeCompare(other.name));

/** The names of the volumes that lameduck uses in a pod. */
const volumesOfLameduck = ['lameduck', 'run-lameduck'];
const ofLameduck = (list: unknown): { name: string }[] =>
  ((list as { name: string }[] | undefined) ?? []).filter(({ name }) => volumesOfLameduck.includes(name));

/** The manifests of Kustomize and Compose enable no debug socket. */
const noSocket: Values = { runFolder: { enabled: false } };

const isOfLameduck = ({ name }: { name: string }): boolean => name.startsWith('LAMEDUCK_') || name === 'NODE_OPTIONS';

/** lifecycleOf returns the fields of a Deployment that determine how its pods start, are probed and end. */
function lifecycleOf(deployment: KubernetesObject): object {
  const { minReadySeconds, strategy, template } = specOf(deployment);
  const { terminationGracePeriodSeconds, enableServiceLinks, initContainers, volumes } = template.spec;
  const { env, ports, readinessProbe, livenessProbe, startupProbe, ...container } = containerOf(deployment);
  const { lifecycle, terminationMessagePolicy, volumeMounts } = container;
  return {
    minReadySeconds,
    strategy,
    terminationGracePeriodSeconds,
    enableServiceLinks,
    initContainers,
    readinessProbe,
    livenessProbe,
    startupProbe,
    preStop: lifecycle?.preStop,
    terminationMessagePolicy,
    env: byName(env.filter(isOfLameduck)),
    ports: byName(ports),
    volumes: ofLameduck(volumes),
    volumeMounts: ofLameduck(volumeMounts),
  };
}

const legacy = { image: { repository: 'registry.example/legacy', tag: '7' } };
const injection: Values = { inject: { enabled: true, image: 'registry.example/reference-service:1.4.2' } };

test('for a program without lameduck, examples/kustomize changes the pods in the same way as the chart with inject.enabled', async () => {
  const patched = only('Deployment', await kustomized());
  const ofTheChart = await object('Deployment', { ...legacy, ...injection, ...noSocket });
  assert.deepEqual(lifecycleOf(patched), lifecycleOf(ofTheChart));
  assert.equal(containerOf(patched).image, containerOf(ofTheChart).image);
});

test('examples/kustomize adds no container to the Deployment, and keeps its replicas, labels, image, variables, resources and security contexts', async () => {
  const plain = only('Deployment', documentsIn(readPage('examples/kustomize/shop/deployment.yaml')));
  const patched = only('Deployment', await kustomized());
  const rest = (deployment: KubernetesObject): object => {
    const { replicas, selector, template } = specOf(deployment);
    const { image, env, resources, securityContext } = containerOf(deployment);
    const own = env.filter((variable) => !isOfLameduck(variable));
    return {
      replicas,
      selector,
      labels: template.metadata,
      pod: template.spec.securityContext,
      image,
      own,
      resources,
      securityContext,
    };
  };
  assert.deepEqual(rest(patched), rest(plain));
  assert.equal(specOf(patched).template.spec.containers.length, 1);
});

test('the component `lifecycle` of examples/kustomize gives the fields for the start, the probes and the end of a pod the same values as the chart', async () => {
  const patched = only('Deployment', await withComponents(['lifecycle']));
  assert.deepEqual(lifecycleOf(patched), lifecycleOf(await object('Deployment', noSocket)));
});

test('H-056 HC-07 the Kustomize components for load balancers and proxies set the same durations as the chart', async () => {
  const fronts = firstColumn(readPage('docs/load-balancers.md'), '`front`');
  // With the values `none` and `gateway` of `front`, the chart does not know the idle timeout of the load balancer or
  // proxy.
  const others = ['none', 'gateway'];
  assert.deepEqual([...loadBalancers].sort(), fronts.filter((front) => !others.includes(front)).sort());
  for (const front of loadBalancers) {
    const patched = only('Deployment', await withComponents(['lifecycle', `load-balancers/${front}`]));
    const ofTheChart = await object('Deployment', { lameduck: { front }, ...noSocket });
    assert.deepEqual(lifecycleOf(patched), lifecycleOf(ofTheChart), front);
  }
});

test('docs/kubernetes.md shows the kustomization of examples/kustomize', () => {
  const shown = blocksIn(page).filter(({ text }) => text.includes('kind: Kustomization'));
  assert.equal(shown.length, 1);
  const withPath = readPage('examples/kustomize/shop/kustomization.yaml').replace('../lameduck', './lameduck');
  assert.deepEqual(parse(shown[0]?.text ?? ''), parse(withPath));
});

test('the manifest of docs/kubernetes.md has the same durations, resource limits and disruption budget as the manifests that the chart renders by default', async () => {
  const all = writtenByHand();
  const written = only('Deployment', all);
  assert.deepEqual(lifecycleOf(written), lifecycleOf(await object('Deployment')));
  const { replicas, selector, template } = specOf(written);
  const { replicas: ofTheChart } = specOf(await object('Deployment'));
  assert.equal(replicas, ofTheChart);
  assert.deepEqual(template.metadata.labels, selector.matchLabels);
  const strict: (keyof Container)[] = ['securityContext', 'resources'];
  for (const field of strict)
    assert.deepEqual(containerOf(written)[field], containerOf(await object('Deployment'))[field]);
  const budget = (one: KubernetesObject): object => ({ ...(one['spec'] as object), selector: {} });
  assert.deepEqual(budget(only('PodDisruptionBudget', all)), budget(await object('PodDisruptionBudget')));
  assert.deepEqual((only('Service', all)['spec'] as { selector: object }).selector, selector.matchLabels);
});

test('the timeline in docs/kubernetes.md has the default durations of the chart and of the package', async () => {
  const [head, ...rows] = tablesIn(page)[0] ?? [];
  assert.deepEqual(head?.slice(0, 2), ['time with the chart', 'time without the chart']);
  const inCluster = { KUBERNETES_SERVICE_HOST: '10.96.0.1' };
  const environments = [{ ...inCluster, ...environmentOf(await object('Deployment')) }, inCluster];
  for (const [column, environment] of environments.entries()) {
    const { settings } = completeSettings({}, environment);
    const {
      shutdownDelayDuration: delay,
      destroyHookTimeout: destroy,
      terminationGracePeriodSeconds: grace,
    } = settings;
    const { total } = budgetOf(settings, settings.preShutdownHookTimeout);
    const moments = [
      `0 … ${String((delay / 1_000) * 0.75)}`,
      ...[delay, total - destroy, total, grace * 1_000].map(seconds),
    ];
    const shown = rows.map((row) =>
      (row[column] ?? '').replace(/^with(out)? the chart: /, '').replace(/ s( after the deletion)?$/, ''),
    );
    for (const [index, moment] of moments.entries()) {
      assert.ok(shown.includes(moment), `${head[column] ?? ''}: ${moment}`);
      assert.ok(index < 2 || shown.indexOf(moment) > shown.indexOf(moments[index - 1] ?? ''), moment);
    }
    assert.equal(shown.at(-1), seconds(grace * 1_000));
  }
});

function seconds(milliseconds: number): string {
  return String(milliseconds / 1_000);
}

test('H-164 HC-40 docker/compose.yaml has the grace period of the chart, and sets the same variables for delay, drain and hooks as the chart', async () => {
  const deployment = await object('Deployment', noSocket);
  const { services } = parse(readPage('docker/compose.yaml')) as {
    services: Record<string, { stop_grace_period: string; environment: Record<string, string>; image: string }>;
  };
  const service = services['reference-service'] ?? assert.fail('there is no reference service');
  const { terminationGracePeriodSeconds } = specOf(deployment).template.spec;
  assert.equal(service.stop_grace_period, `${String(terminationGracePeriodSeconds)}s`);
  const fromFields = ['POD_NAME', 'POD_NAMESPACE', 'NODE_NAME'];
  const variables = Object.entries(environmentOf(deployment)).filter(([name]) => !fromFields.includes(name));
  assert.deepEqual(service.environment, Object.fromEntries(variables));
  assert.equal(service.image, containerOf(deployment).image);
});
