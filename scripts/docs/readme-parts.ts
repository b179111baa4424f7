// Writes two parts of the README that come from other pages: the requests that a rollout loses, and the differences
// between the kube-apiserver and lameduck.
import { withPart } from './part.ts';

const proofPlace = {
  page: 'README.md',
  part: 'a proof',
  marker: '<!-- The proof comes from docs/benchmarks.md, by `npm run docs`: do not edit it. -->',
};
const differencesPlace = {
  page: 'README.md',
  part: 'a table',
  marker: '<!-- The table comes from docs/conformance.md, by `npm run docs`: do not edit it. -->',
};

// The main differences between the kube-apiserver and lameduck, in the order of a shutdown. docs/conformance.md lists
// all differences.
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
 * withParts returns the README with all its generated parts updated. `problems` says for each part that cannot be
 * generated why it cannot.
 */
export function withParts(
  readme: string,
  pages: { readonly conformance: string; readonly benchmarks: string },
): { readme: string; problems: string[] } {
  const differences = differencesTable(pages.conformance);
  const { lines, problems } = proof(pages.benchmarks);
  return {
    readme: withPart(withPart(readme, proofPlace, lines), differencesPlace, differences.lines),
    problems: [...problems, ...differences.problems],
  };
}

function differencesTable(conformance: string): { lines: string[]; problems: string[] } {
  const rows = new Map(conformance.split('\n').flatMap(differenceIn));
  const rules = conformance.split('\n').filter((line) => line.startsWith('| A-'));
  const missing = shownDifferences.filter((number) => !rows.has(number));
  return {
    lines: [
      `lameduck is tested against ${String(rules.length)} rules of the apiserver. lameduck follows ${String(rules.length - rows.size)} of them exactly and deliberately differs from the others.`,
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

// Returns the lines of the README about what a rollout loses. The lines contain the output of two rehearsals, a
// picture, and a table of the packages.
function proof(benchmarks: string): { lines: string[]; problems: string[] } {
  const section = benchmarks.split('\n## ').find((text) => text.startsWith('What does a rollout lose?\n')) ?? '';
  const [before = '', after = ''] = [...section.matchAll(/^```\n([^]*?)\n```$/gm)].map(([, text = '']) => text);
  const [, rounds = ''] = /the median of (\d+) rollouts/.exec(section) ?? [];
  const rows = section
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| package |') && !line.startsWith('| ---'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  return {
    lines: [
      '`npx lameduck rehearse` ends a pod while clients send requests. For a server that calls `server.close()` on SIGTERM, it prints:',
      '',
      '```',
      ...before.split('\n'),
      '```',
      '',
      'The number of failed new connections includes only clients that open a connection for each request. The number of refused requests',
      'also includes clients with kept-alive connections, which were refused when they reconnected. If a request is in flight on a',
      'kept-alive connection at SIGTERM, the same server [runs until SIGKILL](docs/rehearse.md#why-the-exit-code-differs), with exit code 137.',
      '',
      'After `lameduck(server)` was added to the server, the same `lameduck rehearse` command prints:',
      '',
      '```',
      ...after.split('\n'),
      '```',
      '',
      '![Bar chart of the next table: for each package, the number of requests that fail during the rollout of one pod.](docs/benchmarks/rollouts.svg)',
      '',
      'In this benchmark, the code for each package is the first example in the README of that package. Clients send 200 requests per second. The nodes still send new',
      `connections to the pod for up to 2.3 s after its deletion. Each cell of the table has the median of ${rounds} rollouts, and in brackets`,
      'the lowest and the highest number of failed requests. [benchmarks.md](docs/benchmarks.md#what-does-a-rollout-lose) has the method, and counts lost and refused requests.',
      '',
      '| package | failed requests with default options | failed requests with a delay of 5 s |',
      '| --- | --- | --- |',
      ...rows.map(
        ([, name = '', failed = '', , , delayed = '']) =>
          `| ${name} | default options: ${withBounds(failed)} | delay of 5 s: ${withBounds(delayed)} |`,
      ),
    ],
    problems: rows.length > 0 ? [] : ['docs/benchmarks.md has no table of what a rollout loses for the README'],
  };
}

// Writes a result such as `256 (246 to 265)` as a text: "256 requests failed (246 to 265 in single rollouts)".
function withBounds(figure: string): string {
  const [, median = figure, least = '', most = ''] = /^(\d+) \((\d+) to (\d+)\)$/.exec(figure) ?? [];
  return least === ''
    ? `${median} requests failed`
    : `${median} requests failed (median; lowest ${least}, highest ${most})`;
}
