// Writes the documentation pages that are generated from the code. With --check, it writes no page, and fails if a
// generated page is outdated.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { page as benchmarksPage } from '../../bench/page.ts';
import { pictures } from '../../bench/pictures.ts';
import { savedResults, type Results } from '../../bench/results.ts';
import { errorCodes } from '../../src/errors.ts';
import { citedInSources, citedInTests } from './citations.ts';
import { differences } from './differences.ts';
import { conformancePage } from './conformance-page.ts';
import { dashboardPicture, dashboardPictures, type Panel } from './dashboard-picture.ts';
import { errorsPage } from './errors-page.ts';
import { metricsPage } from './metrics-page.ts';
import { tableProblems } from './register-table.ts';
import { passedSoFar, serverKindsTable } from './server-kinds.ts';
import { settingsPage } from './settings-page.ts';
import { withParts } from './readme-parts.ts';
import { families, rules } from './rules.ts';

const root = join(import.meta.dirname, '..', '..');
const isCheck = process.argv.includes('--check');
const problems: string[] = [];

const conformance = conformancePage({
  families,
  rules,
  differences,
  tests: citedInTests(root),
  sources: citedInSources(root),
});
problems.push(...conformance.problems);

const kinds = serverKindsTable(passedSoFar());
problems.push(...kinds.problems);

// The saved benchmark results may lack some sections, so their type is partial. `npm run bench` has measured every
// section, so the cast to the complete type is safe.
const results = savedResults() as Results;
const benchmarks = benchmarksPage(results);
const readme = withParts(current('README.md') ?? '', {
  conformance: conformance.page,
  benchmarks,
});
problems.push(...readme.problems);

// The numbers in docs/register.md differ from run to run, so --check compares only the list of programs in
// docs/register.md.
problems.push(...tableProblems(current('docs/register.md') ?? ''));

const { panels } = JSON.parse(current('helm/lameduck/files/dashboard.json') ?? '{}') as { panels: Panel[] };
const dashboards = { light: dashboardPicture(panels, 'light'), dark: dashboardPicture(panels, 'dark') };
problems.push(...dashboards.light.problems);

const pages = {
  'README.md': readme.readme,
  [`docs/${dashboardPictures.light}`]: dashboards.light.picture,
  [`docs/${dashboardPictures.dark}`]: dashboards.dark.picture,
  'docs/benchmarks.md': benchmarks,
  ...Object.fromEntries([...pictures(results)].map(([name, text]) => [`docs/benchmarks/${name}`, text])),
  'docs/conformance.md': `${conformance.page}\n${kinds.lines.join('\n')}\n`,
  'docs/errors.md': errorsPage(errorCodes),
  'docs/metrics.md': metricsPage(),
  'docs/settings.md': settingsPage(),
};

for (const [file, page] of Object.entries(pages)) {
  if (!isCheck) writeFileSync(join(root, file), page);
  else if (page !== current(file)) problems.push(`${file} is outdated: run npm run docs`);
}

if (conformance.uncited.length > 0) {
  problems.push(`scripts/docs/rules.ts has texts that nothing cites: ${conformance.uncited.join(', ')}`);
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

function current(file: string): string | undefined {
  try {
    return readFileSync(join(root, file), 'utf8');
  } catch {
    return undefined;
  }
}
