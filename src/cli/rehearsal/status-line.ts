// Formats the status line that a terminal shows during a rehearsal. No side effects.
import type { Detail } from './event-log.ts';

// The fields of the status line, the least important field first. A narrow terminal shows only the most important
// fields.
const byImportance = ['inFlight', 'bar', 'requests', 'left', 'refused', 'lost'] as const;

type Field = (typeof byImportance)[number];

/** Status contains the text of each field of the status line, which a terminal shows during a rehearsal. */
export type Status = Readonly<Record<Field, string>>;

/** statusOf returns the status of a scenario at the time `at`. The scenario takes at most `longestMs` milliseconds. */
export function statusOf(at: number, longestMs: number, { sent, inFlight, lost, refused }: Detail): Status {
  return {
    bar: progressBar(at, longestMs),
    left: `at most ${String(Math.max(0, Math.ceil((longestMs - at) / 1_000)))} s left`,
    requests: `${String(sent)} requests`,
    inFlight: `${String(inFlight)} in flight`,
    lost: `${String(lost)} lost`,
    refused: `${String(refused)} refused`,
  };
}

/**
 * statusLine returns a line of at most `width` characters. If not all fields fit, the line leaves out the least
 * important fields.
 */
export function statusLine(status: Status, width: number): string {
  const lines = byImportance.map((_, leftOut) => {
    const shown: readonly Field[] = byImportance.slice(leftOut);
    const texts = (fields: readonly Field[]): string[] =>
      fields.filter((field) => shown.includes(field)).map((field) => status[field]);
    const parts = [texts(['bar', 'left']).join(' '), texts(['requests', 'inFlight', 'lost', 'refused']).join(', ')];
    return parts.filter((part) => part !== '').join('  ');
  });
  return lines.find((line) => line.length <= width) ?? '';
}

const barWidth = 16;

// Returns a bar that shows the elapsed share of the longest duration.
function progressBar(at: number, longestMs: number): string {
  const done = Math.min(barWidth, Math.floor((at / longestMs) * barWidth));
  return `[${'#'.repeat(done)}${'-'.repeat(barWidth - done)}]`;
}
