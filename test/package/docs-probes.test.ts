// Tests that the readiness probes in the pages fail before the shutdown delay ends.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { blocksIn, readPage, root } from '../support/markdown.ts';

interface Probe {
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly failureThreshold?: number;
}

// The default of shutdownDelayDuration in a cluster, in seconds.
const delay = 10;

// This test skips docs/lint.md, because many examples on that page contain deliberate mistakes.
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs')).filter((file) => file.endsWith('.md') && file !== 'lint.md'),
].map((file) => (file === 'README.md' ? file : join('docs', file)));

/** readinessProbesIn returns every readinessProbe in a value, at any depth. */
function readinessProbesIn(value: unknown): Probe[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'readinessProbe' ? [inner as Probe] : readinessProbesIn(inner),
  );
}

test('P-122 if a container ends while its pod is not being deleted, each readinessProbe in README.md and docs/ makes it unready before the shutdown delay ends', () => {
  const shown = pages.flatMap((page) =>
    blocksIn(readPage(page))
      .filter(({ language, text }) => language === 'yaml' && text.includes('readinessProbe'))
      .flatMap(({ text }) => parseAllDocuments(text).flatMap((document) => readinessProbesIn(document.toJS())))
      .map((probe) => ({ page, probe })),
  );
  assert.ok(shown.length >= 6, String(shown.length));
  for (const { page, probe } of shown) {
    // If a manifest omits a field of a probe, the API server sets the default that is written here.
    const { periodSeconds = 10, timeoutSeconds = 1, failureThreshold = 3 } = probe;
    assert.ok(periodSeconds * failureThreshold + timeoutSeconds <= delay, `${page}: ${JSON.stringify(probe)}`);
  }
});
