// Tests what the injector adds to a pod, against a real API server. Without a cluster the tests are skipped, or fail if
// CHART_CLUSTER is `required`.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  annotation,
  changed,
  containerNamed,
  environmentOf,
  labelled,
  podWith,
  plainPod,
  type Pod,
} from './injected-pods.ts';
import { Injector, skip } from './injector.ts';

const load = '--import=/opt/lameduck/package/dist/register.cjs';

describe('the injector adds lameduck to a pod', { skip, concurrency: 2 }, () => {
  let byVolume: Injector;
  let byContainer: Injector;

  before(async () => {
    [byVolume, byContainer] = await Injector.startEach();
  });

  after(async () => {
    await Promise.all([byVolume, byContainer].map((one) => one.stop()));
  });

  it('M-01 the injector renames the NODE_OPTIONS of the pod to GIVEN_NODE_OPTIONS, and adds its init container before all other init containers', async () => {
    const env = [{ name: 'NODE_OPTIONS', valueFrom: { configMapKeyRef: { name: 'a', key: 'b' } } }];
    const first = { ...podWith().spec.containers[0], name: 'first' };
    const made = await byContainer.inject(podWith({ env }, { initContainers: [first] }));
    assert.deepEqual(
      made.spec.initContainers?.map(({ name }) => name),
      ['lameduck', 'first'],
    );
    const given = containerNamed(made).env?.find(({ name }) => name === 'GIVEN_NODE_OPTIONS');
    assert.deepEqual(given, { name: 'GIVEN_NODE_OPTIONS', valueFrom: env[0]?.valueFrom });
  });

  it('M-02 with the injector, an invalid probe port does not prevent the creation of a pod', async () => {
    for (const value of ['99999', '65536', '0', 'off', 'eight', '', '-1', '1e3', '99999999999999999999']) {
      const made = await byVolume.inject(podWith({ env: [{ name: 'LAMEDUCK_PROBE_PORT', value }] }));
      assert.equal(annotation(made, 'injected'), 'app', value);
      assert.equal(containerNamed(made)['readinessProbe'], undefined, value);
      assert.equal(containerNamed(made).lifecycle, undefined, value);
    }
    const made = await byVolume.inject(podWith({ env: [{ name: 'LAMEDUCK_PROBE_PORT', value: '9000' }] }));
    assert.equal((containerNamed(made)['readinessProbe'] as { httpGet: { port: number } }).httpGet.port, 9000);
  });

  it('M-02 an error in a CEL expression of the policy leaves the pod unchanged', async (t) => {
    const broken = await Injector.start();
    t.after(() => broken.stop());
    await broken.breaks('reason', "string(1 / size(object.spec.containers.filter(c, c.name == 'other')))");
    const given = labelled(podWith());
    assert.deepEqual(changed(await broken.create(labelled(podWith(), 'disabled')), await broken.create(given)), []);
  });

  it("M-03 the injector's policy handles a pod with 5000 variables and a pod with 100 containers within the API server's cost limit for CEL expressions", async () => {
    const env = Array.from({ length: 5000 }, (_, index) => ({ name: `V${String(index)}`, value: 'x' }));
    assert.equal(annotation(await byVolume.inject(podWith({ env })), 'injected'), 'app');
    const [one] = podWith().spec.containers;
    const others = Array.from({ length: 99 }, (_, index) => ({ ...one, name: `c${String(index)}` }));
    const many = { ...podWith(), spec: { containers: [one, ...others] } } as Pod;
    assert.match((await byVolume.skipped(many)) ?? '', /several containers/);
  });

  it('M-04 a pod is injected only once even if there are two bindings and two policies', async (t) => {
    const twice = await Injector.start({ image: 'registry.example/lameduck:1' });
    t.after(() => twice.stop());
    await twice.bindAgain();
    await twice.add({ image: 'registry.example/other:1' });
    const made = await twice.create(labelled(podWith({ command: ['npm', 'start'] })));
    assert.equal(made.spec.volumes?.filter(({ name }) => name === 'lameduck').length, 1);
    assert.equal(containerNamed(made).env?.filter(({ name }) => name === 'NODE_OPTIONS').length, 1);
    assert.equal(environmentOf(made)['NODE_OPTIONS'], load);
  });

  it("M-05 the injector keeps the pod's own NODE_OPTIONS, and their modules are loaded before lameduck", async () => {
    const options = async (container: object) =>
      environmentOf(await byVolume.inject(podWith(container)))['NODE_OPTIONS'];
    assert.equal(await options({}), load);
    assert.equal(await options({ env: [{ name: 'NODE_OPTIONS', value: '--require a' }] }), `--require a ${load}`);
    assert.equal(await options({ env: [{ name: 'NODE_OPTIONS', value: '' }] }), load);
    assert.equal(await options({ env: [{ name: 'NODE_OPTIONS' }] }), load);
    const twice = [
      { name: 'NODE_OPTIONS', value: '--require a' },
      { name: 'A', value: 'b' },
      { name: 'NODE_OPTIONS', value: '--require b' },
    ];
    assert.equal(await options({ env: twice }), `--require b ${load}`);
  });

  it('M-05 if NODE_OPTIONS of the pod contain a reference such as $(A), they come after the option of lameduck, because Node reads no option after an unresolved reference', async () => {
    const options = async (container: object) =>
      environmentOf(await byVolume.inject(podWith(container)))['NODE_OPTIONS'];
    const valueFrom = { secretKeyRef: { name: 'a', key: 'b' } };
    assert.equal(await options({ env: [{ name: 'NODE_OPTIONS', valueFrom }] }), `${load} $(GIVEN_NODE_OPTIONS)`);
    assert.equal(await options({ envFrom: [{ configMapRef: { name: 'a' } }] }), `${load} $(NODE_OPTIONS)`);
    assert.equal(await options({ env: [{ name: 'NODE_OPTIONS', value: '$(A) --b' }] }), `${load} $(A) --b`);
  });

  it('M-07 M-08 pod security restricted accepts pods that are injected by image volume and by init container', async () => {
    for (const injector of [byVolume, byContainer])
      assert.equal(annotation(await injector.inject(podWith()), 'injected'), 'app');
    // The API server rejects a pod without a security context only if the namespace enforces pod security.
    await assert.rejects(byVolume.inject(plainPod()), /violates PodSecurity "restricted/);
  });

  it('M-07 the injector mounts the package as an image volume, and then adds no init container', async () => {
    const made = await byVolume.inject(podWith());
    const volume = made.spec.volumes?.find(({ name }) => name === 'lameduck');
    assert.deepEqual(volume, {
      name: 'lameduck',
      image: { reference: 'registry.example/lameduck:1', pullPolicy: 'IfNotPresent' },
    });
    const mount = containerNamed(made).volumeMounts?.find(({ name }) => name === 'lameduck');
    assert.deepEqual(mount, { name: 'lameduck', mountPath: '/opt/lameduck/package', subPath: 'app', readOnly: true });
    assert.equal(made.spec.initContainers, undefined);
  });

  it("M-08 the injector's init container has the resources of the container, so that the pod keeps its quality-of-service class", async () => {
    const resources = { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '100m', memory: '128Mi' } };
    const made = await byContainer.inject(podWith({ resources }));
    assert.deepEqual(containerNamed(made, 'lameduck')['resources'], resources);
    assert.equal(made.status?.qosClass, 'Guaranteed');
    const claimed = { ...resources, claims: [{ name: 'gpu' }] };
    const withClaim = await byContainer.inject(
      podWith({ resources: claimed }, { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'gpu' }] }),
    );
    assert.deepEqual(containerNamed(withClaim, 'lameduck')['resources'], resources);
  });

  it('M-09 the init container of the injector uses the image in the values of the chart, with imagePullPolicy IfNotPresent', async () => {
    const { image, imagePullPolicy } = containerNamed(await byContainer.inject(podWith()), 'lameduck');
    assert.deepEqual([image, imagePullPolicy], ['registry.example/lameduck:1', 'IfNotPresent']);
  });

  it('M-10 the injector adds a readiness probe only if the pod has the label and no readiness probe of its own', async () => {
    const probe = { httpGet: { path: '/ready', port: 8080 } };
    const own = containerNamed(await byVolume.inject(podWith({ readinessProbe: probe })))[
      'readinessProbe'
    ] as typeof probe;
    assert.equal(own.httpGet.path, '/ready');
    const unlabelled = await byContainer.create(podWith());
    assert.equal(annotation(unlabelled, 'injected'), 'app');
    assert.equal(containerNamed(unlabelled)['readinessProbe'], undefined);
    const { readinessProbe, livenessProbe, startupProbe } = containerNamed(await byVolume.inject(podWith()));
    assert.deepEqual(readinessProbe, {
      httpGet: { path: '/readyz', port: 8081, scheme: 'HTTP' },
      periodSeconds: 1,
      timeoutSeconds: 1,
      failureThreshold: 2,
      successThreshold: 1,
    });
    assert.deepEqual([livenessProbe, startupProbe], [undefined, undefined]);
  });

  it("M-11 the injector raises the grace period to minTerminationGracePeriodSeconds plus the time of the preStop hook, unless the pod's grace period is longer", async () => {
    const sleep = (seconds: number) => ({ lifecycle: { preStop: { sleep: { seconds } } } });
    const exec = { lifecycle: { preStop: { exec: { command: ['sleep', '5'] } } } };
    for (const [container, own, expected, preStop] of [
      [{}, undefined, 30, '0'],
      [{}, 10, 30, '0'],
      [{}, 90, 90, '0'],
      [sleep(7), undefined, 37, '7'],
      [sleep(7), 20, 37, '7'],
      [sleep(7), 60, 60, '7'],
      [exec, undefined, 60, '30'],
      [exec, 45, 75, '45'],
    ] as const) {
      const made = await byVolume.inject(podWith(container, { terminationGracePeriodSeconds: own }));
      const variables = environmentOf(made);
      assert.equal(made.spec.terminationGracePeriodSeconds, expected);
      assert.equal(variables['LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS'], String(expected));
      assert.equal(variables['LAMEDUCK_PRE_STOP_SECONDS'], preStop);
    }
  });

  it('the injector does not replace a LAMEDUCK_ variable of the pod', async () => {
    const env = [
      { name: 'LAMEDUCK_SHUTDOWN_DELAY_DURATION', value: '3s' },
      { name: 'LAMEDUCK_PRE_STOP_SECONDS', valueFrom: { configMapKeyRef: { name: 'a', key: 'b' } } },
    ];
    const made = environmentOf(await byVolume.inject(podWith({ env })));
    assert.equal(made['LAMEDUCK_SHUTDOWN_DELAY_DURATION'], '3s');
    assert.deepEqual(made['LAMEDUCK_PRE_STOP_SECONDS'], env[1]?.valueFrom);
    assert.equal(made['LAMEDUCK_PROBE_PORT'], '8081');
  });
});
