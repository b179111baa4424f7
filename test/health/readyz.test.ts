// Tests that only readyz.ts has the names and conditions of the checks that lameduck itself adds to /readyz.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const src = new URL('../../src/', import.meta.url);

test('in src/, only readyz.ts has the names and conditions of the checks that lameduck itself adds to /readyz', () => {
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
