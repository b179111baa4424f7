// Tests the emptyDir at /run/lameduck, in which the process creates its debug socket.
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { object, refusals, type Values } from './chart.ts';
import { containerOf, environmentOf, specOf } from './pods.ts';

const volume = { name: 'run-lameduck', emptyDir: { sizeLimit: '1Mi' } };
const mount = { name: 'run-lameduck', mountPath: '/run/lameduck' };

describe('for every kind of image, such as one into which lameduck is injected, the chart sets the path of the debug socket by default', () => {
  const images: Readonly<Record<string, Values>> = {
    'an image with lameduck': {},
    'an image into which lameduck is injected': { inject: { enabled: true } },
    'an image without a probe port': { lameduck: { probePort: 'off' } },
  };
  for (const [name, values] of Object.entries(images)) {
    it(`in the manifests for ${name}, the debug socket is on an emptyDir volume, and the chart does not set checkpointPath`, async () => {
      const deployment = await object('Deployment', values);
      const environment = environmentOf(deployment);
      assert.deepEqual((specOf(deployment).template.spec['volumes'] as object[]).at(-1), volume);
      assert.deepEqual(containerOf(deployment).volumeMounts.at(-1), mount);
      assert.equal(environment['LAMEDUCK_DEBUG_SOCKET_PATH'], '/run/lameduck/lameduck.sock');
      assert.ok(!('LAMEDUCK_CHECKPOINT_PATH' in environment));
    });
  }
});

test('without runFolder or without lameduck, the pod has neither the volume nor its mount', async () => {
  for (const values of [{ runFolder: { enabled: false } }, { lameduck: { enabled: false } }]) {
    const deployment = await object('Deployment', values);
    assert.doesNotMatch(JSON.stringify(deployment), /run-lameduck|CHECKPOINT|DEBUG_SOCKET/);
  }
});

test('a debugSocketPath in the values replaces the path in the run folder', async () => {
  for (const debugSocketPath of ['/run/lameduck/other.sock', 'off']) {
    const deployment = await object('Deployment', { lameduck: { debugSocketPath } });
    assert.equal(environmentOf(deployment)['LAMEDUCK_DEBUG_SOCKET_PATH'], debugSocketPath);
  }
});

test('K-150 a checkpointPath in the values can be in the run folder', async () => {
  const checkpointPath = '/run/lameduck/checkpoint.json';
  const deployment = await object('Deployment', { lameduck: { checkpointPath } });
  assert.equal(environmentOf(deployment)['LAMEDUCK_CHECKPOINT_PATH'], checkpointPath);
  assert.deepEqual(containerOf(deployment).volumeMounts.at(-1), mount);
});

test("H-075 the chart rejects a volume of the user that has the name of the chart's run folder volume, or is mounted at the path of the run folder", async () => {
  const lines = await refusals({
    extraVolumes: [{ name: 'run-lameduck', emptyDir: {} }],
    extraVolumeMounts: [{ name: 'run-lameduck', mountPath: '/run/lameduck' }],
  });
  assert.match(lines.join('\n'), /^extraVolumes \(run-lameduck\): the pod would have this volume twice/m);
  assert.match(lines.join('\n'), /^extraVolumeMounts \(\/run\/lameduck\): the container would have two volumes/m);
});
