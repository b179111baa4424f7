// The options of an elector. They are read and checked like every other setting. If several options are invalid, one
// error lists all problems.
import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { LameduckError, quoted } from '../errors.ts';
import { loggerAllowed, type Logger } from '../observers/logger.ts';
import type { LogSettings } from '../observers/logging.ts';
import { checkOptions } from '../arguments.ts';
import { aloneVariable, readTable, type FunctionOptions, type Table } from '../settings/complete.ts';
import { formatDuration } from '../settings/duration.ts';
import { electionTable, electionVariableOf } from '../settings/election-table.ts';
import type { ElectionSettings, ElectionSettingsOptions } from '../settings/election-table.ts';
import { boolean, functionAllowed } from '../settings/kinds.ts';
import { valueOf, type Environment } from '../settings/environment.ts';
import { settingsTable, variableOf } from '../settings/table.ts';
import { isToken, namespaceOf, notInCluster, type ApiServer } from './api-client/credentials.ts';
import type { Election } from './decision/state.ts';

/** CodeOptions contains the options that no environment variable can set. */
export interface CodeOptions<Lifecycle> {
  /** leaseName is the name of the Lease. All electors that contend for one Lease must run the same work. */
  readonly leaseName: string;
  /**
   * `identity` is this process's identity as holder of the Lease. Two electors with the same identity both lead, so
   * keep the default if possible.
   *
   * @default the host name, `_` and a random UUID
   */
  readonly identity?: string | undefined;
  /**
   * `labels` are the labels that each write sets on the Lease. A write does not change other labels of the Lease. By
   * default, it sets no labels.
   */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /**
   * `lifecycle` is the handle that `lameduck()` returned. When its shutdown begins, the elector releases the Lease
   * while requests are still served. By default, there is no lifecycle.
   */
  readonly lifecycle?: Lifecycle | undefined;
  /**
   * `logger` receives the log lines of the elector. The default is the logger of `lifecycle`, or else standard output.
   */
  readonly logger?: Logger | undefined;
  /**
   * onLoss says what the elector does when leadership is lost. With `contend`, it contends again. With `shutdown`, it
   * shuts the process down with exit code 83, which requires a `lifecycle`.
   *
   * @default `contend`
   */
  readonly onLoss?: 'contend' | 'shutdown' | undefined;
  /**
   * onLeaderChange is called with the identity of each new leader, including this elector. If the function throws,
   * lameduck logs the error.
   */
  readonly onLeaderChange?: ((identity: string) => unknown) | undefined;
  /**
   * apiServer says how to reach the API server.
   *
   * @default the API server of the cluster in which the process runs
   */
  readonly apiServer?: ApiServer | undefined;
}

export interface ElectorOptions<Lifecycle> extends ElectionSettingsOptions, CodeOptions<Lifecycle> {}

/** CompletedOptions contains validated options, with the default of each option that was not given. */
export interface CompletedOptions<Lifecycle> {
  readonly election: Election;
  readonly settings: ElectionSettings;
  readonly sources: Readonly<Record<string, string>>;
  /**
   * `log` contains the settings of the log. An elector reads the log settings from environment variables, never from
   * options in the code.
   */
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
  identity: (given) => (typeof given === 'string' && given.trim() !== '' ? undefined : 'a text that is not empty'),
  labels: (given) => (isLabels(given) ? undefined : labelsAllowed),
  lifecycle: (given) => (isHandle(given) ? undefined : 'the handle that lameduck() returned'),
  logger: loggerAllowed,
  onLoss: (given) => (given === 'contend' || given === 'shutdown' ? undefined : '`contend` or `shutdown`'),
  onLeaderChange: functionAllowed,
  // The function serverProblems checks the option `apiServer`, so that the token in this option never appears in an
  // error.
  apiServer: () => undefined,
};

/**
 * readOptions reads the options and the environment. It throws LAMEDUCK_ERR_SETTINGS_INVALID with one line for each
 * problem. Outside a cluster, it throws LAMEDUCK_ERR_NOT_IN_CLUSTER if neither a namespace nor `apiServer` is given.
 * The default namespace is the pod's own, which the kubelet mounts in `folder`.
 */
