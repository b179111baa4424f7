import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { parse } from 'yaml';
import { readPage } from '../../support/markdown.ts';
import { object, objects, type Values } from './chart.ts';
import {
  always,
  fired,
  metricRules,
  noPromtool,
  rulesOf,
  scrapings,
  steps,
  type Groups,
  type Sampled,
  type Trial,
} from './promtool.ts';

async function logRules(values: Values = {}): Promise<Groups> {
  const { data } = (await object('ConfigMap', { logRules: { enabled: true }, ...values })) as unknown as {
    data: Record<string, string>;
  };
  return parse(data['orders-shop-lameduck.yaml'] ?? '') as Groups;
}

const scopes = ['release', 'cluster'] as const;
type Series = Readonly<Record<string, Sampled>>;

const pod = 'shop-lameduck-5d9c7b-x2x4z';
const target = `namespace="orders",pod="${pod}",container="server"`;
const scraped = (metric: string, labels = '') =>
  `${metric}{${target},release="shop",workload="shop-lameduck",job="orders/shop-lameduck",metrics_path="/metrics"${labels}}`;
const ofState = (metric: string, labels = '') => `${metric}{${target},job="kube-state-metrics"${labels}}`;
const named = (metric: string, label: string, labels = '') =>
  `${metric}{namespace="orders",${label}="shop-lameduck",job="kube-state-metrics"${labels}}`;
const progressing = (deployment: string) =>
  `kube_deployment_status_condition{namespace="orders",deployment="${deployment}",condition="Progressing",status="false"}`;

const exitCode = ofState('kube_pod_container_status_last_terminated_exitcode');
const restarts = ofState('kube_pod_container_status_restarts_total');
const ready = ofState('kube_pod_status_ready', ',condition="true"');
const remaining = scraped('lameduck_shutdown_remaining_seconds');
const overrun = scraped('lameduck_shutdown_overrun_predicted');
const disruptions = named('kube_poddisruptionbudget_status_pod_disruptions_allowed', 'poddisruptionbudget');
const replicas = named('kube_horizontalpodautoscaler_status_current_replicas', 'horizontalpodautoscaler');
const most = named('kube_horizontalpodautoscaler_spec_max_replicas', 'horizontalpodautoscaler');

/**
 * The time series of the remaining shutdown budget of a pod, in seconds. The pod serves requests for five minutes,
 * drains for 46 s, and then no longer exists.
 */
const drained: Sampled = (second) => {
  if (second < 300) return undefined;
  return second < 346 ? 346 - second : 'stale';
};
const flapping: Sampled = (second) => Math.floor(second / 60) % 2;

interface Case {
  readonly at: string;
  readonly fires: Series;
  /** Series of metrics with which the alert must not fire. */
  readonly silent: Series;
  /** By default, the alert must have the label `pod`. If `isOnPod` is false, the alert has no such label. */
  readonly isOnPod?: false;
  readonly says: RegExp;
}

/**
 * For each alert, two sets of time series. With the set `fires`, the alert must fire. With the set `silent`, the alert
 * must not fire.
 */
