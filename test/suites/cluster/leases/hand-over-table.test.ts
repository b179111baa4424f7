// Tests that withHandOvers() replaces the table of leadership hand-overs in docs/leader-election.md, and leaves the
// rest of the page unchanged.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPage } from '../../../support/markdown.ts';
import { withHandOvers } from './hand-over-table.ts';

test('withHandOvers() writes the median and the longest time without a leader into the table of leadership hand-overs, in seconds, and overwrites the previous values', () => {
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

test('a documentation page without the marker for the table of leadership hand-overs causes an error', () => {
  assert.throws(() => withHandOvers('# Title', 1, [5]), /no place for the hand-overs/);
});
