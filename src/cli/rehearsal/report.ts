// Writes the result of a rehearsal as one HTML page, with a timeline for each scenario. The page loads no other file.
import type { RehearsalEvent } from './event-log.ts';
import type { FoundCause, Result, ScenarioResult } from './result.ts';

const width = 960;
const height = 220;
const margin = { left: 48, right: 16, top: 28, bottom: 36 };

/** page returns the HTML report of the result of a rehearsal. */
export function page(result: Result): string {
  const { verdict, requests, lost, refused, command, leftOut, changes, scenarios } = result;
  const title = `Rehearsal: ${verdict}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1 class="${verdict}">${escape(title)}</h1>
<p><code>${escape(command.join(' '))}</code></p>
<p>${String(requests)} requests, ${String(lost)} lost, ${String(refused)} refused.</p>
${leftOut === 0 ? '' : `<p>Scenarios not run because of the interruption: ${String(leftOut)}.</p>\n`}${scenarios.length > 1 ? changeList(changes) : ''}${scenarios.map(section).join('\n')}
</main>
</body>
</html>
`;
}

function section(scenario: ScenarioResult): string {
  const { name, verdict, reason, requests, lost, refused, causes, notes, exit, notTried, propagationMs, clients } =
    scenario;
  const how =
    exit === undefined
      ? ''
      : `, exit code ${String(exit.code)} ${(exit.afterMs / 1_000).toFixed(1)} s after the stop signal`;
  const rows = Object.entries(clients).map(
    ([kind, tally]) =>
      `<tr><th scope="row">${kind}</th><td>${String(tally.sent)}</td><td>${String(tally.lost)}</td><td>${String(tally.refused)}</td></tr>`,
  );
  return `<section>
<h2>${escape(name)} <span class="${verdict}">${verdict}${reason === undefined ? '' : `: ${reason}`}</span></h2>
<p>${String(requests)} requests, ${String(lost)} lost, ${String(refused)} refused; propagation ${String(propagationMs / 1_000)} s${how}.</p>
${[...causes.map(causeText), ...notes.map((note) => `<p>${escape(capitalized(note))}.</p>`)].join('\n')}
<figure>${timeline(scenario)}</figure>
<table><thead><tr><th>clients</th><th>requests</th><th>lost</th><th>refused</th></tr></thead><tbody>${rows.join('')}</tbody></table>
${notTried.length === 0 ? '' : `<p class="dim">Kinds of clients that sent no request: ${notTried.join(', ')}.</p>`}
</section>`;
}

function changeList(changes: readonly string[]): string {
  return changes.length === 0 ? '' : `<p>Changes of the manifest for all scenarios:${linesOf(changes)}</p>\n`;
}

function causeText({ text, remedy, changes }: FoundCause): string {
  return `<p class="cause"><strong>${escape(capitalized(text))}.</strong> ${escape(remedy)}${linesOf(changes)}</p>`;
}

function linesOf(changes: readonly string[]): string {
  return changes.map((change) => `<br><code>${escape(change)}</code>`).join('');
}

// Draws the requests per second as an area, the losses as bars below the area, and the events of the pod as vertical
// lines.
function timeline({ events }: ScenarioResult): string {
  const end = Math.max(1_000, events.at(-1)?.at ?? 0);
  const x = (at: number): number => margin.left + (at / end) * (width - margin.left - margin.right);
  const rates = perSecond(events);
  const most = Math.max(1, ...rates.map(({ answered }) => answered));
  const base = height - margin.bottom;
  const y = (value: number): number => base - (value / most) * (base - margin.top);
  const area = rates.map(({ at, answered }) => `${x(at).toFixed(1)},${y(answered).toFixed(1)}`);
  const first = x(rates[0]?.at ?? 0).toFixed(1);
  const last = x(rates.at(-1)?.at ?? 0).toFixed(1);
  const bars = events
    .filter(({ kind }) => kind === 'requestLost' || kind === 'requestRefused')
    .map(
      ({ at, kind }) =>
        `<line class="${kind}" x1="${x(at).toFixed(1)}" x2="${x(at).toFixed(1)}" y1="${String(base + 2)}" y2="${String(base + 10)}"/>`,
    );
  const ticks = Array.from({ length: Math.floor(end / 5_000) + 1 }, (_, index) => index * 5).map(
    (second) =>
      `<text class="tick" x="${x(second * 1_000).toFixed(1)}" y="${String(height - 8)}" text-anchor="middle">${String(second)} s</text>`,
  );
  return `<svg viewBox="0 0 ${String(width)} ${String(height)}" role="img" aria-label="Timeline of the scenario">
<text class="tick" x="${String(margin.left - 6)}" y="${String(margin.top + 4)}" text-anchor="end">${String(Math.round(most))}/s</text>
<polygon class="answered" points="${first},${String(base)} ${area.join(' ')} ${last},${String(base)}"/>
<line class="axis" x1="${String(margin.left)}" x2="${String(width - margin.right)}" y1="${String(base)}" y2="${String(base)}"/>
${bars.join('')}
${marksOf(events, x, base)}
${ticks.join('')}
</svg>`;
}

