// Writes the parts of the README that come from other pages: what a shutdown loses, and the differences from the
// apiserver.

import { withPart } from './part.ts';

const lossesPlace = {
  page: 'README.md',
  part: 'a table',
  marker: '<!-- The table comes from docs/benchmarks.md, by `npm run docs`: do not edit it. -->',
};
const differencesPlace = {
  page: 'README.md',
  part: 'a table',
  marker: '<!-- The table comes from docs/conformance.md, by `npm run docs`: do not edit it. -->',
};

// The differences that matter most to a reader who compares, in the order of a shutdown. docs/conformance.md has all of
// them.
const shownDifferences = [
  'A-044',
  'A-100',
  'A-120',
  'A-056',
  'A-059',
  'A-061',
  'A-007',
  'A-122',
  'A-135',
  'A-152',
  'A-145',
  'A-020',
];

/**
 * withParts returns the README with the current text of its two tables, and the reasons why a table cannot be written.
 */
export function withParts(
  readme: string,
  pages: { readonly conformance: string; readonly benchmarks: string },
): { readme: string; problems: string[] } {
  const differences = differencesTable(pages.conformance);
  const losses = lossesTable(pages.benchmarks);
  const withLosses = withPart(readme, lossesPlace, losses.lines);
  return {
    readme: withPart(withLosses, differencesPlace, differences.lines),
    problems: [...losses.problems, ...differences.problems],
  };
}

function differencesTable(conformance: string): { lines: string[]; problems: string[] } {
  const rows = new Map(conformance.split('\n').flatMap(differenceIn));
  const rules = conformance.split('\n').filter((line) => line.startsWith('| A-'));
  const missing = shownDifferences.filter((number) => !rows.has(number));
  return {
    lines: [
      `lameduck is tested against ${String(rules.length)} rules of the apiserver. It follows ${String(rules.length - rows.size)} of them exactly and deliberately differs from the others.`,
      'These are the differences that matter most during a rollout:',
      '',
      '| the apiserver | lameduck |',
      '| --- | --- |',
      ...shownDifferences.flatMap((number) => rows.get(number) ?? []),
    ],
    problems: missing.map((number) => `docs/conformance.md has no difference ${number} for the README's table`),
  };
}

function differenceIn(line: string): [string, string][] {
  const match = /^\| (A-\d+) \| (.*) \| \*\*deliberately different:\*\* (.*?)( Tests: .*)? \|$/.exec(line);
  if (match === null) return [];
  const [, number = '', rule = '', difference = ''] = match;
  return [[number, `| ${rule} | ${difference} |`]];
}

function lossesTable(benchmarks: string): { lines: string[]; problems: string[] } {
  const section = benchmarks.split('\n## ').find((text) => text.startsWith('What does a shutdown lose?\n')) ?? '';
  const rows = section
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| |') && !line.startsWith('| ---'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  return {
    lines: [
      'This table shows how many requests one shutdown loses. Each of 30 clients sends its next request as soon as it receives a response, and never',
      'retries. The numbers are the median of 5 shutdowns, with the least and the most in brackets. [benchmarks.md](docs/benchmarks.md) has the method.',
      '',
      '| | without a delay | with a delay of 1 s |',
      '| --- | --- | --- |',
      ...rows.map(
        ([, name = '', atOnce = '', , , delayed = '']) =>
          `| ${name} | ${atOnce} lost without a delay | ${delayed} lost with a delay of 1 s |`,
      ),
    ],
    problems: rows.length > 0 ? [] : ['docs/benchmarks.md has no table of what a shutdown loses for the README'],
  };
}
