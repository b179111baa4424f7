import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { metricsPage } from '../../scripts/docs/metrics-page.ts';
import { readPage } from '../support/markdown.ts';
import { chart, object, run, template, tools, type Values } from './chart.ts';

interface Rule {
  alert: string;
  expr: string;
  for: string;
  labels: Record<string, string>;
  annotations: { summary: string; description: string; runbook_url?: string };
}

interface Groups {
  groups: { name: string; rules: Rule[] }[];
}

const rulesOf = ({ groups }: Groups): Rule[] => groups.flatMap(({ rules }) => rules);

async function metricRules(values: Values = {}): Promise<Groups> {
  const all = { prometheusRule: { enabled: true }, autoscaling: { enabled: true }, ...values };
  return (await object('PrometheusRule', all))['spec'] as Groups;
}

async function logRules(values: Values = {}): Promise<Groups> {
  const { data } = (await object('ConfigMap', { logRules: { enabled: true }, ...values })) as unknown as {
    data: Record<string, string>;
  };
  return parse(data['shop-lameduck.yaml'] ?? '') as Groups;
}

const pod = 'shop-lameduck-5d9c7b-x2x4z';
const ours = (metric: string, labels = '') => `${metric}{namespace="orders",pod="${pod}"${labels}}`;
const others = (metric: string, labels = '') =>
  `${metric}{namespace="orders",pod="other-shop-lameduck-5d9c7b-x2x4z"${labels}}`;
const container = ',container="server"';

const allowed =
  'kube_poddisruptionbudget_status_pod_disruptions_allowed{namespace="orders",poddisruptionbudget="shop-lameduck"}';
const replicas =
  'kube_horizontalpodautoscaler_status_current_replicas{namespace="orders",horizontalpodautoscaler="shop-lameduck"}';

/** What each alert fires on, by series over minutes, and what must not make it fire. */
const cases: Readonly<
  Record<string, { at: string; series: Record<string, string>; instead?: Record<string, string> }>
> = {
  LameduckShutdownWouldCutRequests: {
    at: '6m',
    series: { [ours('lameduck_shutdown_overrun_predicted')]: '1x10' },
    instead: { [ours('lameduck_shutdown_overrun_predicted')]: '1 1 0 1 1 1 1 0 0 0' },
  },
  LameduckShutdownRunsOutOfTime: {
    at: '2m',
    series: {
      [ours('lameduck_shutdown_overrun_predicted')]: '1x10',
      [ours('lameduck_shutdown_remaining_seconds')]: '9x10',
    },
    instead: {
      [ours('lameduck_shutdown_overrun_predicted')]: '1x10',
      [ours('lameduck_shutdown_remaining_seconds')]: '10x10',
    },
  },
  LameduckRequestsCut: {
    at: '10m',
    // The pod is gone two minutes after it has cut a request.
    series: { [ours('lameduck_shutdown_requests_total', ',outcome="cut"')]: '0 1 2 stale' },
    instead: { [ours('lameduck_shutdown_requests_total', ',outcome="answered"')]: '0+100x10' },
  },
  LameduckHookFails: {
    at: '5m',
    series: { [ours('lameduck_hook_failures_total', ',kind="destroy"')]: '0 0 1x10' },
    instead: { [ours('lameduck_hook_failures_total', ',kind="destroy"')]: '1x10' },
  },
  LameduckEventLoopBlocked: {
    at: '5m',
    series: { [ours('lameduck_event_loop_stalls_total')]: '0 0 1x10' },
    instead: { [others('lameduck_event_loop_stalls_total')]: '0 0 1x10' },
  },
  LameduckIsNotScraped: {
    at: '20m',
    series: { [others('lameduck_build_info')]: '1x30' },
    instead: { [ours('lameduck_build_info')]: '1x30' },
  },
  LameduckContainerKilled: {
    at: '5m',
    series: {
      [ours('kube_pod_container_status_last_terminated_exitcode', container)]: '_ _ 137x10',
      [ours('kube_pod_container_status_restarts_total', container)]: '0 0 1x10',
    },
    // It was long ago.
    instead: {
      [ours('kube_pod_container_status_last_terminated_exitcode', container)]: '137x10',
      [ours('kube_pod_container_status_restarts_total', container)]: '1x10',
    },
  },
  LameduckContainerRestarts: {
    at: '30m',
    series: { [ours('kube_pod_container_status_restarts_total', container)]: '0+1x5 5x30' },
    instead: { [ours('kube_pod_container_status_restarts_total', container)]: '0+1x2 2x30' },
  },
  LameduckReadinessFlaps: {
    at: '14m',
    series: { [ours('kube_pod_status_ready', ',condition="true"')]: '0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1' },
    instead: { [ours('kube_pod_status_ready', ',condition="true"')]: '0 1x5 0 1x10' },
  },
  LameduckRolloutIsStuck: {
    at: '8m',
    series: { [progressing('shop-lameduck')]: '1x20' },
    instead: { [progressing('other')]: '1x20' },
  },
  LameduckNodesCannotBeDrained: {
    at: '16m',
    series: { [allowed]: '0x20' },
    instead: { [allowed]: '0x10 1 0x10' },
  },
  LameduckAtMaximumReplicas: {
    at: '16m',
    series: { [replicas]: '10x20' },
    instead: { [replicas]: '9x20' },
  },
};

