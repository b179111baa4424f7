// Tests the emptyDir at /run/lameduck, which survives a restart of the container.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { object, refusals } from './chart.ts';
import { containerOf, environmentOf, specOf } from './pods.ts';

const runFolder = { enabled: true };
const volume = { name: 'run-lameduck', emptyDir: { sizeLimit: '1Mi' } };
const mount = { name: 'run-lameduck', mountPath: '/run/lameduck' };

test('K-150 runFolder mounts an emptyDir for the checkpoint and the debug socket', async () => {
  const deployment = await object('Deployment', { runFolder });
  assert.deepEqual((specOf(deployment).template.spec['volumes'] as object[]).at(-1), volume);
  assert.deepEqual(containerOf(deployment).volumeMounts.at(-1), mount);
  assert.equal(environmentOf(deployment)['LAMEDUCK_CHECKPOINT_PATH'], '/run/lameduck/checkpoint.json');
  assert.equal(environmentOf(deployment)['LAMEDUCK_DEBUG_SOCKET_PATH'], '/run/lameduck/lameduck.sock');
});

test('without runFolder the pod has neither the volume nor its mount', async () => {
  const deployment = await object('Deployment');
  assert.doesNotMatch(JSON.stringify(deployment), /run-lameduck|CHECKPOINT|DEBUG_SOCKET/);
});

test('a checkpointPath in the values replaces the one in the run folder', async () => {
  for (const checkpointPath of ['/run/lameduck/other.json', 'off']) {
    const deployment = await object('Deployment', { runFolder, lameduck: { checkpointPath } });
    assert.equal(environmentOf(deployment)['LAMEDUCK_CHECKPOINT_PATH'], checkpointPath);
  }
});

test('H-075 the chart rejects another volume with the name or the path of the run folder', async () => {
  const lines = await refusals({
    runFolder,
    extraVolumes: [{ name: 'run-lameduck', emptyDir: {} }],
    extraVolumeMounts: [{ name: 'run-lameduck', mountPath: '/run/lameduck' }],
  });
  assert.match(lines.join('\n'), /^extraVolumes \(run-lameduck\): the pod would have this volume twice/m);
  assert.match(lines.join('\n'), /^extraVolumeMounts \(\/run\/lameduck\): the container would have two volumes/m);
});
