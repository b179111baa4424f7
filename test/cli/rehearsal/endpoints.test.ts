import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  afterChange,
  conditionsOf,
  destination,
  newEndpoints,
  nodeCount,
  type Endpoints,
} from '../../../src/cli/rehearsal/endpoints.ts';

const ready = conditionsOf({ isReady: true, isDeleted: false });
const deleted = conditionsOf({ isReady: true, isDeleted: true });
const deletedUnready = conditionsOf({ isReady: false, isDeleted: true });

function service(hasOthers: boolean): Endpoints {
  return afterChange(newEndpoints({ propagation: 2_000, hasOthers, random: () => 0.5 }), 0, ready);
}

function everyNode(endpoints: Endpoints, now: number): string[] {
  return Array.from({ length: nodeCount }, (_, node) => destination(endpoints, node, now));
}

test('K-076, K-218 a terminating endpoint is not ready, whatever its readiness probe reports', () => {
  assert.deepEqual(deleted, { ready: false, serving: true, terminating: true });
  assert.deepEqual(deletedUnready, { ready: false, serving: false, terminating: true });
});

test('K-126, K-127, K-131, K-218 each node continues to send connections to a deleted pod until the node has learned that the endpoint of the pod was removed', () => {
  const draws = [0, 0.5, 0.9];
  const random = (): number => draws.shift() ?? 0;
  const up = afterChange(newEndpoints({ propagation: 2_000, hasOthers: true, random }), 0, ready);
  const down = afterChange(up, 10_000, deleted);
  assert.deepEqual(everyNode(down, 10_299), ['pod', 'pod', 'pod']);
  assert.deepEqual(everyNode(down, 10_300), ['others', 'pod', 'pod']);
  assert.deepEqual(everyNode(down, 12_099), ['others', 'others', 'pod']);
  assert.deepEqual(everyNode(down, 12_100), ['others', 'others', 'others']);
});

test('K-128 a node on which no endpoint is ready uses endpoints that are serving and terminating', () => {
  const down = afterChange(service(false), 10_000, deleted);
  assert.equal(destination(down, 0, 20_000), 'pod');
});

test('K-129, K-132 a node refuses connections if the last endpoint is terminating and its readiness probe fails', () => {
  const down = afterChange(service(false), 10_000, deletedUnready);
  assert.equal(destination(down, 0, 20_000), 'refused');
});

test('K-132 a node refuses connections before it knows an endpoint, and after the last endpoint is removed', () => {
  assert.equal(destination(service(false), 0, 1_299), 'refused');
  assert.equal(destination(service(false), 0, 1_300), 'pod');
  assert.equal(destination(afterChange(service(false), 5_000, undefined), 0, 20_000), 'refused');
});
