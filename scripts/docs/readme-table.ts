// The README's table of what the apiserver does and what lameduck does, taken from the page of conformance.

const first = '<!-- The table comes from docs/conformance.md, by `npm run docs`: do not edit it. -->';
const last = '<!-- Up to here. -->';

// The differences that a reader chooses by, in the order of a shutdown. The page has them all.
const shown = [
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

/** withTable returns the README with its table as the page of conformance has it now, and what stands against that. */
export function withTable(readme: string, conformance: string): { readme: string; problems: string[] } {
  const [before = '', rest] = readme.split(first);
  const after = rest?.split(last)[1];
  if (after === undefined) return { readme, problems: [`README.md has no place for the table: ${first} … ${last}`] };
  const rows = new Map(conformance.split('\n').flatMap(differenceIn));
  const rules = conformance.split('\n').filter((line) => line.startsWith('| A-'));
  const missing = shown.filter((number) => !rows.has(number));
  const table = [
    first,
    '<!-- prettier-ignore-start -->',
    '',
    `Of the ${String(rules.length)} rules of the apiserver that lameduck is held against, ${String(rules.length - rows.size)} are met as they stand, each shown by a test. The others differ on`,
    'purpose; those that show in a rollout:',
    '',
    '| the apiserver | lameduck |',
    '| --- | --- |',
    ...shown.flatMap((number) => rows.get(number) ?? []),
    '',
    '<!-- prettier-ignore-end -->',
    last,
  ];
  return {
    readme: `${before}${table.join('\n')}${after}`,
    problems: missing.map((number) => `docs/conformance.md has no difference ${number} for the README's table`),
  };
}

function differenceIn(line: string): [string, string][] {
  const match = /^\| (A-\d+) \| (.*) \| \*\*deliberately different:\*\* (.*?)( Shown by .*)? \|$/.exec(line);
  if (match === null) return [];
  const [, number = '', rule = '', difference = ''] = match;
  return [[number, `| ${rule} | ${difference} |`]];
}
