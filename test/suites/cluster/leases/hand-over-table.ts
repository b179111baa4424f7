// Writes the table in docs/leader-election.md from the leadership hand-overs that the test measured on a cluster.
import { withPart } from '../../../../scripts/docs/part.ts';

const place = {
  page: 'docs/leader-election.md',
  part: 'the hand-overs',
  marker: '<!-- `npm run test:cluster -- --all` writes this table: do not edit it. -->',
};

/**
 * withHandOvers returns the text of docs/leader-election.md with a table about the given leadership hand-overs.
 * `handOvers` has their durations in milliseconds. The function throws if the text has no marker for this table.
 */
export function withHandOvers(page: string, rollouts: number, handOvers: readonly number[]): string {
  const sorted = [...handOvers].sort((one, other) => one - other);
  const median = sorted[Math.floor(sorted.length / 2)];
  const cells = [String(rollouts), String(sorted.length), seconds(median), seconds(sorted.at(-1))];
  return withPart(page, place, [
    '| rolling updates | hand-overs of the leadership | median time without a leader | longest time without a leader |',
    '| --- | --- | --- | --- |',
    `| ${cells.join(' | ')} |`,
  ]);
}

function seconds(milliseconds = NaN): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}
