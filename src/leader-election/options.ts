// The options of an elector: read with the rules of all settings, and every problem in one error.
import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { LameduckError, quoted } from '../errors.ts';
import { loggerAllowed, type Logger } from '../observers/logger.ts';
import type { LogSettings } from '../observers/logging.ts';
import { checkOptions } from '../registration.ts';
import { aloneVariable, readTable, type FunctionOptions, type Table } from '../settings/complete.ts';
import { formatDuration } from '../settings/duration.ts';
import { electionTable, electionVariableOf } from '../settings/election-table.ts';
import type { ElectionSettings, ElectionSettingsOptions } from '../settings/election-table.ts';
import { boolean, functionAllowed } from '../settings/kinds.ts';
import { valueOf, type Environment } from '../settings/environment.ts';
import { settingsTable, variableOf } from '../settings/table.ts';
import { namespaceOf, type ApiServer } from './api-server.ts';
import type { Election } from './state.ts';

/** CodeOptions are those that exist in code only. */
export interface CodeOptions<Lifecycle> {
  /** The name of the Lease. All electors that contend for one Lease must run the same work. */
  readonly leaseName: string;
  /**
   * The holder identity in the Lease. Two electors with the same identity both lead, so keep the default if possible.
   *
   * @default the host name, `_` and a random UUID
   */
  readonly identity?: string | undefined;
  /** Labels that each write sets on the Lease. Other labels are kept. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** The handle that `lameduck()` returned. At its shutdown, leadership is handed over while requests are still served. */
  readonly lifecycle?: Lifecycle | undefined;
  /** The logger. By default, the elector uses the logger of `lifecycle`, or writes to standard output. */
  readonly logger?: Logger | undefined;
  /**
   * The reaction to a loss of the leadership. `contend` contends again. `shutdown` shuts the process down with
   * exit code 83, and needs a `lifecycle`.
   *
   * @default `contend`
   */
  readonly onLoss?: 'contend' | 'shutdown' | undefined;
  /** Called with the identity of each new leader, this elector included. Its errors are logged. */
  readonly onLeaderChange?: ((identity: string) => unknown) | undefined;
  /**
   * The API server.
   *
   * @default the one of the cluster in which the process runs
   */
  readonly apiServer?: ApiServer | undefined;
}

/** ElectorOptions is what `createElector` takes. */
export interface ElectorOptions<Lifecycle> extends ElectionSettingsOptions, CodeOptions<Lifecycle> {}

/** CompletedOptions is the options of an elector, complete and validated. */
export interface CompletedOptions<Lifecycle> {
  readonly election: Election;
  readonly settings: ElectionSettings;
  readonly sources: Readonly<Record<string, string>>;
  /** The settings of the log, which an elector reads only from the environment. */
  readonly log: LogSettings;
  readonly code: CodeOptions<Lifecycle>;
  readonly isAlone: boolean;
  readonly warnings: readonly string[];
}

const table: Table = { rows: electionTable, variableOf: electionVariableOf };

const { logLevel, logFormat } = settingsTable;
const logTable: Table = { rows: { logLevel, logFormat }, variableOf };

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const nameAllowed = 'the name of a Lease: at most 253 lower-case letters, digits, "-" and "."';

const codeOptions: FunctionOptions<CodeOptions<unknown>> = {
  leaseName: (given) =>
    typeof given === 'string' && given.length <= 253 && subdomain.test(given) ? undefined : nameAllowed,
  identity: (given) => (typeof given === 'string' && given.trim() !== '' ? undefined : 'text that is not empty'),
  labels: (given) => (isTexts(given) ? undefined : 'an object of texts'),
  lifecycle: (given) => (isHandle(given) ? undefined : 'the handle that lameduck() has returned'),
  logger: loggerAllowed,
  onLoss: (given) => (given === 'contend' || given === 'shutdown' ? undefined : '`contend` or `shutdown`'),
  onLeaderChange: functionAllowed,
  apiServer: apiServerAllowed,
};

/**
 * readOptions reads the options and the environment. Throws LAMEDUCK_ERR_SETTINGS_INVALID with one line per problem. The
 * namespace is the pod's own unless given; `folder` is where the kubelet mounts it.
 */