const cases: Readonly<Record<string, Case>> = {
  LameduckShutdownWouldCutRequests: {
    at: '7m',
    fires: { [overrun]: always(1) },
    silent: { [overrun]: steps([0, 1], [180, 0], [210, 1]) },
    says: /could not drain within its shutdown budget/,
  },
  LameduckShutdownRunsOutOfTime: {
    at: '8m',
    fires: { [overrun]: steps([0, 0], [310, 1], [346, 'stale']), [remaining]: drained },
    silent: { [overrun]: steps([0, 1], [290, 0], [346, 'stale']), [remaining]: drained },
    // The time series of the pod end at second 346. With a scrape interval of 15 s, the last scrape is 8 s before this
    // end. With a scrape interval of 30 s, the last scrape is 5 s before this end.
    says: /will cut requests: [85]s of the shutdown budget were left at the last scrape/,
  },
  LameduckRequestsCut: {
    at: '10m',
    fires: {
      [scraped('lameduck_shutdown_requests_total', ',outcome="cut"')]: steps([0, 0], [100, 2], [140, 'stale']),
    },
    silent: { [scraped('lameduck_shutdown_requests_total', ',outcome="answered"')]: (second) => second },
    says: /cut 2 requests/,
  },
  LameduckHookFails: {
    at: '5m',
    // The post-start hook failed before the first scrape, so the first value of its failure counter is 1. After a
    // minute, the pod no longer exists. The alert must fire nevertheless.
    fires: { [scraped('lameduck_hook_failures_total', ',kind="post-start"')]: steps([0, 1], [60, 'stale']) },
    silent: { [scraped('lameduck_hook_failures_total', ',kind="post-start"')]: always(0) },
    says: /A post-start hook of shop-lameduck-5d9c7b-x2x4z has failed/,
  },
  LameduckEventLoopBlocked: {
    at: '5m',
    fires: { [scraped('lameduck_event_loop_stalls_total')]: steps([0, 0], [120, 1]) },
    silent: { [scraped('lameduck_event_loop_stalls_total')]: always(0) },
    says: /was blocked/,
  },
  LameduckIsNotScraped: {
    at: '25m',
    fires: {
      [scraped('lameduck_build_info')]: steps([0, 1], [120, 'stale']),
      [named('kube_deployment_status_replicas', 'deployment')]: always(2),
    },
    silent: { [scraped('lameduck_build_info')]: always(1) },
    isOnPod: false,
    says: /scrapes no pod/,
  },
  LameduckContainerKilled: {
    at: '5m',
    fires: { [exitCode]: steps([120, 137]), [restarts]: steps([0, 0], [120, 1]) },
    // In the time series of `silent`, the container was killed long before the first scrape. The exit code is then not
    // new, so the alert must not fire.
    silent: { [exitCode]: always(137), [restarts]: always(1) },
    says: /exit code 137/,
  },
  LameduckLeadershipLost: {
    at: '5m',
    fires: { [exitCode]: steps([120, 83]), [restarts]: steps([0, 0], [120, 1]) },
    silent: { [exitCode]: steps([120, 80]), [restarts]: steps([0, 0], [120, 1]) },
    says: /exit code 83/,
  },
  LameduckContainerRestarts: {
    at: '30m15s',
    fires: { [restarts]: (second) => Math.min(5, Math.floor(second / 60)) },
    // The default threshold of the alert is 3 restarts.
    silent: { [restarts]: (second) => Math.min(3, Math.floor(second / 60)) },
    says: /has restarted 5 times/,
  },
  LameduckReadinessFlaps: {
    at: '14m',
    fires: { [ready]: flapping },
    silent: { [ready]: steps([0, 0], [60, 1], [300, 0], [360, 1]) },
    says: /alternates/,
  },
  LameduckRolloutIsStuck: {
    at: '8m',
    fires: { [progressing('shop-lameduck')]: always(1) },
    silent: { [progressing('other')]: always(1) },
    isOnPod: false,
    says: /makes no progress/,
  },
  LameduckNodesCannotBeDrained: {
    at: '17m',
    fires: { [disruptions]: always(0) },
    silent: { [disruptions]: steps([0, 0], [600, 1], [660, 0]) },
    isOnPod: false,
    says: /allows no eviction/,
  },
  LameduckAtMaximumReplicas: {
    at: '17m',
    fires: { [replicas]: always(10), [most]: always(10) },
    silent: { [replicas]: always(9), [most]: always(10) },
    isOnPod: false,
    says: /maximum number of replicas/,
  },
};

// Prometheus has a time series of `lameduck_build_info` for every pod with lameduck.
const known = { [scraped('lameduck_build_info')]: always(1) };

const trials = (which: 'fires' | 'silent'): Trial[] =>
  Object.entries(cases).map(([alert, one]) => ({ alert, at: one.at, series: { ...known, ...one[which] } }));

