// Formats settings as text, for log lines and documents.
import type { Table } from './complete.ts';
import type { Kind } from './kinds.ts';

/** textOf returns the value of a setting as text. */
export function textOf(kind: Kind<unknown>, value: unknown): string {
  return value === undefined ? 'unset' : kind.format(value);
}

/** settingTexts returns each setting as a text with its value and source: `{ probePort: '8081 (env)' }`. */
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

/**
 * sourceWord returns the source of a setting's value as one word. If the source is an environment variable, the word is
 * `env`: readers can derive the name of the variable from the name of the setting.
 */
export function sourceWord(source: string): string {
  return source.startsWith('LAMEDUCK_') ? 'env' : source;
}