export function readOptions<Lifecycle>(
  options: ElectorOptions<Lifecycle>,
  environment: Environment,
  folder: string,
): CompletedOptions<Lifecycle> {
  checkOptions('createElector()', options);
  const reading = readTable<ElectionSettings, CodeOptions<unknown>>(table, options, environment, codeOptions);
  const { settings, sources, functions, warnings } = reading;
  const code = functions as Partial<CodeOptions<Lifecycle>> & object;
  const isAlone = readAlone(environment);
  const namespace = settings.leaseNamespace ?? namespaceOf(folder) ?? (isAlone === true ? 'default' : undefined);
  const log = readTable<LogSettings, object>(logTable, {}, environment, {});
  const problems = [
    ...reading.problems,
    ...log.problems,
    ...(code.leaseName === undefined ? [`leaseName must be given: ${nameAllowed}`] : []),
    ...relationProblems(settings),
    ...aloneProblems(isAlone, environment),
    ...(namespace === undefined
      ? [
          `leaseNamespace must be given, or ${electionVariableOf('leaseNamespace')}, where there is no file ${folder}/namespace`,
        ]
      : []),
    ...(code.onLoss === 'shutdown' && code.lifecycle === undefined ? ['onLoss: "shutdown" needs a lifecycle'] : []),
  ];
  if (problems.length > 0 || namespace === undefined || code.leaseName === undefined) {
    throw new LameduckError('LAMEDUCK_ERR_SETTINGS_INVALID', `settings refused:\n  ${problems.join('\n  ')}`);
  }
  const { leaseDuration, renewDeadline, retryPeriod } = settings;
  const identity = code.identity ?? `${hostname()}_${randomUUID()}`;
  const election = {
    ...{ identity, name: code.leaseName, namespace, labels: { ...code.labels } },
    ...{ leaseDuration, renewDeadline, retryPeriod },
  };
  return {
    election,
    settings,
    sources,
    log: log.settings,
    code: { ...code, leaseName: code.leaseName },
    isAlone: isAlone === true,
    warnings,
  };
}

// Both at once, unlike client-go, which reports the first (L-002). The factor is that of its jitter.
function relationProblems({ leaseDuration, renewDeadline, retryPeriod }: ElectionSettings): string[] {
  const problems: string[] = [];
  if (leaseDuration <= renewDeadline) {
    problems.push(
      `leaseDuration must be greater than renewDeadline: ${formatDuration(leaseDuration)} and ${formatDuration(renewDeadline)}`,
    );
  }
  if (renewDeadline <= 1.2 * retryPeriod) {
    problems.push(
      `renewDeadline must be greater than 1.2 times retryPeriod: ${formatDuration(renewDeadline)} and ${formatDuration(retryPeriod)}`,
    );
  }
  return problems;
}

function readAlone(environment: Environment): boolean | undefined {
  const text = valueOf(environment, aloneVariable);
  if (text === undefined) return false;
  const reading = boolean.fromText(text.toLowerCase());
  return 'value' in reading ? reading.value : undefined;
}

function aloneProblems(isAlone: boolean | undefined, environment: Environment): string[] {
  if (isAlone === undefined)
    return [`${aloneVariable} must be 1, 0, true or false, got ${quoted(environment[aloneVariable])}`];
  const inCluster = (environment['KUBERNETES_SERVICE_HOST'] ?? '') !== '';
  return isAlone && inCluster ? [`${aloneVariable}=1 is invalid in a cluster: each pod would lead`] : [];
}

function isTexts(given: unknown): boolean {
  return isObject(given) && Object.values(given).every((value) => typeof value === 'string');
}

function isHandle(given: unknown): boolean {
  return isObject(given) && 'addPreShutdownHook' in given && 'addLivezCheck' in given;
}

function isObject(given: unknown): given is object {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

const serverAllowed =
  '{ url, token?, tokenFile?, caFile? } with an https: URL, or an http: URL of a loopback address such as http://127.0.0.1:8001';

function apiServerAllowed(given: unknown): string | undefined {
  if (!isTexts(given)) return serverAllowed;
  const { url, token, tokenFile, caFile, ...others } = given as Record<string, string>;
  const parsed = URL.parse(url ?? '');
  if (parsed === null || Object.keys(others).length > 0) return serverAllowed;
  if ((token !== undefined && tokenFile !== undefined) || caFile === '' || tokenFile === '') return serverAllowed;
  const isSafe = parsed.protocol === 'https:' || (parsed.protocol === 'http:' && isLoopback(parsed.hostname));
  return isSafe ? undefined : serverAllowed;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'));
}
