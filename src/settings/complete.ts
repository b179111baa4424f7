// Completes the settings: environment over code over default, every problem in one error, the caller's object untouched.
import { LameduckError, messageOf, quoted } from '../errors.ts';
import { formatDuration } from './duration.ts';
import { disabledVariable, isDisabled, nameShown, nearest, unknownVariables, valueOf } from './environment.ts';
import type { Environment } from './environment.ts';
import type { Kind, Reading } from './kinds.ts';
import { electionTable, electionVariableOf } from './election-table.ts';
import type { Row } from './row.ts';
import { settingsTable, variableOf, type SettingName, type Settings, type SettingsOptions } from './table.ts';

/** Sources is where each value came from: its variable, `code`, `default`, or `development`, which overrides code. */
export type Sources = Readonly<Record<SettingName, string>>;

/** FunctionOptions has, for each option that exists in code only, what is allowed instead of a value that is not. */
export type FunctionOptions<Functions> = {
  readonly [Name in keyof Functions]-?: (given: unknown) => string | undefined;
};

/** CompletedSettings is the settings, with what should be said about them, and the options that are no settings. */
export interface CompletedSettings<Functions = object, Values = Settings> {
  readonly settings: Values;
  readonly sources: Readonly<Record<keyof Values, string>>;
  /** The function options that were given. Each property is read only once. */
  readonly functions: Functions;
  /** Texts to log once. They do not make the settings invalid. */
  readonly warnings: readonly string[];
}

/** Table is rows of settings, and the variable of each. */
export interface Table {
  readonly rows: Readonly<Record<string, Row<unknown, unknown>>>;
  readonly variableOf: (name: string) => string;
}

const lifecycleTable: Table = { rows: settingsTable, variableOf };

/** The environment variable with which an elector leads without a cluster. Like LAMEDUCK_DISABLED, it is not a setting. */
export const aloneVariable = 'LAMEDUCK_LEADER_ELECTION_ALONE';

/** settingVariables are the variables of all settings, those of electors included. */
export const settingVariables: readonly string[] = [
  ...Object.keys(settingsTable).map(variableOf),
  ...Object.keys(electionTable).map(electionVariableOf),
  aloneVariable,
];

/**
 * completeSettings reads every option, once. Throws LAMEDUCK_ERR_SETTINGS_INVALID with one line per problem: the option,
 * its value, where that came from, and what is allowed.
 */
export function completeSettings<Functions extends object>(
  options: SettingsOptions & Functions,
  environment: Environment,
  functionOptions = {} as FunctionOptions<Functions>,
): CompletedSettings<Functions> {
  const { problems, ...completed } = readSettings(options, environment, functionOptions);
  if (problems.length === 0) return completed;
  throw new LameduckError('LAMEDUCK_ERR_SETTINGS_INVALID', `settings refused:\n  ${problems.join('\n  ')}`);
}

/**
 * readSettings is completeSettings for callers that must continue with invalid settings. An invalid setting gets its default,
 * and a line in `problems`. `defaults` override those of the table.
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

/** TableReading is what was read of a table of settings, and what is wrong with it. */
export interface TableReading<Values, Functions> extends CompletedSettings<Functions, Values> {
  readonly problems: readonly string[];
}

/** readTable reads the settings of a table, and the options that are functions, each once. */
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
    problems.push(`${nameShown(name)} from code: there is no such option${hint}`);
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

// An option that is undefined is one that is not given. Those that an object inherits from its class count like its own.
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
      problems.push(`${name} from code: reading it throws ${quoted(messageOf(error))}`);
    }
  }
  return { given, known };
}

// The given value may have getters that throw.
function read(reading: () => Reading<unknown>): Reading<unknown> {
  try {
    return reading();
  } catch (error) {
    return { allowed: `a value that can be read; reading it throws ${quoted(messageOf(error))}` };
  }
}

// Nobody waits 10 ms for clients to leave, and many write seconds where a number means milliseconds.
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
