// Tests that helm lint and promtool accept each documented set of values. cluster.test.ts sends the objects of each set
// to an API server.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it, test } from 'node:test';
import { stringify } from 'yaml';
import { findingsIn } from '../../cli/lint/findings.ts';
import { chart, helms, objects, run, template, tools, type KubernetesObject } from './chart.ts';
import { valueSets } from './value-sets.ts';

describe('H-151 H-152 HC-32 each documented set of values is valid', { concurrency: 2 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'value-sets-'));

  after(() => {
    rmSync(folder, { recursive: true });
  });

  for (const [index, [name, values]] of Object.entries(valueSets).entries()) {
    it(`helm lint accepts the set of values "${name}", and each version of Helm renders the same objects`, async () => {
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

describe('H-050 `lameduck lint` on the documented sets of values', { concurrency: 2 }, () => {
  // Values with which requests may be lost, so that `lameduck lint` finds errors.
  const risky = ['a single pod', 'downtime', 'a short delay', 'no disruption budget'];
  for (const [name, values] of Object.entries(valueSets)) {
    if (risky.includes(name)) continue;
    it(`for the set of values "${name}", lameduck lint reports neither an error nor a load balancer whose response timeout exceeds the drain`, async () => {
      const found = findingsIn(await template(values)).filter(
        ({ severity, rule }) => severity === 'error' || rule === 'drain-shorter-than-proxy-timeout',
      );
      assert.deepEqual(found, []);
    });
  }
});

test('there are at least 60 documented sets of values', () => {
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
