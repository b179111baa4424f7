import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { readPage } from '../../support/markdown.ts';
import { helms, object, refusals, run, chart, type Values } from './chart.ts';
import { containerOf, environmentOf, specOf } from './pods.ts';

async function graceOf(lameduck: Values, args: readonly string[] = []): Promise<number> {
  return specOf(await object('Deployment', { lameduck }, { args })).template.spec.terminationGracePeriodSeconds;
}

describe('H-043 HC-01 HC-02 the chart sets the grace period of the pod to the sum of the preStop sleep, the longer of the shutdown delay and the pre-shutdown hooks, the longest request, the destroy hooks and the margin', () => {
  const cases: [string, Values, number][] = [
    ['with hooks that are shorter than the delay', { preShutdownHookTimeout: '10s' }, 48],
    ['with hooks that outlast the delay', { preShutdownHookTimeout: '12s' }, 50],
    ['with a preStop sleep', { preStopSeconds: 5 }, 53],
    ['with a longer request', { longestRequestDuration: '1h1m1.5s', allowLongGracePeriod: true }, 10 + 3662 + 3 + 5],
    ['rounded up from milliseconds', { destroyHookTimeout: '3001ms' }, 49],
    ['rounded up from nanoseconds', { longestRequestDuration: '30s1ns' }, 49],
    [
      'with a value for every term',
      {
        preStopSeconds: 1,
        shutdownDelayDuration: '6s',
        longestRequestDuration: '.5m',
        destroyHookTimeout: '2s',
        marginDuration: '7s',
      },
      46,
    ],
    ['without a delay', { allowShortDelay: true, shutdownDelayDuration: '0s', preShutdownHookTimeout: '1ms' }, 39],
    ['for the load balancer of a gateway', { front: 'gateway', frontIdleTimeout: '60s' }, 53],
    ['for a load balancer of AWS', { front: 'aws' }, 98],
    ['for a load balancer of Google', { front: 'gce' }, 83],
  ];
  for (const [what, lameduck, seconds] of cases) {
    it(`the chart sets a grace period of ${String(seconds)} s ${what}`, async () => {
      assert.equal(await graceOf(lameduck), seconds);
    });
  }
});

test('H-050 with each load balancer or proxy, the default of longestRequestDuration in the chart is at least the response timeout of the load balancer or proxy', async () => {
  const seconds = { none: 48, envoy: 53, traefik: 53, haproxy: 73, nginx: 83, aws: 98, gce: 83, azure: 128 };
  for (const [front, grace] of Object.entries(seconds)) assert.equal(await graceOf({ front }), grace, front);
  assert.equal(await graceOf({ front: 'nginx', longestRequestDuration: '30s' }), 53);
});

test('H-062 the chart leaves at least the time of the longest request for the drain', async () => {
  const deployment = await object('Deployment', { lameduck: { preStopSeconds: 120, front: 'gce' } });
  const grace = specOf(deployment).template.spec.terminationGracePeriodSeconds;
  // The package computes the same time limit of the drain as the chart: grace period − preStop − 2 s − delay − destroy
  // hooks.
  assert.equal(grace - 120 - 2 - 45 - 3, 30 + 5 - 2);
});

test('H-024 H-025 HC-21 a number has the same effect in a values file and with `--set`, and the value 0 is not replaced by a default', async () => {
  const large = { shutdownDelayDuration: '1200000s', maxRequestsInflight: 1_000_000, preStopSeconds: 600_000 };
  const lameduck = { ...large, allowLongGracePeriod: true };
  const fromFile = await object('Deployment', { lameduck });
  const args = ['--set', 'lameduck.allowLongGracePeriod=true'];
  for (const [name, value] of Object.entries(large)) args.push('--set', `lameduck.${name}=${String(value)}`);
  const fromSet = await object('Deployment', {}, { args });
  assert.deepEqual(fromFile, fromSet);
  const strings = args.map((argument, index) => (index > 1 && argument === '--set' ? '--set-string' : argument));
  assert.deepEqual(await object('Deployment', {}, { args: strings }), fromSet);
  assert.equal(specOf(fromSet).template.spec.terminationGracePeriodSeconds, 1_800_038);
  const { LAMEDUCK_MAX_REQUESTS_INFLIGHT, LAMEDUCK_PRE_STOP_SECONDS } = environmentOf(fromSet);
  assert.deepEqual([LAMEDUCK_MAX_REQUESTS_INFLIGHT, LAMEDUCK_PRE_STOP_SECONDS], ['1000000', '600000']);
  assert.equal(await graceOf({ preStopSeconds: 0, shutdownDelayDuration: '5s' }, ['--set', 'minReadySeconds=0']), 43);
  assert.equal(specOf(await object('Deployment', { minReadySeconds: 0 })).minReadySeconds, 0);
});

