// The chart as Helm renders it: what is tested is what comes out, with each Helm that .ci/chart-tools has built.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { root } from '../support/markdown.ts';

/** The folder of the chart. */
export const chart = join(root, 'helm', 'lameduck');

/** The folder that .ci/chart-tools fills. */
export const tools =
  process.env['CHART_TOOLS'] ??
  join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'lameduck-chart-tools');

/** The Helms that the chart is for. */
export const helms = ['helm3', 'helm4'].map((name) => join(tools, name));

for (const helm of helms) assert.ok(existsSync(helm), `${helm} is missing: bash .ci/chart-tools brings it`);

/** Values are given to Helm as a file would be. */
export type Values = Record<string, unknown>;

/** KubernetesObject is as much of an object as the tests look at. */
export interface KubernetesObject {
  kind: string;
  apiVersion: string;
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> };
  // Every kind has its own.
  [field: string]: unknown;
}

interface Outcome {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** run runs a program to its end, with `input` as its standard input. */
export function run(program: string, args: readonly string[], input = ''): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(program, args, { maxBuffer: 2 ** 24, timeout: 60_000 }, (_error, output, errors) => {
      resolve({ code: child.exitCode, output, errors });
    });
    // A program that refuses its arguments has ended before it reads.
    child.stdin?.on('error', () => undefined).end(input);
  });
}

/** Rendering is how a chart is rendered where it is not as always. */
export interface Rendering {
  readonly helm?: string;
  readonly release?: string;
  readonly chart?: string;
  readonly args?: readonly string[];
}

/** template returns what `helm template` prints, or rejects with why it does not. */
export async function template(values: Values = {}, rendering: Rendering = {}): Promise<string> {
  const { code, output, errors } = await templateOutcome(values, rendering);
  assert.equal(code, 0, errors);
  return output;
}

function templateOutcome(values: Values, rendering: Rendering): Promise<Outcome> {
  const { helm = helms.at(-1) ?? '', release = 'shop', args = [] } = rendering;
  const all = ['template', release, rendering.chart ?? chart, '--namespace', 'orders', '--values', '-', ...args];
  return run(helm, all, JSON.stringify(values));
}

/** documentsIn returns the objects of a manifest. */
export function documentsIn(manifest: string): KubernetesObject[] {
  return parseAllDocuments(manifest).map((document) => document.toJS() as unknown as KubernetesObject);
}

/** objects returns the objects that the chart makes of values. */
export async function objects(values: Values = {}, rendering: Rendering = {}): Promise<KubernetesObject[]> {
  return documentsIn(await template(values, rendering));
}

/** object returns the one object of a kind that the chart makes of values. */
export async function object(kind: string, values: Values = {}, rendering: Rendering = {}): Promise<KubernetesObject> {
  const found = (await objects(values, rendering)).filter((one) => one.kind === kind);
  assert.equal(found.length, 1, `objects of kind ${kind}`);
  return found[0] as KubernetesObject;
}

/** complaint returns why the chart is not rendered with values; it fails when it is. */
export async function complaint(values: Values, rendering: Rendering = {}): Promise<string> {
  const outcome = await templateOutcome(values, rendering);
  assert.notEqual(outcome.code, 0, `rendered with ${JSON.stringify(values)}`);
  return outcome.errors;
}

/** refusals returns the lines of the one message with which the chart refuses values. */
export async function refusals(values: Values, rendering: Rendering = {}): Promise<string[]> {
  const text = await complaint(values, rendering);
  assert.match(text, /lameduck: (a value cannot stay as it is|\d+ of the values cannot stay as they are):/);
  return text.split('\n').flatMap((line) => (line.startsWith('  - ') ? [line.slice(4)] : []));
}
