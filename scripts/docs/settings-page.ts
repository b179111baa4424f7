// The page of settings, from the rows of the tables and the comments above them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { electionTable, electionVariableOf } from '../../src/settings/election-table.ts';
import { limit, period, stallLimit, wholeSeconds, type Kind } from '../../src/settings/kinds.ts';
import type { Row } from '../../src/settings/row.ts';
import { settingsTable, variableOf } from '../../src/settings/table.ts';

type Rows = Readonly<Record<string, Row<unknown, unknown>>>;

/** SettingComment is what the comment above a row of the table says. */
export interface SettingComment {
  readonly description: string;
  /** Its tag `@default`. */
  readonly default: string;
}

/** settingComments reads the comment of each row. */
export function settingComments(): Map<string, SettingComment> {
  return new Map([...commentsIn('table.ts', settingsTable), ...commentsIn('election-table.ts', electionTable)]);
}

function commentsIn(name: string, rows: Rows): Map<string, SettingComment> {
  const file = join(import.meta.dirname, '..', '..', 'src', 'settings', name);
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const comments = new Map<string, SettingComment>();
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node) && node.name.getText() in rows) {
      const [comment] = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
      const byDefault = ts.getJSDocTags(node).find(({ tagName }) => tagName.text === 'default');
      comments.set(node.name.getText(), { description: textOf(comment), default: textOf(byDefault) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return comments;
}

function textOf(commented: ts.JSDoc | ts.JSDocTag | undefined): string {
  return (ts.getTextOfJSDocComment(commented?.comment) ?? '').replace(/\s+/g, ' ').trim();
}

/** settingsPage lists each setting with its variable, what it takes, its default and the flag that it is named after. */
export function settingsPage(): string {
  const lines = [
    ...[...opening, ...tableOf(settingsTable, variableOf), ...disabling],
    ...[...election, ...tableOf(electionTable, electionVariableOf), ...kindsSection(), ...closing],
  ];
  return lines.join('\n');
}

function tableOf(rows: Rows, variable: (name: string) => string): string[] {
  const comments = settingComments();
  return [
    '| option and variable | takes | default | named after | meaning |',
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

/** kindsSection says of each kind that a setting has what is allowed, in the words of the error that refuses the rest. */
function kindsSection(): string[] {
  const all: Rows = { ...settingsTable, ...electionTable };
  const kinds = new Set<Kind<unknown>>(Object.values(all).map(({ kind }) => kind));
  const rows = [...kinds].flatMap((kind) => {
    const reading = kind.fromText('?');
    // The name of a choice is what it allows.
    if ('allowed' in reading && reading.allowed === kind.name) return [];
    const note = notes[nameOf(kind)];
    if ('value' in reading || note === undefined)
      throw new Error(`scripts/docs/settings-page.ts knows no kind ${nameOf(kind)}`);
    return `| ${nameOf(kind)} | ${reading.allowed} | ${note} |`;
  });
  return ['', '## What each kind takes', '', '| takes | allowed | how |', '| --- | --- | --- |', ...rows];
}

// In errors these are durations as well.
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
  duration: 'As text with its unit: `h`, `m`, `s`, `ms`, `us`, `ns`. In code also a number of milliseconds.',
  limit: 'As a duration.',
  'stall limit': 'As a duration. What is shorter than a second is a loop that is busy.',
  period: 'As a duration. Two renewals within one second look like one to a program in Go.',
  'whole seconds': 'As a duration. A Lease has room for whole seconds only.',
  namespace: 'As text.',
  port: 'In code a number; `0` is off.',
  host: 'As text.',
  boolean: 'In the environment also `1` and `0`.',
  seconds: 'Without a unit; in code a number.',
  count: 'In code a number.',
  chance: 'In code a number.',
  path: "Of letters, digits, `.`, `_`, `~` and `-` between its slashes, without one at the end. In code also `''`, which is off.",
  paths:
    'As text a list with commas, in code also an array. Each is compared with the path of a request without its query.',
  file: "In code also `''`, which is off.",
  'process signals':
    'As text a list with commas, in code also an array. Not SIGKILL and SIGSTOP, nor those behind which no process can go on, such as SIGSEGV.',
};

const opening = [
  '# Settings',
  '',
  'Written by `npm run docs` from `src/settings/table.ts` and `election-table.ts`: do not edit it.',
  '',
  'Set how a process starts and ends, in its code or by variables where it is deployed. Each row is an option of',
  '`lameduck(server, options)` and a variable of the environment. The environment overrides the code, and the code overrides',
  'the default. The line that is logged at the start names the source of each value.',
  '',
  'A duration is written as in Go: `15s`, `1m30s`, `250ms`. In code it may also be a number of milliseconds; in the',
  'environment it needs its unit. An empty variable counts as absent. If a value is invalid, `lameduck()` throws one error that',
  'lists all problems, each with the option, its value, its source and the values that are allowed. For an unknown `LAMEDUCK_`',
  'variable, the log has a warning with the nearest name. Variables that Kubernetes injects for a Service named `lameduck…` are',
  'ignored.',
  '',
];

const disabling = [
  '',
  '`LAMEDUCK_DISABLED=1` switches everything off: no process signal is listened for, no probe is answered, nothing drains',
  'by itself, and post-start hooks are not called. `shutdown()` still calls the other hooks.',
];

const election = [
  '',
  '## Leader election',
  '',
  'These are options of `createElector(options)`. The page on [leader election](leader-election.md) has the rest.',
  '',
];

const closing = [
  '',
  '## In code only',
  '',
  'Four options are functions or objects, which no variable can hold:',
  '',
  '| option | is | more in |',
  '| --- | --- | --- |',
  '| `logger` | where the log goes: an object with `info`, `warn` and `error`, and with `flush` if it writes later | [log.md](log.md) |',
  '| `registry` | a registry of prom-client, or anything with `registerMetric`, in which all metrics are registered | [metrics.md](metrics.md) |',
  '| `longRunning` | a function that tells of a request whether it is long-running | [draining.md](draining-event-streams.md) |',
  '| `route` | a function that names the route of a request, for metrics and the log | [metrics.md](metrics.md#what-is-counted-and-how) |',
  '',
  '## What has to fit together',
  '',
  'Delay, hooks and drain share the [shutdown budget](lifecycle.md#the-shutdown-budget). When less than a second would be',
  'left for requests, the start is refused with the sum, and with where each of its numbers came from. The rest is warned',
  'about, behind the line that is logged at the start:',
  '',
  '- a `requestTimeout` that is longer than the drain, whose end cuts a request that takes so long;',
  '- a `shutdownWatchTerminationGracePeriod` that was chosen longer than the drain, and is cut to it;',
  '- a `healthCheckTimeout` of a second or more: a probe without a `timeoutSeconds` of its own gives up by then, and nobody',
  '  learns which check it was;',
  '- a `livezEventLoopStallLimit` that is shorter than `readyzEventLoopStallLimit`: a process whose event loop is blocked is',
  '  restarted before it is out of its services.',
  '',
];