function progressing(deployment: string): string {
  return `kube_deployment_status_condition{namespace="orders",deployment="${deployment}",condition="Progressing",status="false"}`;
}

describe('H-145 H-146 HC-30 the alerts', () => {
  it('are each tried, by what makes them fire and what does not', async () => {
    assert.deepEqual(
      rulesOf(await metricRules()).map(({ alert }) => alert),
      Object.keys(cases),
    );
  });

  it('fire on what they are for, and on nothing else', { skip: noPromtool() }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'alerts-'));
    try {
      writeFileSync(join(folder, 'rules.yaml'), stringify(await metricRules()));
      for (const [alert, { at, series, instead }] of Object.entries(cases)) {
        writeFileSync(join(folder, 'fires.yaml'), trial(alert, at, series));
        const fired = await run(join(tools, 'promtool'), ['test', 'rules', join(folder, 'fires.yaml')]);
        // It is expected not to fire, and the complaint shows with which labels it did.
        assert.match(fired.output + fired.errors, new RegExp(`got:\\[\\s*0:\\s*Labels:\\{alertname="${alert}"`), alert);
        writeFileSync(join(folder, 'silent.yaml'), trial(alert, at, instead ?? {}));
        const silent = await run(join(tools, 'promtool'), ['test', 'rules', join(folder, 'silent.yaml')]);
        assert.equal(silent.code, 0, `${alert}: ${silent.output}${silent.errors}`);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('have a summary, a description and a severity, and what the values add', async () => {
    // A severity is a text, also where it looks like a number.
    const alerts = { critical: '1', labels: { team: 'shop' }, runbookUrl: 'https://runbooks.example/a' };
    const values = { alerts };
    for (const rule of [...rulesOf(await metricRules(values)), ...rulesOf(await logRules(values))]) {
      assert.ok(rule.annotations.summary.endsWith('.') && rule.annotations.description.endsWith('.'), rule.alert);
      assert.ok(['warning', '1'].includes(rule.labels['severity'] ?? ''), rule.alert);
      assert.equal(rule.labels['team'], 'shop');
      assert.equal(rule.annotations.runbook_url, `https://runbooks.example/a#${rule.alert.toLowerCase()}`);
    }
  });
});

// Where everything is required, what is missing fails.
function noPromtool(): string | false {
  const isThere = existsSync(join(tools, 'promtool')) || process.env['CHART_CLUSTER'] === 'required';
  return isThere ? false : 'there is no promtool';
}

// An hour is evaluated, of which promtool asks for one moment.
function trial(alert: string, at: string, series: Readonly<Record<string, string>>): string {
  return stringify({
    rule_files: ['rules.yaml'],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: Object.entries(series).map(([one, values]) => ({ series: one, values })),
        alert_rule_test: [{ eval_time: at, alertname: alert, exp_alerts: [] }],
      },
    ],
  });
}

