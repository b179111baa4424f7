// Each error message in the chart's templates needs a test that expects it. Finds the messages without such a test.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { chart, refusals } from './chart.ts';
import { collect } from './refusal.ts';

// The schema rejects unknown values of this chart. The template `_includes.tpl` rejects unknown values of the library
// chart, and library.test.ts tests this template.
const unknownValues = '_includes.tpl';

/**
 * Matches each statement in a chart template that adds an error about a chart value to the errors of the chart. Such a
 * statement includes `lameduck.refuse` or `lameduck.refuseDuplicates`.
 */
const statement = /\{\{- include "lameduck\.refuse(?:Duplicates)?" \(list \$problems(?! \$path \$name \$rule)/g;

/**
 * `number()` appends a position to each error message in the templates of a chart: the file and line of the statement
 * that adds the error. It returns all these positions.
 */
function number(folder: string): string[] {
  const places: string[] = [];
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.tpl') || file.endsWith(unknownValues)) continue;
    const text = readFileSync(join(folder, file), 'utf8');
    const numbered = text
      .replace('(index . 3) (index . 4) -}}', '(index . 3) (printf "%s @%s" (index . 4) $problems.place) -}}')
      .replace(statement, (found, offset: number) => {
        const place = `${file}:${String(text.slice(0, offset).split('\n').length)}`;
        places.push(place);
        return `{{- $_ := set $problems "place" "${place}" -}}${found}`;
      });
    writeFileSync(join(folder, file), numbered);
  }
  return places;
}

test('HC-04 for each error message in the templates of the chart, a test has values that cause only this error', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'refusals-'));
  t.after(() => {
    rmSync(folder, { recursive: true });
  });
  cpSync(chart, folder, { recursive: true });
  const places = number(folder);
  assert.ok(places.length > 80, String(places.length));

  const names = readdirSync(import.meta.dirname).filter((name) => /^refusals-(?!complete).*\.test\.ts$/.test(name));
  const list = await collect(names);
  const seen = new Set<string>();
  // Two asynchronous loops take test cases from the same list. So at most two Helm processes run at once, as in the
  // other tests of the chart.
  const render = async (): Promise<void> => {
    for (let next = list.pop(); next !== undefined; next = list.pop()) {
      const lines = await refusals(next.values, { chart: folder, args: next.args });
      assert.equal(lines.length, 1, next.title);
      seen.add(/ @(\S+)$/.exec(lines[0] ?? '')?.[1] ?? '');
    }
  };
  await Promise.all([render(), render()]);
  assert.deepEqual(
    places.filter((place) => !seen.has(place)),
    [],
  );
});
