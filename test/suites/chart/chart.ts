// Renders the chart with each version of Helm that .ci/chart-tools has built. The tests check the rendered objects.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { root } from '../../support/markdown.ts';

/** The folder of the chart `lameduck`. */
export const chart = join(root, 'helm', 'lameduck');

/** The folder into which .ci/chart-tools installs Helm and other tools. */
export const tools =
  process.env['CHART_TOOLS'] ??
  join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'lameduck-chart-tools');

/** The versions of Helm that the chart supports. */
export const helms = ['helm3', 'helm4'].map((name) => join(tools, name));

for (const helm of helms) assert.ok(existsSync(helm), `${helm} is missing: run bash .ci/chart-tools to install it`);

/** Values of the chart. A test passes them to Helm in a values file. */
export type Values = Record<string, unknown>;

/** KubernetesObject is a Kubernetes object with only those fields that the tests read. */
export interface KubernetesObject {
  kind: string;
  apiVersion: string;
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> };
  // Further top-level fields of a Kubernetes object, such as `spec`. Not every kind of object has them.
  [field: string]: unknown;
}

interface Outcome {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/**
 * `run()` runs a program to its end, with `input` as its standard input. If the program is written in Go, as Helm is, it
 * collects no garbage. This saves a quarter of the CPU time of Helm.
 */
export function run(program: string, args: readonly string[], input = ''): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = { maxBuffer: 2 ** 24, timeout: 60_000, env: { ...process.env, GOGC: 'off' } };
    const child = execFile(program, args, options, (_error, output, errors) => {
      resolve({ code: child.exitCode, output, errors });
    });
    // A program that rejects its arguments may exit before it reads its input. The write then fails, and the error is
    // ignored.
    child.stdin?.on('error', () => undefined).end(input);
  });
}

/** Rendering has the arguments with which Helm renders a chart. */
export interface Rendering {
  readonly helm?: string;
  readonly release?: string;
  readonly chart?: string;
  readonly args?: readonly string[];
}

/** `template()` returns the output of `helm template`, or rejects with its error message. */
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

/** `objects()` returns the objects that the chart renders for values. */
export async function objects(values: Values = {}, rendering: Rendering = {}): Promise<KubernetesObject[]> {
  return documentsIn(await template(values, rendering));
}

/** `object()` returns the object of a kind that the chart renders for values. It fails unless there is exactly one. */
export async function object(kind: string, values: Values = {}, rendering: Rendering = {}): Promise<KubernetesObject> {
  const found = (await objects(values, rendering)).filter((one) => one.kind === kind);
  assert.equal(found.length, 1, `the chart must render one object of the kind ${kind}`);
  return found[0] as KubernetesObject;
}

/**
 * `complaint()` returns the error message with which the chart rejects the given values. `complaint()` fails if the
 * chart accepts the values.
 */
export async function complaint(values: Values, rendering: Rendering = {}): Promise<string> {
  const outcome = await templateOutcome(values, rendering);
  assert.notEqual(outcome.code, 0, `the chart must reject the values ${JSON.stringify(values)}`);
  return outcome.errors;
}

/** `refusals()` returns the problems that the chart reports for the given values, one string for each problem. */
export async function refusals(values: Values, rendering: Rendering = {}): Promise<string[]> {
  const text = await complaint(values, rendering);
  assert.match(text, /lameduck: (a value is invalid|\d+ values are invalid):/);
  return text.split('\n').flatMap((line) => (line.startsWith('  - ') ? [line.slice(4)] : []));
}
