// Creates a chart with `helm create`, and adds the library chart as the README of the library describes.
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { blocksIn, readPage, root } from '../../support/markdown.ts';
import { run } from './chart.ts';

const blocks = blocksIn(readPage('helm/lameduck/charts/lameduck-library/README.md')).map(({ text }) => text);

function blockWith(part: string): string {
  return blocks.find((text) => text.includes(part)) ?? assert.fail(`no block of the README has ${part}`);
}

/** shownValues returns the Helm values that the README of the library chart shows as an example. */
export function shownValues(): { lameduck: Record<string, unknown> } {
  return parse(blockWith('longestRequestDuration')) as { lameduck: Record<string, unknown> };
}

/** createOwnChart creates a chart called `shop` and returns its parent folder. The caller removes the folder. */
export async function createOwnChart(helm: string): Promise<string> {
  const parent = mkdtempSync(join(tmpdir(), 'own-chart-'));
  const folder = join(parent, 'shop');
  await succeed(helm, 'create', folder);
  const repository = `file://${join(root, 'helm', 'lameduck-library')}`;
  const dependencies = parse(blockWith('repository:')) as { dependencies: object[] };
  const added = dependencies.dependencies.map((one) => ({ ...one, repository }));
  appendFileSync(join(folder, 'Chart.yaml'), `\n${stringify({ dependencies: added })}`);
  const file = join(folder, 'templates', 'deployment.yaml');
  writeFileSync(file, changed(readFileSync(file, 'utf8'), blockWith('lameduck.budget')));
  await succeed(helm, 'dependency', 'update', folder);
  return parent;
}

/**
 * addWorkloads adds two templates to the chart `shop`: a StatefulSet with the pods of the Deployment, and the Job of
 * docs/other-workloads.md.
 */
export function addWorkloads(parent: string): void {
  const templates = join(parent, 'shop', 'templates');
  const deployment = readFileSync(join(templates, 'deployment.yaml'), 'utf8');
  const statefulSet = deployment
    .replace('kind: Deployment', 'kind: StatefulSet')
    .replace(/^spec:/m, '$&\n  serviceName: shop');
  writeFileSync(join(templates, 'statefulset.yaml'), statefulSet);
  const job = blocksIn(readPage('docs/other-workloads.md')).find(({ language }) => language === 'gotemplate');
  writeFileSync(
    join(templates, 'job.yaml'),
    job?.text ?? assert.fail('docs/other-workloads.md has no template of a Job'),
  );
}

async function succeed(helm: string, ...args: string[]): Promise<void> {
  const { code, errors } = await run(helm, args);
  assert.equal(code, 0, errors);
}

function changed(given: string, diff: string): string {
  let template = given;
  for (const hunk of diff.split('@@\n').slice(1)) {
    const lines = hunk.trimEnd().split('\n');
    const side = (left: string): string =>
      lines.flatMap((line) => (line.startsWith(left) ? [] : [line.slice(1)])).join('\n');
    const [before, after] = [side('+'), side('-')];
    assert.equal(
      template.split(before).length,
      2,
      `the template of helm create must contain this text once:\n${before}`,
    );
    template = template.replace(before, () => after);
  }
  return template;
}
