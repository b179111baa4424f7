// Draws bar charts as SVG. Their colours follow the light or dark scheme of the reader.

/** Bar is one row of a bar chart. `low` and `high` are the bounds of the confidence interval of the row's value. */
export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly low?: number;
  readonly high?: number;
  /** True if the bar shows a value of lameduck, and false if it shows a value of another package. */
  readonly isOwn?: boolean;
  /** The label at the right end of the bar. By default, it is the bar's value. */
  readonly text?: string;
}

export interface Chart {
  readonly title: string;
  /** The value at which the axis of the bar diagram begins, 0 by default. */
  readonly from?: number;
  readonly bars: readonly Bar[];
}

const width = 760;
const labelWidth = 250;
const textWidth = 130;
const rowHeight = 26;
const headHeight = 44;

const style = `
    text { font: 13px system-ui, sans-serif; fill: #1f2328 }
    .title { font-weight: 600; font-size: 15px }
    .bar { fill: #8c959f } .own { fill: #0969da } .interval { stroke: #1f2328; stroke-width: 1.5 }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 }
      .bar { fill: #6e7681 } .own { fill: #4493f8 } .interval { stroke: #e6edf3 }
    }
  `;

/** barChart returns the SVG text of a chart with horizontal bars. */
export function barChart({ title, from = 0, bars }: Chart): string {
  const ends = bars.flatMap(({ value, low = value, high = value }) => [value, low, high]);
  const least = Math.min(from, ...ends);
  const most = Math.max(from, ...ends);
  const room = width - labelWidth - textWidth;
  const place = (value: number): number =>
    labelWidth + (most === least ? 0 : ((value - least) / (most - least)) * room);
  const rows = bars.flatMap((bar, index) => rowOf(bar, headHeight + index * rowHeight, place, from));
  const height = headHeight + bars.length * rowHeight + 8;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(width)} ${String(height)}" role="img">`,
    `  <title>${escaped(title)}</title>`,
    `  <style>${style}</style>`,
    `  <text class="title" x="0" y="22">${escaped(title)}</text>`,
    ...rows,
    '</svg>',
    '',
  ].join('\n');
}

function rowOf(
  { label, value, low, high, isOwn = false, text }: Bar,
  top: number,
  place: (value: number) => number,
  from: number,
): string[] {
  const middle = top + rowHeight / 2;
  const [left, right] = [place(Math.min(from, value)), place(Math.max(from, value))];
  const end = Math.max(right, high === undefined ? 0 : place(high));
  return [
    `  <text x="${(labelWidth - 8).toFixed(1)}" y="${(middle + 4).toFixed(1)}" text-anchor="end">${escaped(label)}</text>`,
    `  <rect class="${isOwn ? 'own' : 'bar'}" x="${left.toFixed(1)}" y="${(top + 5).toFixed(1)}" width="${Math.max(1, right - left).toFixed(1)}" height="${(rowHeight - 10).toFixed(1)}"/>`,
    ...(low === undefined || high === undefined
      ? []
      : [
          `  <line class="interval" x1="${place(low).toFixed(1)}" x2="${place(high).toFixed(1)}" y1="${middle.toFixed(1)}" y2="${middle.toFixed(1)}"/>`,
        ]),
    `  <text x="${(end + 8).toFixed(1)}" y="${(middle + 4).toFixed(1)}">${escaped(text ?? String(value))}</text>`,
  ];
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('`', '');
}
