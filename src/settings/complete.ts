// Completes the settings: the environment overrides code, and code overrides the default. If settings are invalid, one
// error lists every problem. The object that the caller has passed is not changed.
import { LameduckError, messageOf, quoted } from '../errors.ts';
import { formatDuration } from './duration.ts';
import { disabledVariable, isDisabled, nameShown, nearest, unknownVariables, valueOf } from './environment.ts';
import type { Environment } from './environment.ts';
import type { Kind, Reading } from './kinds.ts';
import { electionTable, electionVariableOf } from './election-table.ts';
import type { Row } from './row.ts';
import { settingsTable, variableOf, type SettingName, type Settings, type SettingsOptions } from './table.ts';

/**
 * Sources contains for each setting where its value was set: the name of an environment variable, `code`, `default` or
 * `development`. If code sets a shutdown delay, lameduck replaces this delay in development, and its source is then
 * `development`.
 */
export type Sources = Readonly<Record<SettingName, string>>;

/**
 * FunctionOptions contains a check for each option that exists in code only. If a value is valid, its check returns
 * undefined. Otherwise, the check returns a text that says what is expected.
 */
export type FunctionOptions<Functions> = {
  readonly [Name in keyof Functions]-?: (given: unknown) => string | undefined;
};

/**
 * CompletedSettings contains the value and the source of every setting, the warnings about the settings, and the
 * options that only code can set.
 */
export interface CompletedSettings<Functions = object, Values = Settings> {
  readonly settings: Values;
  readonly sources: Readonly<Record<keyof Values, string>>;
  /**
   * `functions` contains the options that only code can set. lameduck copies them from the caller's object, because it
   * reads each property of this object only once.
   */
  readonly functions: Functions;
  /**
   * `warnings` are warnings about the settings. lameduck logs each of them once. The settings are valid in spite of
   * them.
   */
  readonly warnings: readonly string[];
}

/** Table is a table of settings, with a function that returns the environment variable of a setting. */
export interface Table {
  readonly rows: Readonly<Record<string, Row<unknown, unknown>>>;
  readonly variableOf: (name: string) => string;
}

const lifecycleTable: Table = { rows: settingsTable, variableOf };

/**
 * aloneVariable is the variable that lets an elector lead without a cluster. Like LAMEDUCK_DISABLED, it is not a
 * setting, so code cannot set it.
 */
export const aloneVariable = 'LAMEDUCK_LEADER_ELECTION_ALONE';

/**
 * settingVariables contains the names of the environment variables of all settings, including the settings for leader
 * election.
 */
export const settingVariables: readonly string[] = [
  ...Object.keys(settingsTable).map(variableOf),
  ...Object.keys(electionTable).map(electionVariableOf),
  aloneVariable,
];

/**
 * completeSettings reads every option once. It throws LAMEDUCK_ERR_SETTINGS_INVALID with one line for each problem: the
 * option, its value, the source of the value, and what is expected.
 */
export function completeSettings<Functions extends object>(
  options: SettingsOptions & Functions,
  environment: Environment,
  functionOptions = {} as FunctionOptions<Functions>,
): CompletedSettings<Functions> {
  const { problems, ...completed } = readSettings(options, environment, functionOptions);
  if (problems.length === 0) return completed;
  throw new LameduckError('LAMEDUCK_ERR_SETTINGS_INVALID', `invalid settings:\n  ${problems.join('\n  ')}`);
}

/**
 * readSettings reads the settings for a caller that must continue even if some settings are invalid. An invalid setting
 * gets its default value, and `problems` gets a line about it. A value in `defaults` replaces the default value of the
 * setting with the same name.
 */
export function readSettings<Functions extends object>(
  options: SettingsOptions & Functions,
  environment: Environment,
  functionOptions = {} as FunctionOptions<Functions>,
  defaults: Partial<Settings> = {},
): CompletedSettings<Functions> & { readonly problems: readonly string[] } {
  const reading = readTable<Settings, Functions>(lifecycleTable, options, environment, functionOptions, defaults);
  return { ...reading, problems: [...reading.problems, ...disabledProblem(environment)] };
}

/**
 * TableReading is the result of reading all settings of one table: the valid values, and one line of text for each
 * invalid value.
 */
export interface TableReading<Values, Functions> extends CompletedSettings<Functions, Values> {
  readonly problems: readonly string[];
}

/**
 * readTable reads each setting of a table of settings, and each option that is a function. It reads each of them only
 * once.
 */