describe('H-145 H-146 HC-30 each alert of the chart fires for its own cause, and for no other cause', () => {
  it('every alert of the chart has a test with series for which it fires, and series for which it does not', async () => {
    for (const scope of scopes) {
      const alerts = rulesOf(await metricRules({ prometheusRule: { scope } })).map(({ alert }) => alert);
      assert.deepEqual(alerts, Object.keys(cases));
    }
  });

  for (const scope of scopes) {
    for (const scraping of scrapings) {
      const title = `scope ${scope}, scraped every ${String(scraping.interval)} s, at ${String(scraping.offset)} s`;
      it(`each alert fires with its labels, and only for its own cause: ${title}`, { skip: noPromtool() }, async () => {
        const groups = await metricRules({ prometheusRule: { scope } });
        const reports = await fired(groups, trials('fires'), scraping);
        for (const [index, [alert, { isOnPod = true, says }]] of Object.entries(cases).entries()) {
          const report = reports[index] ?? '';
          const labels = ['release="shop"', 'namespace="orders"', 'workload="shop-lameduck"'];
          for (const label of isOnPod ? [...labels, `pod="${pod}"`] : labels)
            assert.ok(report.includes(label), alert + report);
          assert.match(report, says, alert);
          assert.doesNotMatch(report, /\n\s+1:/, `${alert} fires once`);
        }
        const silent = await fired(groups, trials('silent'), scraping);
        assert.deepEqual(
          silent,
          Object.keys(cases).map(() => ''),
        );
      });
    }
  }

  it(
    'if two Helm releases are in one namespace, each has alerts only for its own pods',
    { skip: noPromtool() },
    async () => {
      const shop = scraped('lameduck_shutdown_overrun_predicted');
      const cart = shop.replaceAll('shop', 'cart');
      const series = { [shop]: always(1), [cart]: always(1) };
      const one = { alert: 'LameduckShutdownWouldCutRequests', at: '7m', series };
      const groups = await metricRules({ prometheusRule: { scope: 'cluster' } });
      const [report = ''] = await fired(groups, [one], { interval: 30, offset: 0 });
      assert.match(report, /release="cart".*workload="cart-lameduck"[\s\S]*release="shop".*workload="shop-lameduck"/);
      const [own = ''] = await fired(await metricRules(), [one], { interval: 30, offset: 0 });
      assert.doesNotMatch(own, /cart/);
    },
  );

  it(
    'with prometheusRule.scope: cluster, the alerts ignore pods that do not use lameduck',
    { skip: noPromtool() },
    async () => {
      const series = { [restarts]: cases['LameduckContainerRestarts']?.fires[restarts] ?? always(0) };
      const groups = await metricRules({ prometheusRule: { scope: 'cluster' } });
      const one = { alert: 'LameduckContainerRestarts', at: '30m', series };
      assert.deepEqual(await fired(groups, [one], { interval: 30, offset: 0 }), ['']);
    },
  );

  it('with lameduck.enabled: false, the chart creates no alert about missing metrics of the release', async () => {
    const off = { lameduck: { enabled: false }, prometheusRule: { enabled: true } };
    const names = rulesOf(await metricRules(off)).map(({ alert }) => alert);
    assert.ok(!names.includes('LameduckIsNotScraped') && names.includes('LameduckContainerKilled'));
  });

  it('an alert that needs more than one event does not fire after a single event', { skip: noPromtool() }, async () => {
    const names = [
      'LameduckHookFails',
      'LameduckEventLoopBlocked',
      'LameduckContainerKilled',
      'LameduckLeadershipLost',
    ];
    const rules = Object.fromEntries(names.map((name) => [name, { threshold: 1 }]));
    const groups = await metricRules({ alerts: { rules } });
    // The test evaluates each alert 15 s after the last sample of its time series. So increase() in the alert's
    // expression must extrapolate beyond this sample.
    const once = names.map((alert) => ({ alert, at: '14m15s', series: { ...known, ...cases[alert]?.fires } }));
    for (const scraping of scrapings) assert.deepEqual(await fired(groups, once, scraping), ['', '', '', '']);
  });

  it('the values can switch each alert off, and can set its duration, severity and threshold', async () => {
    const names = rulesOf(await metricRules()).map(({ alert }) => alert);
    for (const name of names) {
      const left = rulesOf(await metricRules({ alerts: { rules: { [name]: { enabled: false } } } }));
      assert.deepEqual(
        left.map(({ alert }) => alert),
        names.filter((one) => one !== name),
      );
    }
    const rules = { LameduckContainerRestarts: { threshold: 7, for: '2m', severity: 'page' } };
    const rule = rulesOf(await metricRules({ alerts: { rules } })).find(({ expr }) => expr.endsWith('> 7'));
    assert.deepEqual([rule?.alert, rule?.for, rule?.labels['severity']], ['LameduckContainerRestarts', '2m', 'page']);
    const off = { LameduckShutdownFailed: { enabled: false } };
    assert.equal(rulesOf(await logRules({ alerts: { rules: off } })).length, 1);
  });

  it('each alert has a summary, a description, a severity, and the labels and annotations from the values', async () => {
    // A severity is a string, even if it looks like a number.
    const alerts = { critical: '1', labels: { team: 'shop' }, runbookUrl: 'https://runbooks.example/a' };
    const values = { alerts };
    for (const rule of [...rulesOf(await metricRules(values)), ...rulesOf(await logRules(values))]) {
      assert.ok(rule.annotations.summary.endsWith('.') && rule.annotations.description.endsWith('.'), rule.alert);
      assert.ok(['warning', '1'].includes(rule.labels['severity'] ?? ''), rule.alert);
      assert.equal(rule.labels['team'], 'shop');
      assert.equal(rule.labels['release'], 'shop');
      assert.equal(rule.annotations.runbook_url, `https://runbooks.example/a#${rule.alert.toLowerCase()}`);
    }
  });

  it('docs/alerts.md has a section for each alert, and no other section', async () => {
    const page = readPage('docs/alerts.md');
    const all = [...rulesOf(await metricRules()), ...rulesOf(await logRules())];
    for (const { alert } of all) assert.ok(page.includes(`\n### ${alert}\n`), alert);
    assert.equal(page.match(/^### /gm)?.length, all.length);
  });
});

test('one Helm release without pods can install the alerts for a whole cluster', async () => {
  const scope = { enabled: true, scope: 'cluster' };
  const values = { rulesOnly: true, prometheusRule: scope, logRules: scope, dashboard: { enabled: true } };
  const all = (await objects(values)).map(({ kind }) => kind).sort();
  assert.deepEqual(all, ['ConfigMap', 'ConfigMap', 'PrometheusRule']);
  for (const { expr } of rulesOf(await logRules({ logRules: scope }))) {
    assert.match(expr, /^label_replace\(sum by \(namespace, pod.*\{pod=~"\.\+"\} \|= /);
  }
});

test('the alerts on the log of a whole cluster name the Deployment of each pod, even if Kubernetes has shortened the pod names', async () => {
  const values = { rulesOnly: true, logRules: { enabled: true, scope: 'cluster' } };
  for (const { expr } of rulesOf(await logRules(values))) {
    const [, pattern = ''] = /, "workload", "\$1", "pod", "([^"]*)"\)/.exec(expr) ?? [];
    for (const length of [3, 46, 47, 49, 54]) {
      const deployment = `${'n-'.repeat(27).slice(0, length - 1)}n`;
      const name = `${`${deployment}-5d9c7b8f6d-`.slice(0, 58)}x2x4z`;
      assert.equal(new RegExp(`^(?:${pattern})$`).exec(name)?.[1], deployment, name);
    }
  }
});

test('H-146 HC-30 the alerts about cut requests and failed shutdowns are computed from the final log line of each pod', async () => {
  const rules = rulesOf(await logRules());
  assert.deepEqual(
    rules.map(({ alert }) => alert),
    ['LameduckShutdownCutRequests', 'LameduckShutdownFailed'],
  );
  const record = readPage('docs/log.md');
  const [, example = ''] = /```json\n(.*?)```/s.exec(record) ?? [];
  const line = JSON.parse(example) as { schema: string; exitCode: number; requests: { cut: number } };
  // When Loki parses JSON, it joins nested field names with an underscore. So the log rules use names such as
  // `requests_cut`.
  assert.equal(typeof line.requests.cut, 'number');
  assert.equal(typeof line.exitCode, 'number');
  for (const { expr } of rules) {
    assert.ok(expr.includes(`|= \`${line.schema}\``), expr);
    assert.match(expr, /\{namespace="orders",pod=~"shop-lameduck-\[a-z0-9\]\+-\[a-z0-9\]\+"\}/);
  }
  assert.match(rules[0]?.expr ?? '', /unwrap requests_cut/);
  assert.match(rules[1]?.expr ?? '', /exitCode != `0`/);
});

test('H-013 H-146 the alerts match the pods of a Deployment of any name, even if Kubernetes shortens the name', async () => {
  for (const length of [3, 46, 47, 49, 54]) {
    const fullnameOverride = 'n'.repeat(length);
    // The name of a pod is the name of its ReplicaSet with a hyphen, cut to 58 characters, and five random characters.
    const name = `${`${fullnameOverride}-5d9c7b8f6d-`.slice(0, 58)}x2x4z`;
    for (const { alert, expr } of rulesOf(await metricRules({ fullnameOverride }))) {
      for (const [, pattern = ''] of expr.matchAll(/pod=~"([^"]*)"/g)) {
        assert.match(name, new RegExp(`^(?:${pattern})$`), `${alert}: ${String(length)}`);
        assert.doesNotMatch(`${fullnameOverride}-other-5d9c7b8f6d-x2x4z`, new RegExp(`^(?:${pattern})$`), alert);
      }
    }
  }
});
