// Tests which workers of node:cluster load lameduck/register before the program.
import assert from 'node:assert/strict';
import type { Cluster } from 'node:cluster';
import { test } from 'node:test';
import { preloadInWorkers } from '../../../src/process/cluster/preload.ts';

test('if the file that lameduck preloads into cluster workers does not exist, as in a bundle, lameduck does not change `cluster.settings`', () => {
  const cluster = { settings: {} } as Cluster;
  preloadInWorkers(cluster);
  assert.deepEqual(cluster.settings, {});
});
