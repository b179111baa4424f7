// One wrong value, and the one line that refuses it: its path, the value, the rule and the remedy.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refusals, type Values } from './chart.ts';

/** Refusal is a wrong value with the line that refuses it. */
export interface Refusal {
  readonly title: string;
  readonly values: Values;
  readonly line: RegExp;
}

/** refusal makes one, with its title as the first argument, where it is found by its numbers. */
export function refusal(title: string, values: Values, line: RegExp): Refusal {
  return { title, values, line };
}

/** refused tests that each is refused, and that nothing else is refused because of it. */
export function refused(area: string, list: readonly Refusal[]): void {
  describe(`what is refused: ${area}`, { concurrency: 2 }, () => {
    for (const { title, values, line } of list) {
      it(title, async () => {
        const lines = await refusals(values);
        assert.equal(lines.length, 1, lines.join('\n'));
        assert.match(lines[0] ?? '', line);
      });
    }
  });
}
