// Tests that docs/migrate.md and docs/compare.md name the versions of other packages that the tests install.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPage } from '../support/markdown.ts';

const { dependencies } = JSON.parse(readPage('test/suites/adoption/programs/package.json')) as {
  dependencies: Readonly<Record<string, string>>;
};

for (const page of ['docs/migrate.md', 'docs/compare.md']) {
  test(`${page} names the same versions of other packages as the tests install`, () => {
    const named = [...readPage(page).matchAll(/`([^` ]+)` (\d+\.\d+\.\d+)\b/g)];
    assert.notEqual(named.length, 0);
    for (const [, name = '', version] of named) assert.equal(version, dependencies[name], name);
  });
}
