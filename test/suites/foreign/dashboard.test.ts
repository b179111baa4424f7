// Tests a picture of the chart's Grafana dashboard, drawn from the dashboard's JSON with sample data. Chromium shows
// the picture, light and dark. `.ci/browser` runs this file. The variable CHROMIUM names the browser.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { dashboardPicture, type Panel } from '../../../scripts/docs/dashboard-picture.ts';
import { Chromium } from '../../support/chromium.ts';
import { root } from '../../support/markdown.ts';

const file = join(root, 'helm', 'lameduck', 'files', 'dashboard.json');
const { panels } = JSON.parse(readFileSync(file, 'utf8')) as { panels: Panel[] };

// The number of columns in Grafana's grid.
const columns = 24;

interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

interface DrawnPanel {
  readonly box: Box;
  readonly title: string;
  readonly curves: number;
  /**
   * The texts that are drawn in one panel of the dashboard: its title, the names in its legend, and the labels of its
   * axes.
   */
  readonly texts: readonly (Box & { readonly text: string; readonly isLabel: boolean })[];
}

/**
 * This script runs in the browser. For each panel of the dashboard, it returns position, title, number of drawn curves
 * and texts.
 */
const drawnPanels = `(() => {
  const box = (element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    return { left, top, right, bottom };
  };
  return [...document.querySelectorAll('.panel')].map((panel) => ({
    box: box(panel.querySelector('rect')),
    title: panel.querySelector('.title').textContent,
    curves: [...panel.querySelectorAll('path[fill=none]')].filter((path) => path.getTotalLength() > 0).length,
    texts: [...panel.querySelectorAll('text')].map((element) => ({
      ...box(element),
      text: element.textContent,
      isLabel: element.getAttribute('class') === null,
    })),
  }));
})()`;

const overlap = (one: Box, other: Box): boolean =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

/** Returns each pair of drawn boxes that overlap, such as two panels or two texts. */
function overlaps<T extends Box>(boxes: readonly T[]): T[][] {
  return boxes.flatMap((one, index) =>
    boxes.slice(index + 1).flatMap((other) => (overlap(one, other) ? [[one, other]] : [])),
  );
}

const contains = (outer: Box, inner: Box): boolean =>
  inner.left >= outer.left && inner.right <= outer.right && inner.top >= outer.top && inner.bottom <= outer.bottom;

describe("the panels of the chart's dashboard are complete and readable in a browser", () => {
  let browser: Chromium;
  before(async () => {
    browser = await Chromium.start();
  });
  after(() => browser.end());

  async function drawnIn(picture: string): Promise<DrawnPanel[]> {
    await browser.show(`<!doctype html><body style="margin: 0">${picture}`);
    return (await browser.evaluate(drawnPanels)) as DrawnPanel[];
  }

  for (const scheme of ['light', 'dark'] as const) {
    it(`H-147 HC-30 no panel of the dashboard overlaps another, and each panel has a title and at least one curve, in a light and in a dark colour scheme: ${scheme}`, async () => {
      const { picture, problems } = dashboardPicture(panels, scheme);
      assert.deepEqual(problems, []);
      const drawn = await drawnIn(picture);
      assert.deepEqual(
        drawn.map(({ title }) => title),
        panels.map(({ title }) => title),
      );
      assert.deepEqual(overlaps(drawn.map(({ box, title }) => ({ ...box, title }))), []);
      for (const { title, curves, box, texts } of drawn) {
        assert.match(title, /\S/);
        assert.ok(curves > 0, title);
        assert.deepEqual(
          texts.filter((text) => !contains(box, text)),
          [],
          `the panel ${title} has texts that are cut`,
        );
        assert.deepEqual(
          overlaps(texts.filter(({ isLabel }) => !isLabel)),
          [],
          `the panel ${title} has texts that overlap`,
        );
      }
    });
  }

  it('each panel of the dashboard lies in the grid, and has a unit and queries', () => {
    for (const { title, gridPos, fieldConfig, targets } of panels) {
      assert.ok(gridPos.x >= 0 && gridPos.x + gridPos.w <= columns, title);
      assert.match(fieldConfig.defaults.unit, /^(reqps|percentunit|s|short|bytes)$/, title);
      assert.ok(targets.length > 0, title);
      for (const { expr, legendFormat } of targets) assert.match(`${expr} ${legendFormat}`, /^\S.* \S/, title);
    }
  });
});