test('H-146 HC-30 what cannot be scraped any more is alerted on by the final line of the log', async () => {
  const rules = rulesOf(await logRules());
  assert.deepEqual(
    rules.map(({ alert }) => alert),
    ['LameduckShutdownCutRequests', 'LameduckShutdownFailed'],
  );
  const record = readPage('docs/log.md');
  const [, example = ''] = /```json\n(.*?)```/s.exec(record) ?? [];
  const line = JSON.parse(example) as { schema: string; exitCode: number; requests: { cut: number } };
  // Loki joins nested names with an underscore: these are the fields that the rules take.
  assert.equal(typeof line.requests.cut, 'number');
  assert.equal(typeof line.exitCode, 'number');
  for (const { expr } of rules) {
    assert.ok(expr.includes(`|= \`${line.schema}\``), expr);
    assert.match(expr, /\{namespace="orders",pod=~"shop-lameduck-\[a-z0-9\]\+-\[a-z0-9\]\+"\}/);
  }
  assert.match(rules[0]?.expr ?? '', /unwrap requests_cut/);
  assert.match(rules[1]?.expr ?? '', /exitCode != `0`/);
});

test('H-013 H-146 the alerts know the pods of a Deployment of any name, as Kubernetes cuts it for them', async () => {
  for (const length of [3, 46, 47, 49, 54]) {
    const fullnameOverride = 'n'.repeat(length);
    // A pod is called after its ReplicaSet and a hyphen, cut to 58, and five letters more.
    const name = `${`${fullnameOverride}-5d9c7b8f6d-`.slice(0, 58)}x2x4z`;
    for (const { alert, expr } of rulesOf(await metricRules({ fullnameOverride }))) {
      for (const [, pattern = ''] of expr.matchAll(/pod=~"([^"]*)"/g)) {
        assert.match(name, new RegExp(`^(?:${pattern})$`), `${alert}: ${String(length)}`);
        assert.doesNotMatch(`${fullnameOverride}-other-5d9c7b8f6d-x2x4z`, new RegExp(`^(?:${pattern})$`), alert);
      }
    }
  }
});

test('H-147 HC-30 the dashboard and the alerts ask for metrics that there are', async () => {
  const page = metricsPage();
  const dashboard = readFileSync(join(chart, 'files', 'dashboard.json'), 'utf8');
  const asked = dashboard + (await template({ prometheusRule: { enabled: true } }));
  const metrics = new Set(asked.match(/\b(lameduck|http_server|kubernetes_health)[a-z]*_[a-z_]+\b(?=[{(])/g));
  assert.ok(metrics.size > 12, [...metrics].join());
  for (const metric of metrics) {
    assert.ok(page.includes(`\`${metric.replace(/_(bucket|count)$/, '')}\``), metric);
  }
});

test('H-147 HC-30 the dashboard is Grafana’s JSON, as it is in the file', async () => {
  const { data, metadata } = (await object('ConfigMap', { dashboard: { enabled: true } })) as unknown as {
    data: Record<string, string>;
    metadata: { labels: Record<string, string> };
  };
  assert.equal(`${data['lameduck.json'] ?? ''}\n`, readFileSync(join(chart, 'files', 'dashboard.json'), 'utf8'));
  const { panels } = JSON.parse(data['lameduck.json'] ?? '') as { panels: { title: string; targets: object[] }[] };
  assert.ok(panels.length >= 8 && panels.every(({ title, targets }) => title !== '' && targets.length > 0));
  assert.equal(metadata.labels['grafana_dashboard'], '1');
});
