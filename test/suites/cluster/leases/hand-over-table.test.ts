// Tests that a new table of leadership hand-overs replaces the earlier table on the page, and that the rest of the page
// is unchanged.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPage } from '../../../support/markdown.ts';
import { withHandOvers } from './hand-over-table.ts';

test('the hand-over table has the median and the longest hand-over in seconds, and replaces the earlier table', () => {
  const page = readPage('docs/leader-election.md');
  const first = withHandOvers(page, 1, [5]);
  const second = withHandOvers(first, 20, [900, 250, 310]);
  assert.match(second, /^\| 20 \| 3 \| 0\.31 s \| 0\.90 s \|$/m);
  assert.equal(withHandOvers(second, 1, [5]), first);
  assert.equal(
    second.replace(/<!-- `npm run test:cluster[^]*?<!-- Up to here/, ''),
    page.replace(/<!-- `npm run test:cluster[^]*?<!-- Up to here/, ''),
  );
});

test('a page without a place for the hand-over table causes an error', () => {
  assert.throws(() => withHandOvers('# Title', 1, [5]), /no place for the hand-overs/);
});
