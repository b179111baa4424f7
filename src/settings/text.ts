// Settings as text, for lines and documents that people read.
import type { Table } from './complete.ts';
import type { Kind } from './kinds.ts';

/** textOf is the value of a setting as text. */
export function textOf(kind: Kind<unknown>, value: unknown): string {
  return value === undefined ? 'unset' : kind.format(value);
}

/** settingTexts has each setting with its source: `{ probePort: '8081 (env)' }`. */
export function settingTexts(
  rows: Table['rows'],
  settings: Readonly<Record<string, unknown>>,
  sources: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(rows).map(([name, { kind }]) => [
      name,
      `${textOf(kind, settings[name])} (${sourceWord(sources[name] as string)})`,
    ]),
  );
}

/** sourceWord is a source in one word: the name of a variable follows from the name of its setting. */
export function sourceWord(source: string): string {
  return source.startsWith('LAMEDUCK_') ? 'env' : source;
}
