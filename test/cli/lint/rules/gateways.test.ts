// Tests the lint rules that compare a program with the Gateway in front of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsIn } from '../findings.ts';

const timeoutRule = 'drain-shorter-than-proxy-timeout';
const drainRule = 'deregistration-delay-shorter-than-drain';

type Fields = Readonly<Record<string, unknown>>;

// Returns the messages of one lint rule. The manifest contains a program, its Service, and one more object that the
// test gives as an argument.
function messages(rule: string, container: Fields, front: Fields): string[] {
  const labels = { app: 'shop' };
  const spec = { terminationGracePeriodSeconds: 600, containers: [{ name: 'shop', ...container }] };
  const objects: readonly Fields[] = [
    { kind: 'Deployment', metadata: { name: 'shop' }, spec: { template: { metadata: { labels }, spec } } },
    {
      kind: 'Service',
      metadata: { name: 'shop' },
      spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
    },
    front,
  ];
  return findingsIn(objects.map((one) => JSON.stringify(one)).join('\n---\n'))
    .filter((found) => found.rule === rule)
    .map(({ message }) => message);
}

const gunicorn = (drain: number): Fields => ({ args: ['gunicorn', 'app', `--graceful-timeout=${String(drain)}`] });

const toShop = { backendRefs: [{ name: 'shop', port: 80 }] };

function route(...rules: readonly Fields[]): Fields {
  return { kind: 'HTTPRoute', metadata: { name: 'shop' }, spec: { parentRefs: [{ name: 'edge' }], rules } };
}

function policy(settings: Fields, target: Fields = { group: '', kind: 'Service', name: 'shop' }): Fields {
  return { kind: 'GCPBackendPolicy', metadata: { name: 'shop' }, spec: { targetRef: target, default: settings } };
}

test('H-050 `lameduck lint` compares the drain with the longest timeout of an HTTPRoute, and prefers the timeout backendRequest to the timeout request', () => {
  assert.deepEqual(messages(timeoutRule, gunicorn(29), route({ ...toShop, timeouts: { request: '30s' } })), [
    'The gateway of HTTPRoute shop waits 30 s for a response. During a shutdown, requests in flight have only 29 s, because --graceful-timeout limits them.',
  ]);
  for (const [drain, timeouts, found] of [
    [30, { request: '30s' }, false],
    [29, { request: '1m', backendRequest: '29s' }, false],
    [29, { request: '1m', backendRequest: '29s500ms' }, true],
    [29, { request: '0s' }, false],
    [29, { request: '1m', backendRequest: '0s' }, false],
    [29, { request: 'long' }, false],
    [29, {}, false],
  ] as const) {
    const { length } = messages(timeoutRule, gunicorn(drain), route({ ...toShop, timeouts }));
    assert.equal(length === 1, found, JSON.stringify([drain, timeouts]));
  }
  const several = route({ ...toShop, timeouts: { request: '10s' } }, { ...toShop, timeouts: { request: '40s' } });
  assert.match(messages(timeoutRule, gunicorn(29), several).join(), /waits 40 s/);
});

test('H-050 `lameduck lint` uses the timeouts of an HTTPRoute only for the Services that the route names', () => {
  for (const reference of [
    { name: 'other' },
    { name: 'shop', kind: 'ServiceImport' },
    { name: 'shop', namespace: 'other' },
  ]) {
    const front = route({ ...toShop }, { backendRefs: [reference], timeouts: { request: '40s' } });
    assert.deepEqual(messages(timeoutRule, gunicorn(29), front), [], JSON.stringify(reference));
  }
});

test('H-050 `lameduck lint` compares the drain with timeoutSec of a GCPBackendPolicy, or by default with 30 s', () => {
  const found = (drain: number, settings: Fields): boolean =>
    messages(timeoutRule, gunicorn(drain), policy(settings)).length === 1;
  assert.ok(found(29, {}));
  assert.ok(!found(30, {}));
  assert.ok(found(39, { timeoutSec: 40 }));
  assert.ok(!found(40, { timeoutSec: 40 }));
  assert.deepEqual(messages(timeoutRule, gunicorn(29), policy({}, { kind: 'Service', name: 'other' })), []);
});

test('H-051 `lameduck lint` compares the draining timeout of a GCPBackendPolicy with the time that requests may take during the shutdown of the program', () => {
  const found = (settings: Fields): string[] => messages(drainRule, gunicorn(60), policy(settings));
  assert.deepEqual(found({ connectionDraining: { drainingTimeoutSec: 59 } }), [
    'The Google Cloud load balancer ends the requests to a removed pod after 59 s, but --graceful-timeout lets them take 60 s.',
  ]);
  assert.deepEqual(found({ connectionDraining: { drainingTimeoutSec: 60 } }), []);
  assert.deepEqual(found({ timeoutSec: 60 }), []);
});

test('H-047, H-052 `lameduck lint` requires the shutdown delay and the keep-alive timeout that the Google Cloud load balancer needs for a Gateway of GKE', () => {
  const uvicorn = { args: ['uvicorn', 'app:app', '--timeout-keep-alive=600'] };
  const sleep = { lifecycle: { preStop: { sleep: { seconds: 39 } } } };
  assert.deepEqual(messages('keep-alive-shorter-than-load-balancer', uvicorn, policy({})), [
    'The Google Cloud load balancer keeps idle connections for 600 s, but the server closes an idle connection after 600 s. So requests can be sent on a connection that the server is closing.',
  ]);
  assert.deepEqual(messages('delay-shorter-than-load-balancer', sleep, policy({})), [
    'The Google Cloud load balancer can send connections to a pod for 40 s after its deletion, but the container stops accepting connections after 39 s.',
  ]);
});
