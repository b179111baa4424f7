// Completes the settings: environment over code over default, every problem in one error, the caller's object untouched.
import { LameduckError, quoted } from '../errors.ts';
import {
  disabledVariable,
  isDisabled,
  isServiceLink,
  nearest,
  unknownVariables,
  type Environment,
} from './environment.ts';
import type { Kind } from './kinds.ts';
import { settingsTable, variableOf, type SettingName, type Settings, type SettingsOptions } from './table.ts';

/** CompletedSettings is the settings, with what should be said about them. */
export interface CompletedSettings {
  readonly settings: Settings;
  /** Where each value came from: its variable, `code` or `default`. */
  readonly sources: Readonly<Record<SettingName, string>>;
  /** What should be said once, though nothing is refused. */
  readonly warnings: readonly string[];
}

const settingNames = Object.keys(settingsTable) as SettingName[];

/**
 * completeSettings reads every setting. Throws LAMEDUCK_ERR_SETTINGS_INVALID with one line per problem: the option or
 * variable, its value, and what is allowed. `otherProblem` is one that was found with an option that is no setting.
 */
export function completeSettings(
  options: SettingsOptions,
  environment: Environment,
  otherProblem?: string,
): CompletedSettings {
  const problems = otherProblem === undefined ? [] : [otherProblem];
  const settings: Record<string, unknown> = {};
  const sources: Record<string, string> = {};
  const inCluster = (environment['KUBERNETES_SERVICE_HOST'] ?? '') !== '';

  for (const name of settingNames) {
    const row = settingsTable[name];
    const kind: Kind<unknown> = row.kind;
    const variable = variableOf(name);
    const text = (environment[variable] ?? '').trim();
    const given = options[name];
    const isSet = text !== '' && !isServiceLink(variable, text);
    sources[name] = isSet ? variable : given === undefined ? 'default' : 'code';
    if (!isSet && given === undefined) {
      settings[name] = row.default(inCluster);
      continue;
    }
    const reading = isSet ? kind.fromText(text) : kind.fromCode(given);
    if ('value' in reading) settings[name] = reading.value;
    else if (isSet) problems.push(`${variable}=${quoted(text)}: allowed is ${reading.allowed}`);
    else problems.push(`option ${name}: ${quoted(given)}: allowed is ${reading.allowed}`);
  }
  if (isDisabled(environment) === undefined) {
    problems.push(`${disabledVariable}=${quoted(environment[disabledVariable])}: allowed is 1, 0, true or false`);
  }
  for (const name of Object.keys(options)) if (!Object.hasOwn(settingsTable, name)) problems.push(unknownOption(name));

  if (problems.length > 0) {
    throw new LameduckError('LAMEDUCK_ERR_SETTINGS_INVALID', `settings refused:\n  ${problems.join('\n  ')}`);
  }
  return {
    settings: Object.freeze(settings) as unknown as Settings,
    sources: Object.freeze(sources),
    warnings: unknownVariables(environment, settingNames.map(variableOf)),
  };
}

function unknownOption(name: string): string {
  const near = nearest(name, settingNames);
  return `option ${name}: there is no such option${near === undefined ? '' : `; the nearest is ${near}`}`;
}
