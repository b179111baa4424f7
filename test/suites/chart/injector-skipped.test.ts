// Tests which pods the injector skips. The tests need a real API server. Without one they are skipped, or fail if
// CHART_CLUSTER is `required`.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  annotation,
  changed,
  containerNamed,
  environmentOf,
  podWith,
  plainPod,
  unprivileged,
  type Pod,
} from './injected-pods.ts';
import { Injector, restricted, skip } from './injector.ts';

describe('the injector skips pods that it cannot inject, and gives the reason', { skip, concurrency: 2 }, () => {
  let byVolume: Injector;
  // Injects pods in namespaces that do not enforce pod security. Pod security would reject some of the tested pods.
  let open: Injector;

  before(async () => {
    [byVolume, open] = await Promise.all([Injector.start({}, restricted), Injector.start()]);
  });

  after(async () => {
    await Promise.all([byVolume, open].map((one) => one.stop()));
  });

  describe('M-12 a pod that the injector skips has an annotation with the reason', () => {
    const cases: [title: string, given: () => Pod, reason: string][] = [
      ['for Windows', () => plainPod({}, { os: { name: 'windows' } }), 'the pod is not for Linux'],
      [
        'with a node selector for Windows',
        () => plainPod({}, { nodeSelector: { 'kubernetes.io/os': 'windows' } }),
        'the pod is not for Linux',
      ],
      ['with restartPolicy Never', () => podWith({}, { restartPolicy: 'Never' }), 'the pod has restartPolicy Never'],
      [
        'with several containers',
        () => ({
          metadata: {},
          spec: { containers: ['a', 'b'].map((name) => ({ name, image: 'x:1', ...unprivileged })) },
        }),
        'the pod has several containers: name the one to inject in the annotation lameduck/container',
      ],
      [
        'with an annotation that names no container',
        () => ({ ...podWith(), metadata: { annotations: { 'lameduck/container': 'other' } } }),
        'the pod has no container with the name in the annotation lameduck/container or kubectl.kubernetes.io/default-container',
      ],
      [
        'with a grace period that no JSON patch can contain',
        () => podWith({}, { terminationGracePeriodSeconds: Number.MAX_SAFE_INTEGER }),
        'terminationGracePeriodSeconds is more than 2000000',
      ],
      [
        'with a container named lameduck',
        () => podWith({ name: 'lameduck' }),
        'a container of the pod is named lameduck',
      ],
      [
        'with LAMEDUCK_DISABLED',
        () => podWith({ env: [{ name: 'LAMEDUCK_DISABLED', value: '1' }] }),
        'LAMEDUCK_DISABLED is set',
      ],
      [
        'whose NODE_OPTIONS load lameduck',
        () => podWith({ env: [{ name: 'NODE_OPTIONS', value: '--import lameduck/register' }] }),
        'NODE_OPTIONS already loads lameduck',
      ],
      ...['/opt', '/opt/', '/opt/lameduck', '/opt/lameduck/package'].map((mountPath): [string, () => Pod, string] => [
        `with a volume at ${mountPath}`,
        () => podWith({ volumeMounts: [{ name: 'own', mountPath }] }, { volumes: [{ name: 'own', emptyDir: {} }] }),
        'the container mounts a volume at /opt or /opt/lameduck',
      ]),
    ];
    // A Windows pod is tested in a namespace without pod security. Pod security would require other fields of a Windows
    // pod than the fields of these test pods.
    const isSkipped = async (given: Pod, reason: string) => {
      assert.equal(await (reason.includes('Linux') ? open : byVolume).skipped(given), reason);
    };
    for (const [title, given, reason] of cases) {
      it(`the injector skips a pod ${title}, because it cannot inject this pod, and gives the reason`, () =>
        isSkipped(given(), reason));
    }
  });

  it('M-12 the injector skips a pod with hostNetwork', async () => {
    const made = await open.inject(plainPod({}, { hostNetwork: true }));
    assert.equal(
      annotation(made, 'skipped'),
      'the pod has hostNetwork, so the probe port would occupy a port of the node',
    );
  });

  it('M-12 the injector adds no probe port and no probe to a pod with a container on port 8081', async () => {
    const sidecar = { ...unprivileged, name: 'proxy', image: 'proxy:1', ports: [{ containerPort: 8081 }] };
    const native = { ...sidecar, restartPolicy: 'Always' };
    const two = podWith();
    const besides: Pod = {
      metadata: { annotations: { 'lameduck/container': 'app' } },
      spec: { containers: [...two.spec.containers, sidecar] },
    };
    for (const given of [podWith({ ports: sidecar.ports }), podWith({}, { initContainers: [native] }), besides]) {
      const made = await byVolume.inject(given);
      assert.equal(environmentOf(made)['LAMEDUCK_PROBE_PORT'], 'off');
      assert.equal(containerNamed(made)['readinessProbe'], undefined);
    }
  });

  it("M-12 in a pod with several containers, the injector changes the container that its annotation names. Without this annotation, it changes kubectl's default container", async () => {
    const containers = ['a', 'b', 'c'].map((name) => ({ name, image: 'x:1', ...unprivileged }));
    const named = (annotations: Record<string, string>): Pod => ({ metadata: { annotations }, spec: { containers } });
    assert.equal(annotation(await byVolume.inject(named({ 'lameduck/container': 'b' })), 'injected'), 'b');
    const byDefault = { 'kubectl.kubernetes.io/default-container': 'c' };
    const made = await byVolume.inject(named(byDefault));
    assert.equal(annotation(made, 'injected'), 'c');
    assert.ok(environmentOf(made, 'c')['NODE_OPTIONS']);
    assert.deepEqual([environmentOf(made, 'a'), environmentOf(made, 'b')], [{}, {}]);
    assert.equal(
      annotation(await byVolume.inject(named({ ...byDefault, 'lameduck/container': 'a' })), 'injected'),
      'a',
    );
  });

  it('M-12 the injector does not change a mirror pod, or a pod into which the chart `lameduck` has already injected the package', async () => {
    const volumes = [{ name: 'lameduck', emptyDir: {} }];
    const given = podWith({}, { volumes });
    assert.deepEqual(changed(await byVolume.untouched(given), await byVolume.inject(given)), []);
    const mirror = { ...podWith(), metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } };
    // The API server runs the policy of the injector before it rejects the mirror pod of this test. The API server
    // rejects this pod because it does not come from a node.
    await assert.rejects(byVolume.inject(mirror), (error: Error) => !error.message.includes('lameduck/'));
  });
});
