// Writes docs/benchmarks.md: the limits that lameduck must meet, called marks, and one section for each question that
// the benchmark answers.
import { cells } from './format.ts';
import { leasesSection } from './leases/section.ts';
import { lossesSection } from './losses/section.ts';
import { marksOf } from './marks.ts';
import { priceSection } from './price/section.ts';
import { probesSection } from './probes/section.ts';
import type { Results } from './results.ts';
import { rateSection, rolloutsSection } from './rollouts/section.ts';
import { startSection } from './start/section.ts';
import { streamsSection } from './streams/section.ts';
import { useSection } from './use/section.ts';

/** `page()` returns the Markdown text of docs/benchmarks.md. */
export function page(results: Results): string {
  return [
    ...opening(results),
    ...marks(results),
    ...pictured('price', priceSection(results)),
    ...pictured('use', useSection(results.uses, results.effort.use)),
    ...pictured('losses', lossesSection(results)),
    ...pictured('rollouts', rolloutsSection(results.rollouts, results.effort.rollouts)),
    ...rateSection(results.rate),
    ...startSection(results.start),
    ...pictured('streams', streamsSection(results.streams, results.inMemory)),
    ...pictured('probes', probesSection(results.probes, results.thread)),
    ...leasesSection(results.leases),
    '',
  ].join('\n');
}

function opening({ machine }: Results): string[] {
  return [
    '# Benchmarks',
    '',
    'Written by `npm run docs` from the results of `npm run bench`: do not edit it. `npm run bench -- --quick` measures lameduck alone',
    'in a few minutes, and compares the measured CPU time per request with the value on this page.',
    '',
    `The benchmarks of this page ran on ${machine}. Compare only`,
    'rows of the same page, because the results of two machines differ.',
  ];
}

function marks(results: Results): string[] {
  return [
    '',
    '## Which marks are met?',
    '',
    'A mark is the highest cost that lameduck may have. The sections of this page say how each value is measured, and where the cost of',
    'a missed mark comes from.',
    '',
    '| cost of lameduck | mark | measured value | mark met |',
    '| --- | --- | --- | --- |',
    ...marksOf(results).map(({ what, mark, measured, isMet }) => cells(what, mark, measured, isMet ? 'yes' : '**no**')),
  ];
}

// Puts a picture after the heading of its section of docs/benchmarks.md.
function pictured(name: string, [blank = '', heading = '', ...rest]: readonly string[]): string[] {
  return [
    blank,
    heading,
    '',
    `![The results of this section as a picture: ${heading.replace(/^#+ /, '')}](benchmarks/${name}.svg)`,
    ...rest,
  ];
}
