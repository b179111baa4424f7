// Writes the page that lists, for each rule number, the tests that prove the rule or why lameduck deliberately differs.
import { relative } from 'node:path';
import type { Test } from './citations.ts';

interface Conformance {
  readonly families: Readonly<Record<string, string>>;
  readonly rules: Readonly<Record<string, string>>;
  readonly differences: Readonly<Record<string, string>>;
  readonly tests: ReadonlyMap<string, readonly Test[]>;
  readonly sources: ReadonlyMap<string, readonly string[]>;
}

/** conformancePage returns the page, the errors in its sources, and the rules that nothing cites. */
export function conformancePage(conformance: Conformance): { page: string; problems: string[]; uncited: string[] } {
  const { families, rules, differences, tests, sources } = conformance;
  const numbers = [...new Set([...tests.keys(), ...sources.keys(), ...Object.keys(differences)])].sort();
  const sections = Object.entries(families).flatMap(([letter, title]) => {
    const members = numbers.filter((number) => number.startsWith(`${letter}-`));
    if (members.length === 0) return [];
    return [
      '',
      `## ${letter}: ${title}`,
      '',
      '| number | rule | tests, or reason for the difference |',
      '| --- | --- | --- |',
      ...members.map(row),
    ];
  });
  return {
    page: [...opening, ...sections, ''].join('\n'),
    problems: problemsOf(conformance, numbers),
    uncited: Object.keys(rules).filter((number) => !numbers.includes(number)),
  };

  function row(number: string): string {
    const shownBy = [...new Set(tests.get(number)?.map(link))].join('; ');
    const difference = differences[number];
    const answer =
      difference === undefined
        ? shownBy
        : `**deliberately different:** ${difference}${shownBy === '' ? '' : ` Tests: ${shownBy}`}`;
    return `| ${number} | ${cell(rules[number] ?? '')} | ${cell(answer)} |`;
  }
}

const opening = [
  '# Conformance',
  '',
  'This page lists every rule that lameduck follows. Next to each rule are the tests that prove it, or the reason why lameduck',
  'deliberately differs. Tests and comments cite a rule by its number.',
  '',
  'Written by `npm run docs` from the titles of the tests, the comments in `src/`, `scripts/docs/rules.ts` and',
  '`scripts/docs/differences.ts`: do not edit it.',
];

function problemsOf(
  { families, rules, differences, tests, sources }: Conformance,
  numbers: readonly string[],
): string[] {
  const citedBy = (number: string): string =>
    sources.get(number)?.join(', ') ?? tests.get(number)?.[0]?.file ?? 'scripts/docs/differences.ts';
  const withoutRule = numbers
    .filter((number) => rules[number] === undefined)
    .map((number) => `${number}, cited by ${citedBy(number)}, has no text in scripts/docs/rules.ts`);
  const withoutProof = numbers
    .filter((number) => !tests.has(number) && differences[number] === undefined)
    .map(
      (number) =>
        `${number}, cited by ${citedBy(number)}, has neither a test nor an entry in scripts/docs/differences.ts`,
    );
  const withoutFamily = numbers
    .filter((number) => families[number.split('-')[0] ?? ''] === undefined)
    .map((number) => `${number}, cited by ${citedBy(number)}, belongs to no family of scripts/docs/rules.ts`);
  return [...withoutRule, ...withoutProof, ...withoutFamily];
}

function link({ title, file }: Test): string {
  return `[${title}](${relative('docs', file)})`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