test('H-040 HC-06 preStopSeconds makes the container sleep before the process signal, and lameduck gets the same number', async () => {
  const deployment = await object('Deployment', { lameduck: { preStopSeconds: 15 } });
  assert.deepEqual(containerOf(deployment).lifecycle, { preStop: { sleep: { seconds: 15 } } });
  assert.equal(environmentOf(deployment)['LAMEDUCK_PRE_STOP_SECONDS'], '15');
  assert.equal(containerOf(await object('Deployment')).lifecycle, undefined);
});

test('H-047 H-056 HC-07 the default shutdown delay depends on the load balancer or proxy in the chart value `lameduck.front`', async () => {
  for (const [front, delay] of Object.entries({ none: '10s', nginx: '15s', aws: '30s', gce: '45s', azure: '90s' })) {
    const environment = environmentOf(await object('Deployment', { lameduck: { front } }));
    assert.equal(environment['LAMEDUCK_SHUTDOWN_DELAY_DURATION'], delay, front);
    const own = environmentOf(await object('Deployment', { lameduck: { front, shutdownDelayDuration: '1m' } }));
    assert.equal(own['LAMEDUCK_SHUTDOWN_DELAY_DURATION'], '1m', front);
  }
});

test("H-056 docs/load-balancers.md has the chart's times for each load balancer and proxy", async () => {
  const page = readPage('docs/load-balancers.md');
  const row =
    /^\| `([a-z]+)` .*?\| default delay (\d+) s +\| shortest delay (\d+) s +\| +(?:idle timeout (\d+) s)? *\| `keepAliveTimeout` (\d+) s +\|$/gm;
  const rows = [...page.matchAll(row)];
  assert.equal(rows.length, 11);
  for (const [, front = '', delay = '', least = '', idle = '', kept = ''] of rows) {
    const named = front === 'gateway' ? { front, frontIdleTimeout: '60s' } : { front };
    const environment = environmentOf(await object('Deployment', { lameduck: named }));
    assert.equal(environment['LAMEDUCK_SHUTDOWN_DELAY_DURATION'], `${delay}s`, front);
    assert.equal(environment['LAMEDUCK_KEEP_ALIVE_TIMEOUT'], `${kept}s`, front);
    await object('Deployment', { lameduck: { ...named, shutdownDelayDuration: `${least}s` } });
    const short = await refusals({ lameduck: { ...named, shutdownDelayDuration: `${String(Number(least) - 1)}s` } });
    assert.match(short[0] ?? '', new RegExp(`at least ${least}s, because with front ${front}`));
    if (idle === '') continue;
    const [line] = await refusals({ lameduck: { front, keepAliveTimeout: `${idle}s` } });
    assert.match(line ?? '', new RegExp(`idle timeout of front ${front} \\(${idle}s\\)`));
  }
});

test('H-052 HC-08 the chart sets a keepAliveTimeout that is longer than the idle timeout of the load balancer or proxy', async () => {
  const kept = async (lameduck: Values): Promise<string | undefined> =>
    environmentOf(await object('Deployment', { lameduck }))['LAMEDUCK_KEEP_ALIVE_TIMEOUT'];
  for (const [front, timeout] of Object.entries({ none: '65s', aws: '65s', gce: '620s', envoy: '3610s' })) {
    assert.equal(await kept({ front }), timeout, front);
  }
  assert.equal(await kept({ front: 'gateway', frontIdleTimeout: '30s' }), '65s');
  assert.equal(await kept({ front: 'gateway', frontIdleTimeout: '5m' }), '305s');
  const [line] = await refusals({ lameduck: { front: 'nginx', frontIdleTimeout: '5m', keepAliveTimeout: '5m' } });
  assert.match(line ?? '', /^lameduck\.keepAliveTimeout \(300s\): must be longer than .* \(300s\)/);
});

