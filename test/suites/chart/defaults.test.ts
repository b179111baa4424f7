import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { chart, helms, object, objects, run, template, type KubernetesObject } from './chart.ts';
import { containerOf, environmentOf, specOf } from './pods.ts';
import { valueSets } from './value-sets.ts';

const golden = join(import.meta.dirname, 'defaults.yaml');

// Removes empty lines between documents, which Helm 4 keeps and Helm 3 leaves out.
function documentsOf(rendered: string): string {
  return parseAllDocuments(rendered).join('');
}

test('H-150 with default values, each version of Helm renders the objects in defaults.yaml', async () => {
  // With UPDATE=1, the test writes the file of expected objects. Each change of this file also changes the objects of
  // every user who upgrades the chart.
  if (process.env['UPDATE'] === '1') writeFileSync(golden, documentsOf(await template()));
  for (const helm of helms) assert.equal(documentsOf(await template({}, { helm })), readFileSync(golden, 'utf8'));
});

test('H-151 HC-32 helm lint --strict reports nothing about the chart', async () => {
  for (const helm of helms) {
    for (const [name, values] of Object.entries(valueSets)) {
      const { code, output } = await run(helm, ['lint', '--strict', chart, '--values', '-'], JSON.stringify(values));
      assert.equal(code, 0, `${name}: ${output}`);
      assert.doesNotMatch(output, /\[(WARNING|ERROR)\]/, name);
    }
  }
});

describe('with default values, the chart renders objects with safe probes, times and permissions', () => {
  let deployment: KubernetesObject;
  it('the chart renders one Deployment by default', async () => {
    deployment = await object('Deployment');
  });

  it('H-043 HC-01 HC-02 the default grace period of the chart is the sum of shutdown delay, longest request, destroy hooks and margin', () => {
    assert.equal(specOf(deployment).template.spec.terminationGracePeriodSeconds, 10 + 30 + 3 + 5);
  });

  it('H-121 HC-25 the container gets a variable for every part of the grace period, and none for a setting that the program may choose', () => {
    const settings = Object.entries(environmentOf(deployment)).filter(([name]) => name.startsWith('LAMEDUCK_'));
    assert.deepEqual(Object.fromEntries(settings), {
      LAMEDUCK_DEBUG_SOCKET_PATH: '/run/lameduck/lameduck.sock',
      LAMEDUCK_DESTROY_HOOK_TIMEOUT: '3s',
      LAMEDUCK_KEEP_ALIVE_TIMEOUT: '65s',
      LAMEDUCK_PRE_SHUTDOWN_HOOK_TIMEOUT: '5s',
      LAMEDUCK_PRE_STOP_SECONDS: '0',
      LAMEDUCK_PROBE_PATHS: 'off',
      LAMEDUCK_PROBE_PORT: '8081',
      LAMEDUCK_SHUTDOWN_DELAY_DURATION: '10s',
      LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '48',
    });
  });

  it('H-084 H-090 HC-09 every field of each probe is set, and each probe uses the probe port', () => {
    const { readinessProbe, livenessProbe, startupProbe } = containerOf(deployment);
    const port = 'probes';
    assert.deepEqual(
      [readinessProbe, livenessProbe, startupProbe],
      [
        {
          httpGet: { path: '/readyz', port },
          periodSeconds: 1,
          timeoutSeconds: 1,
          failureThreshold: 2,
          successThreshold: 1,
        },
        {
          httpGet: { path: '/livez', port },
          periodSeconds: 10,
          timeoutSeconds: 5,
          failureThreshold: 3,
          successThreshold: 1,
          terminationGracePeriodSeconds: 30,
        },
        {
          httpGet: { path: '/livez', port },
          periodSeconds: 1,
          timeoutSeconds: 1,
          failureThreshold: 60,
          successThreshold: 1,
        },
      ],
    );
  });

  it('H-115 P-121 HC-24 no Service adds environment variables to the pods of the chart', () => {
    assert.equal(specOf(deployment).template.spec.enableServiceLinks, false);
  });

  it('H-112 HC-23 the pods of the chart get no token of their ServiceAccount', async () => {
    assert.equal(specOf(deployment).template.spec.automountServiceAccountToken, false);
    assert.equal((await object('ServiceAccount'))['automountServiceAccountToken'], false);
  });

  it('H-093 HC-05 a rollout of the chart removes a pod only after its replacement is ready', () => {
    assert.deepEqual(specOf(deployment).strategy.rollingUpdate, { maxSurge: 1, maxUnavailable: 0 });
  });

  it('H-106 HC-14 the pods of one ReplicaSet are spread over nodes and zones', () => {
    const spread = specOf(deployment).template.spec.topologySpreadConstraints ?? [];
    assert.equal(spread.length, 2);
    for (const { matchLabelKeys } of spread) assert.deepEqual(matchLabelKeys, ['pod-template-hash']);
  });

  it('H-099 HC-11 the disruption budget allows node drains, even if pods are not ready', async () => {
    const { maxUnavailable, unhealthyPodEvictionPolicy } = (await object('PodDisruptionBudget'))['spec'] as Record<
      string,
      unknown
    >;
    assert.deepEqual(
      { maxUnavailable, unhealthyPodEvictionPolicy },
      { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
    );
  });

  it('H-116 after a failure, the status of the pod shows the last lines of its log', () => {
    assert.equal(containerOf(deployment).terminationMessagePolicy, 'FallbackToLogsOnError');
  });

  it('H-133 HC-19 the Service names its port, and does not expose the probe port', async () => {
    const { ports } = (await object('Service'))['spec'] as { ports: unknown };
    assert.deepEqual(ports, [{ name: 'http', port: 80, targetPort: 'http' }]);
  });

  it('H-017 HC-26 HC-27 the pod of helm test runs the image of the service, and no selector matches this pod', async () => {
    const pod = (await object('Pod')) as KubernetesObject & { spec: { containers: [{ image: string }] } };
    const selector = specOf(deployment).selector.matchLabels;
    assert.ok(Object.entries(selector).some(([label, value]) => pod.metadata.labels[label] !== value));
    assert.equal(pod.spec.containers[0].image, containerOf(deployment).image);
    assert.equal(pod.metadata.annotations?.['helm.sh/hook-output-log-policy'], 'hook-failed');
  });

  it('H-014 each object of the chart has the labels that Helm and kubectl expect', async () => {
    for (const { kind, metadata } of await objects()) {
      assert.equal(metadata.labels['app.kubernetes.io/managed-by'], 'Helm', kind);
      assert.equal(metadata.labels['helm.sh/chart'], 'lameduck-0.1.0', kind);
    }
  });
});
