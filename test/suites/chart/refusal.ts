// Tests that the chart rejects an invalid value with exactly one line: the path, the value, the rule and the remedy.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refusals, type Values } from './chart.ts';

/** Refusal is a set of invalid values for the chart, together with the error line that the chart must print for it. */
export interface Refusal {
  readonly title: string;
  readonly values: Values;
  readonly line: RegExp;
  /** Arguments for Helm, such as the version of Kubernetes. */
  readonly args: readonly string[];
}

/**
 * `refusal()` makes a Refusal. The title is the first argument, because the script for docs/conformance.md reads the
 * rule numbers from the first argument.
 */
export function refusal(title: string, values: Values, line: RegExp, args: readonly string[] = []): Refusal {
  return { title, values, line, args };
}

const collected: { list?: Refusal[] } = {};

/**
 * `collect()` returns the chart values that the chart must reject according to the given test files. It imports the
 * files without running their tests.
 */
export async function collect(files: readonly string[]): Promise<Refusal[]> {
  const list: Refusal[] = [];
  collected.list = list;
  for (const file of files) await import(`./${file}`);
  delete collected.list;
  return list;
}

/**
 * `refused` adds one test for each element of `list`. The chart must reject the invalid values of the element, and its
 * error must consist of the expected line for these values.
 */
export function refused(area: string, list: readonly Refusal[]): void {
  if (collected.list !== undefined) {
    collected.list.push(...list);
    return;
  }
  describe(`the chart rejects: ${area}`, { concurrency: 2 }, () => {
    for (const { title, values, line, args } of list) {
      it(title, async () => {
        const lines = await refusals(values, { args });
        assert.equal(lines.length, 1, lines.join('\n'));
        assert.match(lines[0] ?? '', line);
      });
    }
  });
}
