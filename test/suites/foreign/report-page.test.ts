// Tests the report page of `lameduck rehearse --report` in Chromium: light and dark, on a desktop, on a phone and on
// paper. `.ci/browser` runs this file. The variable CHROMIUM names the browser.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { RehearsalEvent } from '../../../src/cli/rehearsal/event-log.ts';
import { newTallies } from '../../../src/cli/rehearsal/load.ts';
import { page } from '../../../src/cli/rehearsal/report.ts';
import { resultOf, scenarioResult } from '../../../src/cli/rehearsal/result.ts';
import { Chromium } from '../../support/chromium.ts';

// The lowest contrast ratio for text, from WCAG 2.2, success criterion 1.4.3.
const leastContrast = 4.5;

const event = (at: number, kind: RehearsalEvent['kind'], detail: RehearsalEvent['detail'] = {}): RehearsalEvent => ({
  at,
  kind,
  detail,
});

/**
 * Sample events of a rehearsed rollout. They contain every kind of lost request, and every kind of event that the
 * report page marks in its chart.
 */
const events: readonly RehearsalEvent[] = [
  event(300, 'containerListening', { port: 3000 }),
  event(1_000, 'readinessChanged', { isReady: true }),
  ...[2_000, 3_000, 4_000, 5_000, 6_000].map((at) => event(at, 'requests', { answered: at / 5, lost: 0, refused: 0 })),
  event(6_100, 'podDeleted', { cause: 'deletion', gracePeriodSeconds: 3 }),
  event(6_110, 'stopSignal', { container: 'app', signal: 'SIGTERM' }),
  event(6_200, 'listenerClosed', { port: 3000 }),
  event(6_300, 'requestLost', { client: 'keptConnection', why: 'ECONNRESET' }),
  event(6_400, 'requestRefused', { client: 'newConnection', why: 'ECONNREFUSED' }),
  event(9_110, 'killSignal', { container: 'app', signal: 'SIGTERM' }),
  event(9_150, 'containerExited', { container: 'app', code: 137, signal: 'SIGKILL' }),
];

function html(): string {
  const tallies = newTallies();
  Object.assign(tallies.newConnection, { sent: 1_000, answered: 999, refused: 1 });
  Object.assign(tallies.keptConnection, { sent: 1_000, answered: 999, lost: 1 });
  const scenario = scenarioResult({ name: 'rollout', propagationMs: 2_000 }, tallies, events);
  const command = ['node', `${'a-long-path/'.repeat(20)}server.js`];
  return page(resultOf([scenario, { ...scenario, name: 'second-signal' }], { seed: 1, command, leftOut: 0 }));
}

/**
 * This script runs in the browser. It lists each text of the report page whose contrast with its background is too low.
 */
const faintTexts = `(() => {
  const channels = (color) => color.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const luminance = (color) => channels(color)
    .map((value) => value / 255)
    .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
  const background = getComputedStyle(document.body).backgroundColor;
  const paper = matchMedia('print').matches ? 'rgb(255, 255, 255)' : background;
  const contrast = (color) => {
    const [light, dark] = [luminance(color), luminance(paper)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  return [...document.querySelectorAll('h1, h2, h2 span, p, code, th, td, svg text')]
    .map((element) => [element, getComputedStyle(element)])
    .map(([element, style]) => [element.textContent, contrast(element.closest('svg') ? style.fill : style.color)])
    .filter(([, contrast]) => contrast < ${String(leastContrast)});
})()`;

/**
 * This script runs in the browser. It lists the elements of the report page that are wider than the screen and cannot
 * be scrolled on their own.
 */
const wideElements = `[...document.querySelectorAll('body *')]
  .filter((element) => element.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5)
  .filter((element) => element.closest('figure') === null || element.tagName === 'FIGURE')
  .map((element) => element.outerHTML.slice(0, 80))`;

describe('the report page of a rehearsal is readable in a browser', () => {
  let browser: Chromium;
  before(async () => {
    browser = await Chromium.start();
    await browser.show(html());
  });
  after(() => browser.end());

  const emulate = (media: string, scheme: string): Promise<object> =>
    browser.send('Emulation.setEmulatedMedia', { media, features: [{ name: 'prefers-color-scheme', value: scheme }] });
  const setWidth = (width: number): Promise<object> =>
    browser.send('Emulation.setDeviceMetricsOverride', {
      width,
      height: 800,
      deviceScaleFactor: 1,
      mobile: width < 500,
    });
  const evaluate = (expression: string): Promise<unknown> => browser.evaluate(expression);

  for (const scheme of ['light', 'dark']) {
    for (const media of ['screen', 'print']) {
      it(`the report page of a rehearsal has enough contrast in a ${scheme} colour scheme on ${media}`, async () => {
        await emulate(media, scheme);
        assert.deepEqual(await evaluate(faintTexts), []);
        const color = await evaluate('getComputedStyle(document.body).backgroundColor');
        const isDark = scheme === 'dark' && media === 'screen';
        assert.equal(color === 'rgb(255, 255, 255)', !isDark);
      });
    }
  }

  for (const [device, width] of [
    ['desktop', 1280],
    ['phone', 360],
  ] as const) {
    it(`the report page of a rehearsal fits the width of a ${device}`, async () => {
      await setWidth(width);
      await emulate('screen', 'light');
      assert.deepEqual(await evaluate(wideElements), []);
      assert.equal(await evaluate('innerWidth'), width);
    });
  }

  it('the report page of a rehearsal is printed with each scenario on a sheet of its own', async () => {
    await emulate('', 'light');
    const { data } = (await browser.send('Page.printToPDF', { printBackground: false })) as { data: string };
    const pdf = Buffer.from(data, 'base64').toString('latin1');
    const pages = Number(/\/Type \/Pages\s*\/Count (\d+)/.exec(pdf)?.[1]);
    assert.ok(pages >= 1 && pages <= 2, `the report was printed on ${String(pages)} pages`);
  });
});
