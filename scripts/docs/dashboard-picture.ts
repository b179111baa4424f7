// Draws the pictures of the chart's dashboard: the panels of its JSON in their grid, with sample data.
import { samples, type Sample } from './dashboard-samples.ts';

/** Panel declares the fields of a dashboard panel that the picture of the dashboard uses. */
export interface Panel {
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig: { readonly defaults: { readonly unit: string; readonly min?: number; readonly max?: number } };
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

/** Scheme is a colour scheme of the page that shows a picture of the dashboard. */
export type Scheme = 'light' | 'dark';

/** dashboardPictures maps each colour scheme to the name of its picture in docs/. */
export const dashboardPictures: Readonly<Record<Scheme, string>> = {
  light: 'dashboard-light.svg',
  dark: 'dashboard-dark.svg',
};

const palettes = {
  light: {
    page: '#f4f5f5',
    panel: '#ffffff',
    border: '#d8dade',
    text: '#24292e',
    faint: '#5c6470',
    grid: '#e6e8eb',
    lines: ['#2f6fde', '#c4560e', '#2d8a2d', '#a352cc', '#c4162a', '#0b8187', '#8a6d00', '#6e7079'],
  },
  dark: {
    page: '#111217',
    panel: '#181b1f',
    border: '#2c3036',
    text: '#d8dae0',
    faint: '#a0a5b0',
    grid: '#2a2e34',
    lines: ['#6e9fff', '#ff9830', '#73bf69', '#ca95e5', '#ff7383', '#4cc7cf', '#e0b400', '#a9acb3'],
  },
};

// Sizes in the picture of the dashboard, in pixels. The dashboard has a grid of 24 columns, as in Grafana.
const column = 42;
const row = 25;
const gap = 8;
const header = 48;
const titleHeight = 28;
const axisWidth = 62;
const axisHeight = 18;
const legendRow = 15;
// The mean width of a character in an 11-pixel font, rounded up.
const characterWidth = 6.5;

// The times of the sample data, in minutes: one sample every 20 seconds, for an hour.
const minutes = Array.from({ length: 181 }, (_, index) => index / 3);

/** Frame is the rectangle of one dashboard panel, in pixels of the picture. */
interface Frame {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface Curve {
  readonly name: string;
  readonly color: string;
  readonly values: readonly (number | undefined)[];
}

type Palette = (typeof palettes)[Scheme];

/**
 * dashboardPicture returns the picture of the dashboard as an SVG in a colour scheme. It also returns a list of the
 * problems, such as missing sample data.
 */
export function dashboardPicture(panels: readonly Panel[], scheme: Scheme): { picture: string; problems: string[] } {
  const palette = palettes[scheme];
  const problems: string[] = [];
  const height = header + row * Math.max(...panels.map(({ gridPos: { y, h } }) => y + h)) + gap;
  const width = 24 * column + gap;
  const drawn = panels.flatMap((panel) => {
    const curves = curvesOf(panel, palette);
    problems.push(...problemsOf(panel, curves));
    return drawPanel(panel, curves, palette);
  });
  const picture = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${text(width)}" height="${text(height)}" viewBox="0 0 ${text(width)} ${text(height)}" font-family="sans-serif" font-size="11" fill="${palette.faint}">`,
    '  <title>The dashboard of the chart, with sample data</title>',
    `  <rect width="${text(width)}" height="${text(height)}" fill="${palette.page}"/>`,
    `  <text x="${text(gap + 4)}" y="30" font-size="17" font-weight="bold" fill="${palette.text}">lameduck: orders/shop</text>`,
    `  <text x="${text(width - gap - 4)}" y="30" text-anchor="end" font-size="13">Sample data: two pods, slow reports at 14:14, a rollout at 14:30</text>`,
    ...drawn,
    '</svg>',
    '',
  ].join('\n');
  return { picture, problems };
}

function problemsOf({ title, targets }: Panel, curves: readonly Curve[]): string[] {
  const own = samples[title] ?? [];
  const where = `scripts/docs/dashboard-samples.ts, panel ${title}`;
  if (own.length !== targets.length)
    return [`${where}: ${text(targets.length)} queries, but samples for ${text(own.length)}`];
  return curves.flatMap(({ name }) =>
    name.includes('{{') ? [`${where}: no value for a label of the legend ${name}`] : [],
  );
}

function curvesOf({ title, targets }: Panel, { lines }: Palette): Curve[] {
  const all = targets.flatMap(({ legendFormat }, index) =>
    (samples[title]?.[index] ?? []).map((sample) => ({ legendFormat, sample })),
  );
  return all.map(({ legendFormat, sample }, index) => ({
    name: legendOf(legendFormat, sample),
    color: lines[index % lines.length] as string,
    values: minutes.map(sample.at),
  }));
}

function legendOf(format: string, { labels }: Sample): string {
  return format.replace(/\{\{(\w+)\}\}/g, (whole, label: string) => labels[label] ?? whole).trim();
}

function drawPanel({ title, gridPos, fieldConfig }: Panel, curves: readonly Curve[], palette: Palette): string[] {
  const { unit, min = 0, max } = fieldConfig.defaults;
  const frame: Frame = {
    x: gap + gridPos.x * column,
    y: header + gridPos.y * row,
    width: gridPos.w * column - gap,
    height: gridPos.h * row - gap,
  };
  const legend = legendRows(curves, frame.width - 2 * gap);
  const plot: Frame = {
    x: axisWidth,
    y: titleHeight + 4,
    width: frame.width - axisWidth - 12,
    height: frame.height - titleHeight - 4 - axisHeight - legend.length * legendRow - gap,
  };
  const highest = Math.max(...curves.flatMap(({ values }) => values.filter((value) => value !== undefined)));
  const ticks = ticksOf(unit, min, max ?? highest, max !== undefined);
  return [
    `  <g class="panel" transform="translate(${text(frame.x)} ${text(frame.y)})">`,
    `    <rect width="${text(frame.width)}" height="${text(frame.height)}" rx="3" fill="${palette.panel}" stroke="${palette.border}"/>`,
    `    <text class="title" x="10" y="19" font-size="13" font-weight="bold" fill="${palette.text}">${escaped(title)}</text>`,
    ...drawAxes(plot, ticks, unit, palette),
    ...curves.map((curve) => drawCurve(curve, plot, [ticks[0] ?? 0, ticks.at(-1) ?? 1])),
    ...drawLegend(legend, plot.y + plot.height + axisHeight + legendRow - 2, palette),
    '  </g>',
  ];
}

/** Distributes the entries of a panel's legend to rows that fit the width of the panel. */
function legendRows(curves: readonly Curve[], width: number): (Curve & { x: number })[][] {
  const rows: (Curve & { x: number })[][] = [[]];
  let x = gap;
  for (const curve of curves) {
    const length = 17 + curve.name.length * characterWidth + 7;
    if (x + length > width && x > gap) {
      rows.push([]);
      x = gap;
    }
    rows.at(-1)?.push({ ...curve, x });
    x += length;
  }
  return rows;
}

function drawLegend(rows: readonly (Curve & { x: number })[][], top: number, palette: Palette): string[] {
  return rows.flatMap((entries, index) => {
    const y = top + index * legendRow;
    return entries.flatMap(({ name, color, x }) => [
      `    <rect x="${text(x)}" y="${text(y - 5)}" width="12" height="3" rx="1" fill="${color}"/>`,
      `    <text class="legend" x="${text(x + 17)}" y="${text(y)}" fill="${palette.text}">${escaped(name)}</text>`,
    ]);
  });
}

function drawAxes(plot: Frame, ticks: readonly number[], unit: string, palette: Palette): string[] {
  const [low = 0, high = 1] = [ticks[0], ticks.at(-1)];
  const horizontal = ticks.flatMap((tick) => {
    const y = plot.y + plot.height * (1 - (tick - low) / (high - low));
    return [
      `    <path d="M${text(plot.x)} ${text(y)}h${text(plot.width)}" stroke="${palette.grid}"/>`,
      `    <text x="${text(plot.x - 6)}" y="${text(y + 4)}" text-anchor="end">${withUnit(tick, unit)}</text>`,
    ];
  });
  const vertical = [0, 10, 20, 30, 40, 50].flatMap((minute) => {
    const x = plot.x + (plot.width * minute) / 60;
    return [
      `    <path d="M${text(x)} ${text(plot.y)}v${text(plot.height)}" stroke="${palette.grid}"/>`,
      `    <text x="${text(x)}" y="${text(plot.y + plot.height + 14)}" text-anchor="middle">14:${String(minute).padStart(2, '0')}</text>`,
    ];
  });
  return [...horizontal, ...vertical];
}

function drawCurve({ color, values }: Curve, plot: Frame, [low, high]: readonly [number, number]): string {
  let path = '';
  let isDrawing = false;
  for (const [index, value] of values.entries()) {
    // Omit a point if the points before and after it have the same value, because the drawn line stays the same.
    const isBetween = value === values[index - 1] && value === values[index + 1];
    if (value !== undefined && !isBetween) {
      const x = plot.x + (plot.width * index) / (values.length - 1);
      const y = plot.y + plot.height * (1 - (value - low) / (high - low));
      path += `${isDrawing ? 'L' : 'M'}${text(x)} ${text(y)}`;
    }
    isDrawing = value !== undefined;
  }
  return `    <path d="${path}" fill="none" stroke="${color}" stroke-width="1.4" stroke-linejoin="round"/>`;
}

/** Returns round numbers for the ticks of an axis, from the lowest value to at least the highest one. */
function ticksOf(unit: string, low: number, high: number, isFixed: boolean): number[] {
  const base = unit === 'bytes' ? 2 ** 20 : 1;
  const rough = Math.max(high - low, base / 1_000) / base / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough - 1e-9) ?? 10) * power;
  // A count has no fractions, so the ticks of its axis are whole numbers.
  const whole = isFixed ? 0.5 : Math.max(step, unit === 'short' ? 1 : 0);
  const count = Math.max(1, Math.ceil((high - low) / base / whole - 1e-9));
  return Array.from({ length: count + 1 }, (_, index) => low + index * whole * base);
}

function withUnit(value: number, unit: string): string {
  if (unit === 'reqps') return `${text(value)} req/s`;
  if (unit === 'percentunit') return `${text(value * 100)}%`;
  if (unit === 's') return `${text(value)} s`;
  if (unit === 'bytes') return `${text(value / 2 ** 20)} MiB`;
  return text(value);
}

/** Returns a number as a text with at most one decimal. */
function text(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escaped(name: string): string {
  return name.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
