// Tests that no file of src/ except readyz.ts contains the names of lameduck's own readyz checks, or the conditions
// under which these checks fail.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const src = new URL('../../src/', import.meta.url);

test('in src/, only readyz.ts contains the names of the readyz checks of lameduck, and the conditions under which these checks fail', () => {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  for (const file of files) {
    const code = readFileSync(new URL(file, src), 'utf8');
    assert.doesNotMatch(
      code,
      /\baddReadyz\(\s*['"`]|\baddOwnReadyz\((?!reasons\.|check: )|#createOwn\((?!reasons\.|\{ name|check)|\bfailing\('readyz',[^)]*['"`]\)/,
      `src/${file}`,
    );
  }
});