const marked: Readonly<Partial<Record<RehearsalEvent['kind'], string>>> = {
  podDeleted: 'ends',
  stopSignal: 'stop signal',
  listenerClosed: 'closed',
  killSignal: 'SIGKILL',
  containerExited: 'exit',
};

// Draws a labelled line for each event. If lines are close together, their labels are in different rows.
function marksOf(events: readonly RehearsalEvent[], x: (at: number) => number, base: number): string {
  let lastX = -Infinity;
  let row = 0;
  return events
    .flatMap(({ kind, at }) => {
      const name = marked[kind];
      if (name === undefined) return [];
      row = x(at) - lastX < 70 ? (row + 1) % 3 : 0;
      lastX = x(at);
      const position = x(at).toFixed(1);
      const top = margin.top - 14 + row * 12;
      return [
        `<line class="mark" x1="${position}" x2="${position}" y1="${String(top)}" y2="${String(base)}"/>` +
          `<text class="mark" x="${String(x(at) + 3)}" y="${String(top + 8)}">${name}</text>`,
      ];
    })
    .join('');
}

function perSecond(events: readonly RehearsalEvent[]): { at: number; answered: number }[] {
  const counts = events.filter(({ kind }) => kind === 'requests');
  const window = 500;
  const points: { at: number; answered: number }[] = [];
  let since = counts[0]?.at ?? 0;
  let before = 0;
  for (const { at, detail } of counts) {
    if (at - since < window) continue;
    const answered = Number(detail['answered']);
    points.push({ at, answered: ((answered - before) / (at - since)) * 1_000 });
    since = at;
    before = answered;
  }
  return points;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${String(character.charCodeAt(0))};`);
}

const style = `
:root { color-scheme: light dark; --text: #1d2129; --dim: #646c7a; --paper: #fff; --line: #c8ccd4; --area: #7aa7d9; --bad: #c0262d; --good: #1a7f37; --warn: #9a6700; }
@media screen and (prefers-color-scheme: dark) { :root { --text: #e6e9ef; --dim: #9aa3b2; --paper: #15181e; --line: #3c424d; --area: #36689c; --bad: #ff7b72; --good: #57c46f; --warn: #e3b341; } }
body { margin: 0; background: var(--paper); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem; }
h1, h2 { line-height: 1.2; }
h2 span { font-size: .8em; }
code { overflow-wrap: anywhere; }
figure { margin: 1rem 0; overflow-x: auto; }
svg { width: 100%; min-width: 34rem; height: auto; }
svg text { font: 11px system-ui, sans-serif; fill: var(--dim); }
.answered { fill: var(--area); } .axis, .mark { stroke: var(--line); } text.mark { stroke: none; fill: var(--text); }
.requestLost { stroke: var(--bad); stroke-width: 2; } .requestRefused { stroke: var(--warn); stroke-width: 2; }
.lost { color: var(--bad); } .clean { color: var(--good); } .withheld { color: var(--warn); } .dim { color: var(--dim); }
.cause { border-left: 3px solid var(--bad); padding-left: .75rem; }
table { border-collapse: collapse; width: 100%; max-width: 34rem; } th, td { padding: .25rem .4rem; border-bottom: 1px solid var(--line); text-align: right; } th:first-child { text-align: left; overflow-wrap: anywhere; }
@media print { body { font-size: 13px; } section { break-inside: avoid; } }
`;
