// Parses and formats Go's duration strings. Kubernetes' flags, charts and the variables of this package use this
// format.

const millisecondsPerUnit: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y;

/** Duration is a Go duration string (`15s`, `1m30s`, `250ms`), or in code a number of milliseconds. */
export type Duration = string | number;

/**
 * parseDuration returns the milliseconds of a Go duration string. It returns undefined if the text is not a duration.
 */
export function parseDuration(text: string): number | undefined {
  const sign = text.startsWith('-') ? -1 : 1;
  const digits = text.replace(/^[+-]/, '');
  if (digits === '0') return 0;
  if (digits === '') return undefined;
  let milliseconds = 0;
  part.lastIndex = 0;
  while (part.lastIndex < digits.length) {
    const match = part.exec(digits);
    if (match === null) return undefined;
    milliseconds += Number(match[1]) * (millisecondsPerUnit[match[2] as string] as number);
  }
  // Adding 0 turns the -0 that results from `-0s` into 0.
  return sign * milliseconds + 0;
}

/** formatDuration formats milliseconds as Go would: `1m30s`, `2.5s`, `250ms`, `0s`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 0) return `-${formatDuration(-milliseconds)}`;
  const rounded = Math.round(milliseconds);
  if (rounded === 0) return '0s';
  if (rounded < 1_000) return `${String(rounded)}ms`;
  const hours = Math.floor(rounded / 3_600_000);
  const minutes = Math.floor((rounded % 3_600_000) / 60_000);
  const seconds = (rounded % 60_000) / 1_000;
  let text = '';
  if (hours > 0) text += `${String(hours)}h`;
  if (minutes > 0 || hours > 0) text += `${String(minutes)}m`;
  return `${text}${String(seconds)}s`;
}