export function readTable<Values extends object, Functions extends object>(
  { rows, variableOf: variableIn }: Table,
  options: object,
  environment: Environment,
  functionOptions: FunctionOptions<Functions>,
  defaults: Readonly<Record<string, unknown>> = {},
): TableReading<Values, Functions> {
  const problems: string[] = [];
  const warnings: string[] = [];
  const { given, known } = readOptions(options, [...Object.keys(rows), ...Object.keys(functionOptions)], problems);
  const settings: Record<string, unknown> = {};
  const sources: Record<string, string> = {};
  const inCluster = (environment['KUBERNETES_SERVICE_HOST'] ?? '') !== '';

  for (const [name, row] of Object.entries(rows)) {
    const kind: Kind<unknown> = row.kind;
    const variable = variableIn(name);
    const text = valueOf(environment, variable);
    sources[name] = 'default';
    settings[name] = defaults[name] ?? row.default(inCluster);
    if (text === undefined && !given.has(name)) continue;
    const source = text === undefined ? 'code' : variable;
    const value = text ?? given.get(name);
    const reading = read(() => (text === undefined ? kind.fromCode(value) : kind.fromText(text)));
    if ('value' in reading) {
      [settings[name], sources[name]] = [reading.value, source];
      if (isMeantInSeconds(kind, value)) warnings.push(secondsWarning(name, value));
    } else problems.push(problemWith(name, value, source, reading.allowed));
  }
  for (const [name, allowedInstead] of Object.entries<(value: unknown) => string | undefined>(functionOptions)) {
    const allowed = given.has(name) ? allowedInstead(given.get(name)) : undefined;
    if (allowed !== undefined) problems.push(problemWith(name, given.get(name), 'code', allowed));
  }
  for (const name of Object.keys(options).filter((one) => !known.includes(one))) {
    const near = nearest(name, known);
    const hint = near === undefined ? '' : `; the nearest is ${near}`;
    problems.push(`${nameShown(name)} from code: unknown option${hint}`);
  }

  return {
    problems,
    settings: Object.freeze(settings) as Values,
    sources: Object.freeze(sources) as Readonly<Record<keyof Values, string>>,
    functions: Object.fromEntries(
      Object.keys(functionOptions).flatMap((name) => (given.has(name) ? [[name, given.get(name)]] : [])),
    ) as Functions,
    warnings: [...warnings, ...unknownVariables(environment, settingVariables)],
  };
}

// Reads the options of lameduck from an object. An option with the value undefined counts as not given. An option that
// the object inherits from its class counts as given.
function readOptions(
  options: object,
  known: readonly string[],
  problems: string[],
): { readonly given: ReadonlyMap<string, unknown>; readonly known: readonly string[] } {
  const given = new Map<string, unknown>();
  for (const name of known) {
    try {
      const value: unknown = (options as Record<string, unknown>)[name];
      if (value !== undefined) given.set(name, value);
    } catch (error) {
      problems.push(`${name} from code: reading this option throws ${quoted(messageOf(error))}`);
    }
  }
  return { given, known };
}

// Calls `reading`, which reads the value of a setting, and returns the result. If a getter of the value throws, the
// result says that the value is invalid.
function read(reading: () => Reading<unknown>): Reading<unknown> {
  try {
    return reading();
  } catch (error) {
    return { allowed: `a plain value: reading this value throws ${quoted(messageOf(error))}` };
  }
}

// If code sets a duration to a number that is not greater than this one, lameduck logs a warning. A number means
// milliseconds, but the author probably meant seconds: a shutdown delay of 10 ms, for example, would be useless.
const mostSecondsMeant = 60;

function isMeantInSeconds(kind: Kind<unknown>, value: unknown): value is number {
  return kind.name === 'duration' && typeof value === 'number' && value > 0 && value <= mostSecondsMeant;
}

function secondsWarning(name: string, value: number): string {
  return `${name}: ${String(value)} from code is ${formatDuration(value)}, because a number means milliseconds; did you mean "${String(value)}s"?`;
}

function problemWith(name: string, value: unknown, source: string, allowed: string): string {
  return `${name}: ${quoted(value)} from ${source}: expected ${allowed}`;
}

function disabledProblem(environment: Environment): string[] {
  if (isDisabled(environment) !== undefined) return [];
  return [`${disabledVariable}: ${quoted(environment[disabledVariable])}: expected 1, 0, true or false`];
}