export function readOptions<Lifecycle>(
  options: ElectorOptions<Lifecycle>,
  environment: Environment,
  folder: string,
): CompletedOptions<Lifecycle> {
  checkOptions('createElector()', options);
  const given = (options as object | undefined) ?? {};
  const reading = readTable<ElectionSettings, CodeOptions<unknown>>(table, given, environment, codeOptions);
  const { settings, sources, functions, warnings } = reading;
  const code = functions as Partial<CodeOptions<Lifecycle>> & object;
  const isAlone = readAlone(environment);
  const namespace = settings.leaseNamespace ?? namespaceOf(folder) ?? (isAlone === true ? 'default' : undefined);
  // Outside a cluster, LAMEDUCK_ERR_NOT_IN_CLUSTER is thrown. So do not report the missing namespace as well.
  const needsNamespace = isAlone !== false || code.apiServer !== undefined || isInCluster(environment);
  const log = readTable<LogSettings, object>(logTable, {}, environment, {});
  const problems = [
    ...reading.problems,
    ...log.problems,
    ...(code.leaseName === undefined ? [`leaseName is required: expected ${nameAllowed}`] : []),
    ...serverProblems(code.apiServer),
    ...relationProblems(settings),
    ...aloneProblems(isAlone, environment),
    ...(namespace === undefined && needsNamespace && !isNamespaceGiven(reading.problems)
      ? [
          `leaseNamespace or ${electionVariableOf('leaseNamespace')} is required: the default comes from the file ${folder}/namespace, which does not exist`,
        ]
      : []),
    ...(code.onLoss === 'shutdown' && code.lifecycle === undefined ? ['onLoss: "shutdown" requires a lifecycle'] : []),
  ];
  if (problems.length > 0 || code.leaseName === undefined) {
    throw new LameduckError('LAMEDUCK_ERR_SETTINGS_INVALID', `invalid settings:\n  ${problems.join('\n  ')}`);
  }
  if (namespace === undefined) throw notInCluster();
  const { leaseDuration, renewDeadline, retryPeriod } = settings;
  const identity = code.identity ?? `${hostname()}_${randomUUID()}`;
  const election = {
    identity,
    name: code.leaseName,
    namespace,
    labels: { ...code.labels },
    leaseDuration,
    renewDeadline,
    retryPeriod,
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

// Tells whether `problems` already says that the namespace is invalid. If so, the caller does not also report that no
// namespace was found.
function isNamespaceGiven(problems: readonly string[]): boolean {
  return problems.some((problem) => problem.startsWith('leaseNamespace:'));
}

// Checks the relations between the durations. It returns all problems at once, unlike client-go, which reports only the
// first (L-002). The factor 1.2 is client-go's jitter.
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
  return isAlone && isInCluster(environment)
    ? [`${aloneVariable}=1 is invalid in a cluster, because every pod would then be the leader`]
    : [];
}

function isInCluster(environment: Environment): boolean {
  return (environment['KUBERNETES_SERVICE_HOST'] ?? '') !== '';
}

const labelName = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$/;
const labelValue = /^([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)?$/;

const labelsAllowed =
  'an object whose names and values are valid labels: at most 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends';

function isLabels(given: unknown): boolean {
  if (!isObject(given)) return false;
  return Object.entries(given).every(
    ([name, value]) => labelName.test(name) && typeof value === 'string' && labelValue.test(value),
  );
}

function isHandle(given: unknown): boolean {
  return isObject(given) && 'addPreShutdownHook' in given && 'addLivezCheck' in given;
}

function isObject(given: unknown): given is object {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

const serverOptions = ['url', 'token', 'tokenFile', 'caFile'];

// Returns what is wrong with the option `apiServer`, without the token.
function serverProblems(given: unknown): string[] {
  if (given === undefined) return [];
  if (!isObject(given)) return ['apiServer from code: expected an object with url, token?, tokenFile? and caFile?'];
  const { url, token, tokenFile, caFile } = given as Readonly<Record<string, unknown>>;
  const paths = Object.entries({ tokenFile, caFile }).filter(([, path]) => path !== undefined);
  return [
    ...Object.keys(given)
      .filter((name) => !serverOptions.includes(name))
      .map((name) => `apiServer.${name} from code: unknown option: expected ${serverOptions.join(', ')}`),
    ...(isSafeUrl(url) ? [] : [`apiServer.url: ${quoted(url)} from code: expected ${urlAllowed}`]),
    ...(token === undefined || isToken(token)
      ? []
      : ['apiServer.token from code: expected a token of printable ASCII characters without spaces']),
    ...paths
      .filter(([, path]) => typeof path !== 'string' || path === '')
      .map(([name, path]) => `apiServer.${name}: ${quoted(path)} from code: expected the path of a file`),
    ...(token !== undefined && tokenFile !== undefined
      ? ['apiServer.token and apiServer.tokenFile exclude each other: pass only one of them']
      : []),
  ];
}

const urlAllowed = 'an https: URL, or an http: URL whose host is a loopback address, such as http://127.0.0.1:8001';

function isSafeUrl(url: unknown): boolean {
  const parsed = typeof url === 'string' ? URL.parse(url) : null;
  return parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && isLoopback(parsed.hostname));
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'));
}
