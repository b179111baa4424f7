// The page of settings.
import { seconds } from '../src/settings/kinds.ts';
import { settingsTable, variableOf, type Row, type SettingName } from '../src/settings/table.ts';

/** settingsPage lists each setting with its variable, what it takes, its default and the flag that it is named after. */
export function settingsPage(): string {
  const rows = (Object.keys(settingsTable) as SettingName[]).map((name) => tableRow(name, settingsTable[name]));
  return [...opening, ...rows, ''].join('\n');
}

function tableRow(name: string, row: Row<unknown, unknown>): string {
  const cells = [
    `\`${name}\`<br>\`${variableOf(name)}\``,
    row.kind.name,
    row.defaultText ?? `\`${defaultOf(row)}\``,
    row.namedAfter?.replace(/^--.*/, '`$&`') ?? '',
    row.description,
  ];
  return `| ${cells.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`;
}

// As it would be written in the environment, where seconds have no unit.
function defaultOf(row: Row<unknown, unknown>): string {
  const value = row.default(false);
  return typeof value === 'number' && row.kind === seconds ? String(value) : row.kind.format(value);
}

const opening = [
  '# Settings',
  '',
  'Written by `npm run docs` from `src/settings/table.ts`: do not edit it.',
  '',
  'The environment has the last word, then code, then the default; the line that is logged at the start names the source',
  'of each. A duration is written as in Go: `15s`, `1m30s`, `250ms`. In code it may also be a number of milliseconds; in',
  'the environment it needs its unit. An empty variable counts as absent. A value that cannot be read refuses to start,',
  'with all problems in one error, and an unknown `LAMEDUCK_` variable is one warning with the nearest name. Variables that',
  'Kubernetes injects for a Service named `lameduck…` are ignored.',
  '',
  '`LAMEDUCK_DISABLED=1` switches everything off: no process signal is listened for, no probe is answered, nothing drains',
  'by itself, and post-start hooks are not called. `shutdown()` still calls the other hooks.',
  '',
  '| option and variable | takes | default | named after | meaning |',
  '| --- | --- | --- | --- | --- |',
];
