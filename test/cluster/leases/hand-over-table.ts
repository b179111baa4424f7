// The table of docs/leader-election.md with the hand-overs that a run on a cluster has measured.
const beginning = '<!-- `npm run test:cluster -- --all` writes this table: do not edit it. -->';
const end = '<!-- Up to here. -->';

/** withHandOvers returns the page with a table of these hand-overs, in milliseconds. It throws if the page has no place for it. */
export function withHandOvers(page: string, rollouts: number, handOvers: readonly number[]): string {
  const [before = '', rest = ''] = page.split(beginning);
  const place = rest.indexOf(end);
  if (place < 0) throw new Error(`docs/leader-election.md has no place for the hand-overs: ${beginning} … ${end}`);
  const sorted = [...handOvers].sort((one, other) => one - other);
  const median = sorted[Math.floor(sorted.length / 2)];
  const cells = [String(rollouts), String(sorted.length), seconds(median), seconds(sorted.at(-1))];
  const table = [
    '| rolling updates | hand-overs | median | longest |',
    '| --- | --- | --- | --- |',
    `| ${cells.join(' | ')} |`,
  ];
  return [
    before,
    beginning,
    '\n<!-- prettier-ignore-start -->\n\n',
    table.join('\n'),
    '\n\n<!-- prettier-ignore-end -->\n',
    rest.slice(place),
  ].join('');
}

function seconds(milliseconds = NaN): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}
