// Writes the page of settings, from the rows of the settings tables and the comments above them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { electionTable, electionVariableOf } from '../../src/settings/election-table.ts';
import { limit, period, stallLimit, wholeSeconds, type Kind } from '../../src/settings/kinds.ts';
import type { Row } from '../../src/settings/row.ts';
import { logRows } from '../../src/settings/log-table.ts';
import { metricsRows } from '../../src/settings/metrics-table.ts';
import { settingsTable, variableOf } from '../../src/settings/table.ts';

type Rows = Readonly<Record<string, Row<unknown, unknown>>>;

/** SettingComment is the parsed comment above a row of the settings table. */
export interface SettingComment {
  readonly description: string;
  /** The default of the setting, from the tag `@default` of the comment. */
  readonly default: string;
}

/**
 * settingComments returns the comment of each setting, by the name of the setting. It reads the comments from the
 * tables in src/settings.
 */
export function settingComments(): Map<string, SettingComment> {
  return new Map([
    ...commentsIn('table.ts', settingsTable),
    ...commentsIn('log-table.ts', logRows),
    ...commentsIn('metrics-table.ts', metricsRows),
    ...commentsIn('election-table.ts', electionTable),
  ]);
}

function commentsIn(name: string, rows: Rows): Map<string, SettingComment> {
  const file = join(import.meta.dirname, '..', '..', 'src', 'settings', name);
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const comments = new Map<string, SettingComment>();
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node) && node.name.getText() in rows) {
      const [comment] = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
      const byDefault = ts.getJSDocTags(node).find(({ tagName }) => tagName.text === 'default');
      // The comment of a setting begins with its name, because editors show the comment alone. Remove the name here,
      // because the settings page has a column for the name.
      const description = textOf(comment).replace(/^\w+: /, '');
      comments.set(node.name.getText(), { description, default: textOf(byDefault) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return comments;
}

function textOf(commented: ts.JSDoc | ts.JSDocTag | undefined): string {
  return (ts.getTextOfJSDocComment(commented?.comment) ?? '').replace(/\s+/g, ' ').trim();
}

/**
 * settingsPage lists each setting with its variable, its accepted values, its default, and the Kubernetes flag after
 * which the setting is named.
 */
export function settingsPage(): string {
  const lines = [
    ...opening,
    ...tableOf(settingsTable, variableOf),
    ...disabling,
    ...election,
    ...tableOf(electionTable, electionVariableOf),
    ...kindsSection(),
    ...closing,
  ];
  return lines.join('\n');
}

function tableOf(rows: Rows, variable: (name: string) => string): string[] {
  const comments = settingComments();
  return [
    '| option and variable | type | default | named after this flag or field | meaning |',
    '| --- | --- | --- | --- | --- |',
    ...Object.entries(rows).map(([name, row]) => {
      const comment = comments.get(name);
      const cells = [
        `\`${name}\`<br>\`${variable(name)}\``,
        nameOf(row.kind),
        comment?.default ?? '',
        row.namedAfter?.replace(/^--.*/, '`$&`') ?? '',
        comment?.description ?? '',
      ];
      return `| ${cells.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`;
    }),
  ];
}

/**
 * kindsSection explains, for each kind of setting, which values are allowed. It takes the words from the error for an
 * invalid value.
 */
function kindsSection(): string[] {
  const all: Rows = { ...settingsTable, ...electionTable };
  const kinds = new Set<Kind<unknown>>(Object.values(all).map(({ kind }) => kind));
  const rows = [...kinds].flatMap((kind) => {
    const reading = kind.fromText('?');
    // For a setting with fixed choices, the settings page lists the choices instead of the name of a type. The table of
    // types therefore has no row for this setting.
    if ('allowed' in reading && reading.allowed === kind.name) return [];
    const note = notes[nameOf(kind)];
    if ('value' in reading || note === undefined)
      throw new Error(`scripts/docs/settings-page.ts knows no kind ${nameOf(kind)}`);
    return `| type ${nameOf(kind)} | ${reading.allowed} | ${note} |`;
  });
  return ['', '## Types of values', '', '| type | valid values | form |', '| --- | --- | --- |', ...rows];
}

// The settings page has a name for each of these four types of settings: limit, stall limit, period, and whole seconds.
// In error messages, all four are called "duration".
const durations = new Map<Kind<unknown>, string>([
  [limit, 'limit'],
  [stallLimit, 'stall limit'],
  [period, 'period'],
  [wholeSeconds, 'whole seconds'],
]);

function nameOf(kind: Kind<unknown>): string {
  return durations.get(kind) ?? kind.name;
}

const notes: Readonly<Record<string, string>> = {
  duration: 'Text with a unit: `h`, `m`, `s`, `ms`, `us`, `ns`. In code, also a number of milliseconds.',
  limit: 'A limit is written like a duration.',
  'stall limit':
    'A stall limit is written like a duration. It is at least a second, because a busy event loop is often blocked for less.',
  period:
    'A period is written like a duration. It is at least 1 s, because candidates that are written in Go cannot distinguish two renewals of a Lease within one second.',
  'whole seconds':
    'Whole seconds are written like a duration. They are whole, because a Lease cannot store fractions of a second.',
  namespace: 'The name, as text.',
  port: 'In code, the port is a number. `0` means off.',
  host: 'The address, as text.',
  boolean: 'In a variable, `1` and `0` are valid too.',
  seconds: 'A number without a unit.',
  count: 'In code, the count is a number.',
  chance: 'In code, the chance is a number.',
  path: "Letters, digits, `.`, `_`, `~` and `-` between slashes, without a slash at the end. In code, `''` also means off.",
  paths: 'A comma-separated list. In code, also an array. lameduck compares the path of a request without its query.',
  'path prefixes':
    'A comma-separated list. In code, also an array. A path also includes all paths below it: `/watch` includes `/watch/orders`, but not `/watches`.',
  durations: 'A comma-separated list. In code, also an array of durations.',
  file: "In code, `''` also means off.",
  'log file': "In code, `''` also means off.",
  'process signals':
    'A comma-separated list. In code, also an array. SIGKILL, SIGSTOP and signals after which a process cannot continue, such as SIGSEGV, are invalid.',
};

const opening = [
  '# Settings',
  '',
  'You can set each setting as an option in code, or as a variable in the environment:',
  '',
  '```ts',
  "lameduck(server, { shutdownDelayDuration: '15s' });",
  '```',
  '',
  '```sh',
  'LAMEDUCK_SHUTDOWN_DELAY_DURATION=15s node server.js',
  '```',
  '',
  '- A variable overrides an option in code, and an option overrides the default. The first log line has the source of each value.',
  '- A duration has the format of Go: `15s`, `1m30s`, `250ms`. In code, a number means milliseconds. In a variable, the unit is',
  '  required.',
  '- A variable with an empty value counts as unset.',
  '- If a value is invalid, `lameduck()` throws one error that lists all problems: each option with its value, its source and the',
  '  expected values.',
  '- If the name of a `LAMEDUCK_` variable is unknown, a warning suggests the most similar name. lameduck ignores the variables that',
  '  Kubernetes adds for a Service named `lameduck…`.',
  '',
  'This page is generated by `npm run docs` from `table.ts`, `log-table.ts`, `metrics-table.ts` and `election-table.ts` in `src/settings`. Edit these files, not this page.',
  '',
];

const disabling = [
  '',
  '`LAMEDUCK_DISABLED=1` switches lameduck off. lameduck then handles no process signal, answers no probe, drains nothing on its own and',
  'calls no post-start hook. If your program calls `duck.shutdown()`, lameduck still calls the other hooks.',
];

const election = [
  '',
  '## Leader election',
  '',
  'These settings are options of `createElector(options)`. [leader-election.md](leader-election.md) describes the other options of an elector.',
  '',
];

const closing = [
  '',
  '## In code only',
  '',
  'Four options of `lameduck()` can be set in code only, because they are functions or objects:',
  '',
  '| option | meaning | page that describes the option |',
  '| --- | --- | --- |',
  '| `logger` | the target of the log: an object with `info`, `warn` and `error`, and with `flush` if it buffers | [log.md](log.md) |',
  '| `registry` | a registry of prom-client, or any object with `registerMetric`, in which all metrics are registered | [metrics.md](metrics.md) |',
  '| `longRunning` | a function that returns whether a request is long-running | [draining-event-streams.md](draining-event-streams.md) |',
  '| `route` | a function that returns the route of a request, for metrics and the log | [metrics.md](metrics.md#what-is-counted-and-how) |',
  '',
  '## Settings that conflict',
  '',
  'Shutdown delay, hooks and drain share the [shutdown budget](lifecycle.md#the-shutdown-budget). If less than one second would be',
  'left for requests, `lameduck()` throws an error with the sum and the source of each number. Other conflicts of settings cause a',
  'warning after the first log line:',
  '',
  '- lameduck warns if `requestTimeout` is longer than the time limit of the drain. Such a request would be cut at the end of the drain, before `requestTimeout` has passed.',
  '- lameduck warns if you set a `shutdownWatchTerminationGracePeriod` that is longer than the time limit of the drain. The drain',
  '  then ends long-running requests at its own time limit, before `shutdownWatchTerminationGracePeriod` has passed.',
  '- lameduck warns if `healthCheckTimeout` is one second or more. A probe with the default `timeoutSeconds` then times out before the',
  '  check does, so that no answer names the failing check.',
  '- lameduck warns if `livezEventLoopStallLimit` is shorter than `readyzEventLoopStallLimit`. With these',
  '  limits, a blocked event loop makes the kubelet restart the container before the pod is removed from its Services.',
  '',
];
