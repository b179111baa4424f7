// Tests that helm lint, promtool and `lameduck lint` accept the chart values of each example in value-sets.ts.
// cluster.test.ts sends the rendered objects of each example to an API server.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it, test } from 'node:test';
import { stringify } from 'yaml';
import { findingsIn } from '../../cli/lint/findings.ts';
import { chart, helms, objects, run, template, tools, type KubernetesObject } from './chart.ts';
import { valueSets } from './value-sets.ts';

describe('H-151 H-152 HC-32 the chart values of each documented example are valid', { concurrency: 2 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'value-sets-'));

  after(() => {
    rmSync(folder, { recursive: true });
  });

  for (const [index, [name, values]] of Object.entries(valueSets).entries()) {
    it(`helm lint accepts the chart values "${name}", and each version of Helm renders the same objects`, async () => {
      const file = join(folder, `${String(index)}.json`);
      writeFileSync(file, JSON.stringify(values));
      const rendered = await Promise.all(
        helms.map(async (helm) => {
          const { code, output, errors } = await run(helm, ['lint', '--strict', chart, '--values', file]);
          assert.equal(code, 0, `${output}${errors}`);
          return await objects(values, { helm });
        }),
      );
      const [first = [], second = []] = rendered.map((list) => [...list].sort(byKindAndName));
      assert.deepEqual(first, second);
      for (const { kind, spec } of first) if (kind === 'PrometheusRule') await checkRules(spec, `${file}.rules`);
    });
  }
});

describe('H-050 `lameduck lint` finds no error in the documented examples of chart values', { concurrency: 2 }, () => {
  // Examples whose chart values allow lost requests. `lameduck lint` must report errors for these examples, so they are
  // skipped here.
  const risky = ['a single pod', 'downtime', 'a short delay', 'no disruption budget'];
  for (const [name, values] of Object.entries(valueSets)) {
    if (risky.includes(name)) continue;
    it(`for the chart values "${name}", lameduck lint reports no error, and finds no load balancer whose response timeout is longer than the drain`, async () => {
      const found = findingsIn(await template(values)).filter(
        ({ severity, rule }) => severity === 'error' || rule === 'drain-shorter-than-proxy-timeout',
      );
      assert.deepEqual(found, []);
    });
  }
});

test('the documentation describes at least 60 examples of chart values', () => {
  assert.ok(Object.keys(valueSets).length >= 60, String(Object.keys(valueSets).length));
});

function byKindAndName(one: KubernetesObject, other: KubernetesObject): number {
  return `${one.kind}/${one.metadata.name}`.localeCompare(`${other.kind}/${other.metadata.name}`);
}

async function checkRules(rules: unknown, file: string): Promise<void> {
  writeFileSync(file, stringify(rules));
  const { code, output, errors } = await run(join(tools, 'promtool'), ['check', 'rules', '--lint=all', file]);
  assert.equal(code, 0, `${output}${errors}`);
}