test('H-091 HC-10 a process that fails its liveness probe gets 30 s to end, or the grace period if that is shorter', async () => {
  const short = await object('Deployment', { lameduck: { longestRequestDuration: '1s' } });
  assert.equal(containerOf(short).livenessProbe.terminationGracePeriodSeconds, 19);
  const long = await object('Deployment', { lameduck: { longestRequestDuration: '9m' } });
  assert.equal(containerOf(long).livenessProbe.terminationGracePeriodSeconds, 30);
  const slept = await object('Deployment', { lameduck: { preStopSeconds: 5 } });
  assert.equal(containerOf(slept).livenessProbe.terminationGracePeriodSeconds, 35);
  const off = await object('Deployment', { lameduck: { enabled: false, front: 'aws' } });
  assert.equal(containerOf(off).livenessProbe.terminationGracePeriodSeconds, 60);
  const own = await object('Deployment', { probes: { liveness: { terminationGracePeriodSeconds: 48 } } });
  assert.equal(containerOf(own).livenessProbe.terminationGracePeriodSeconds, 48);
});

test('H-103 HC-13 the autoscaler removes at most one pod per grace period, or per 1800 s if the grace period is longer', async () => {
  for (const [longestRequestDuration, period] of Object.entries({ '30s': 60, '2m': 138, '2h': 1800 })) {
    const values = { autoscaling: { enabled: true }, lameduck: { longestRequestDuration, allowLongGracePeriod: true } };
    const { behavior } = (await object('HorizontalPodAutoscaler', values))['spec'] as {
      behavior: { scaleDown: { policies: object[] } };
    };
    assert.deepEqual(behavior.scaleDown.policies, [{ type: 'Pods', value: 1, periodSeconds: period }]);
  }
});

describe('H-148 HC-31 the notes of the chart describe the shutdown of a pod', () => {
  // Helm 3 connects to the cluster even for a dry run, so this test does not use Helm 3.
  async function notes(args: readonly string[]): Promise<string> {
    const all = ['install', 'shop', chart, '--namespace', 'orders', '--dry-run=client', ...args];
    const { code, output, errors } = await run(helms.at(-1) ?? '', all);
    assert.equal(code, 0, errors);
    return output.slice(output.indexOf('NOTES:'));
  }

  it('the notes print the grace period as a sum, and the order of events in a shutdown', async () => {
    const text = await notes(['--set', 'lameduck.preStopSeconds=2,lameduck.front=nginx']);
    assert.match(text, /terminationGracePeriodSeconds = preStopSeconds 2s \+ max\(shutdownDelayDuration 15s, /);
    const moments = [...text.matchAll(/^ {2,}(\d+) {2}\S/gm)].map(([, second]) => Number(second));
    assert.deepEqual(moments, [2, 17, 77, 80, 85]);
    assert.match(text, /rollout status deployment\/shop-lameduck/);
    assert.doesNotMatch(text, /Warnings:/);
    assert.match(text, /^A rollout of 2 pods takes about 20 s /m);
    const faster = await notes(['--set', 'replicaCount=21,strategy.maxSurge=25%']);
    assert.match(faster, /^A rollout of 21 pods takes about 40 s /m);
  });

  it('H-081 the notes that Helm prints after the installation warn of values that can lose requests', async () => {
    const text = await notes([
      '--set',
      'lameduck.healthCheckTimeout=1s,lameduck.allowShortDelay=true,lameduck.front=nginx',
      '--set',
      'replicaCount=1,allowSingleReplica=true,prometheusRule.enabled=true',
      '--set',
      'resources.limits.cpu=1,resources.limits.memory=null',
      '--set',
      'ingress.enabled=true,ingress.className=nginx,ingress.hosts[0].host=a.example',
    ]);
    const warnings = text.slice(text.indexOf('Warnings:')).match(/^ {2}- .*$/gm) ?? [];
    const about = [
      /allowShortDelay/,
      /single pod/,
      /limits\.memory/,
      /limits\.cpu/,
      /nginx/,
      /healthCheckTimeout/,
      /neither podMonitor nor serviceMonitor/,
    ];
    assert.equal(warnings.length, about.length, warnings.join('\n'));
    about.forEach((pattern, index) => {
      assert.match(warnings[index] ?? '', pattern);
    });
    assert.match(await notes(['--set', 'lameduck.front=aws']), /pod-readiness-gate-inject=enabled/);
    assert.match(await notes(['--set', 'autoscaling.enabled=true,resources.requests.cpu=null']), /cannot scale by CPU/);
  });

  it('H-143 the notes that Helm prints after the installation warn of a scrape interval that is longer than a drain', async () => {
    for (const monitor of ['podMonitor', 'serviceMonitor']) {
      const of = (interval: string) => ['--set', `${monitor}.enabled=true,${monitor}.interval=${interval}`];
      assert.match(await notes(of('41s')), new RegExp(`^ {2}- ${monitor}\\.interval is 41s: .* at most 40s\\.$`, 'm'));
      assert.doesNotMatch(await notes(of('40s')), /Warnings:/);
    }
  });
});
