// Evaluates the alerts as Prometheus does. The series have one sample every 15 or 30 seconds, and begin at any time in
// this interval.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { object, run, tools, type Values } from './chart.ts';

/** Rule is one alert of a file of rules. */
export interface Rule {
  alert: string;
  expr: string;
  for: string;
  labels: Record<string, string>;
  annotations: { summary: string; description: string; runbook_url?: string };
}

/** Groups is the content of a file of Prometheus rules. */
export interface Groups {
  groups: { name: string; rules: Rule[] }[];
}

/**
 * Sampled returns the value of a series at a given second. It returns undefined before the start of the series, and
 * `stale` after its scrape target has disappeared.
 */
export type Sampled = (second: number) => number | 'stale' | undefined;

/**
 * Trial is one evaluation of an alert. It has the name of the alert, and the time series that the alert reads. `at` is
 * how long after the start of these time series the alert is evaluated, such as `6m`.
 */
export interface Trial {
  readonly alert: string;
  readonly at: string;
  readonly series: Readonly<Record<string, Sampled>>;
}

/**
 * Scraping has two times in seconds: the interval between two scrapes, and the offset from the start of a time series
 * to its first scrape.
 */
export interface Scraping {
  readonly interval: 15 | 30;
  readonly offset: number;
}

/**
 * `scrapings` lists pairs of a scrape interval and the time of the first scrape. Each alert is tested with each pair.
 */
export const scrapings: readonly Scraping[] = [
  { interval: 15, offset: 7 },
  { interval: 30, offset: 19 },
];

/** `always()` returns a series with a constant value. */
export const always =
  (value: number): Sampled =>
  () =>
    value;

/**
 * `steps()` returns a time series. Each of its values begins at the given second, and applies until the next value
 * begins.
 */
export function steps(...changes: readonly [second: number, value: number | 'stale'][]): Sampled {
  return (second) => changes.findLast(([from]) => second >= from)?.[1];
}

/** rulesOf returns the alert rules of all rule groups. */
export const rulesOf = ({ groups }: Groups): Rule[] => groups.flatMap(({ rules }) => rules);

/** metricRules returns the alert rules in the PrometheusRule that the chart renders. */
export async function metricRules(values: Values = {}): Promise<Groups> {
  const { prometheusRule = {}, ...rest } = values;
  const all = { ...rest, prometheusRule: { enabled: true, ...(prometheusRule as object) } };
  return (await object('PrometheusRule', all))['spec'] as Groups;
}

/**
 * noPromtool returns the reason to skip the tests of the rules, or false. If promtool is missing but required, it
 * throws.
 */
export function noPromtool(): string | false {
  const isThere = existsSync(join(tools, 'promtool')) || process.env['CHART_CLUSTER'] === 'required';
  return isThere ? false : 'there is no promtool';
}

/**
 * `fired()` runs promtool, and returns one report for each trial, in the order of the trials. A report lists the firing
 * alerts with their labels and annotations, and is empty if no alert fires.
 */
export async function fired(groups: Groups, trials: readonly Trial[], scraping: Scraping): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'alerts-'));
  try {
    writeFileSync(join(folder, 'rules.yaml'), stringify(groups));
    const tests = trials.map((trial, index) => ({ name: `trial-${String(index)}.`, ...written(trial, scraping) }));
    const file = { rule_files: ['rules.yaml'], evaluation_interval: '15s', tests };
    writeFileSync(join(folder, 'trials.yaml'), stringify(file, { aliasDuplicateObjects: false }));
    const { output, errors } = await run(join(tools, 'promtool'), ['test', 'rules', join(folder, 'trials.yaml')]);
    const reports = (output + errors).split(/\n(?=\s+name: trial-)/);
    assert.match(reports[0] ?? '', /Unit Testing/, output + errors);
    return trials.map((_, index) => {
      const own = reports.find((report) => report.includes(`name: trial-${String(index)}.`)) ?? '';
      return own.slice(Math.max(0, own.indexOf('got:')));
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** checkRules asserts that promtool can parse all given Prometheus rules. */
export async function checkRules(groups: object): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'alerts-'));
  try {
    writeFileSync(join(folder, 'rules.yaml'), stringify(groups));
    const { code, output, errors } = await run(join(tools, 'promtool'), ['check', 'rules', join(folder, 'rules.yaml')]);
    assert.equal(code, 0, output + errors);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const after = (value: Sampled, second: number): ReturnType<Sampled> => (second < 0 ? undefined : value(second));

// The test file for promtool expects that no alert fires. So promtool prints each alert that fires as an unexpected
// alert.
function written({ alert, at, series }: Trial, { interval, offset }: Scraping): object {
  const samples = (value: Sampled): string =>
    Array.from({ length: 3_600 / interval }, (_, index) => after(value, index * interval - offset) ?? '_').join(' ');
  return {
    interval: `${String(interval)}s`,
    input_series: Object.entries(series).map(([one, value]) => ({ series: one, values: samples(value) })),
    alert_rule_test: [{ eval_time: at, alertname: alert, exp_alerts: [] }],
  };
}
