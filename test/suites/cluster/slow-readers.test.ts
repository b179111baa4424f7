// Tests clients that read slowly, on a real cluster. The test deletes the pods while unread parts of their responses
// are still in buffers of the kernel. The kubelet removes the network interface of a pod when the containers of the pod
// have ended.
//
//   CLUSTER_IMAGE_IMPORT, KUBECTL, HELM  see images.ts, rollout.test.ts and release.ts
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { recordOf } from './ends.ts';
import { importImages, referenceImage } from './images.ts';
import { Namespace } from './kubernetes.ts';
import { addPrograms, programPod, programs } from './program-pods.ts';
import type { Read } from './programs/slow-client.ts';
import { Release } from './release.ts';

const namespace = new Namespace('slow-readers');
const node = '/nodejs/bin/node';
const release = new Release(namespace, 'slow-readers', 2, {
  ...programs,
  command: [node, 'programs/large-server.ts'],
});

/** How many connections the client opens to each of the two pods of the Helm release. */
const connections = 5;

describe('on a real cluster, clients that read slowly get their whole response from a pod that is deleted', () => {
  const lines: Read[] = [];
  const said = (type: Read['type']) => lines.filter((line) => line.type === type);

  before(async () => {
    await importImages('../../../docker/build-archive.sh');
    await namespace.create();
    await addPrograms(namespace);
    await release.apply();
    await namespace.until('two pods serve', 60, () => release.hasSettled(2));
    namespace.on('line', ({ pod }, line) => {
      if (pod === 'slow-client' && line.startsWith('{')) lines.push(JSON.parse(line) as Read);
    });
    const addresses = release.pods().map(({ status }) => status.podIP ?? '');
    const command = [node, '/app/programs/slow-client.ts', String(connections), ...addresses];
    // A small receive buffer, so that the unread part of a response stays on the server.
    const securityContext = { sysctls: [{ name: 'net.ipv4.tcp_rmem', value: '4096 65536 65536' }] };
    await namespace.add(programPod('slow-client', { image: referenceImage, command, cpu: '10m' }, { securityContext }));
    await namespace.until('every response has begun', 60, () => said('begun').length === 2 * connections);
  });

  after(() => namespace.delete());

  it('P-006 clients that read slowly receive the whole response of a pod that is deleted', async () => {
    const runs = release.runs();
    const pods = release.pods().map(({ metadata }) => metadata.name);
    await namespace.kubectl('delete', 'pod', ...pods, '--wait=false');
    await namespace.until('every response has ended', 60, () => said('read').length === 2 * connections);
    const missing = said('read').filter((line) => line.missing !== 0);
    assert.deepEqual(missing, []);
    await namespace.until('both pods have ended', 60, () =>
      runs.every((run) => run.exitCode !== undefined && run.isLogComplete),
    );
    for (const run of runs) {
      assert.equal(run.exitCode, 0);
      assert.deepEqual(recordOf(run).unfinished, []);
      assert.ok(recordOf(run).durationMs > 13_000, 'the drain must have waited for unread responses');
    }
  });
});
