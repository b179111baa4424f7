// The arguments of `lameduck rehearse`: one table of options, and their validation. No side effects.
import { parseDuration } from '../../settings/duration.ts';
import { optionLines, readArguments, type Options } from '../options.ts';
import { scenarios, type ScenarioName } from './scenarios.ts';
import type { LoadOptions } from './load.ts';

/** Plan contains the options of a rehearsal, as they were read from the command line. */
export interface Plan extends LoadOptions {
  readonly command: readonly string[];
  /**
   * `commands` maps the name of each additional container to the command that the rehearsal runs for this container.
   */
  readonly commands: ReadonlyMap<string, readonly string[]>;
  readonly manifest: string | undefined;
  readonly scenarios: readonly ScenarioName[];
  /**
   * `port` is the port to which requests are sent. If it is undefined, the rehearsal uses a port on which the container
   * listens.
   */
  readonly port: number | undefined;
  /**
   * `propagations` lists values for the longest time, in milliseconds, that a simulated node takes to apply a change of
   * the pod's endpoint. Each scenario runs once for each value of this list.
   */
  readonly propagations: readonly number[];
  /** gracePeriodSeconds overrides the manifest's `terminationGracePeriodSeconds`. */
  readonly gracePeriodSeconds: number | undefined;
  readonly json: string | undefined;
  readonly report: string | undefined;
}

const options = {
  manifest: {
    type: 'string',
    value: 'FILE',
    help: 'the manifest from which the rehearsal reads probes, hooks, grace period and sidecars',
  },
  container: {
    type: 'string',
    multiple: true,
    value: 'NAME=COMMAND',
    help: 'the command that the rehearsal runs in place of the container NAME of the manifest',
  },
  scenario: {
    type: 'string',
    multiple: true,
    value: 'NAME',
    help: `one of ${Object.keys(scenarios).join(', ')}; default: rollout`,
  },
  all: { type: 'boolean', help: 'rehearse every scenario' },
  port: {
    type: 'string',
    value: 'PORT',
    help: 'the port for requests; default: PORT, else the port in the manifest, else the first port that listens',
  },
  request: {
    type: 'string',
    multiple: true,
    value: 'PATH',
    help: 'a request that the clients send, such as /orders or "POST /orders"; default: /',
  },
  retry: {
    type: 'boolean',
    help: 'run additional clients that send a GET once more if a kept-alive connection ends without a response',
  },
  'long-poll': { type: 'string', value: 'PATH', help: 'also send long polls, which the server answers late, to PATH' },
  stream: { type: 'string', value: 'PATH', help: 'also open event streams at PATH' },
  upload: { type: 'string', value: 'PATH', help: 'also upload request bodies to PATH' },
  websocket: { type: 'string', value: 'PATH', help: 'also open WebSockets at PATH' },
  http2: { type: 'string', value: 'PATH', help: 'also send requests over HTTP/2 without TLS to PATH' },
  rate: { type: 'string', value: 'N', help: 'requests per second; default: 200' },
  connections: { type: 'string', value: 'N', help: 'number of kept-alive connections; default: 40' },
  propagation: {
    type: 'string',
    value: 'TIME,…',
    help: 'the longest time until a node applies an endpoint change; default: 2s; with a list, each scenario runs once per value',
  },
  'grace-period': {
    type: 'string',
    value: 'SECONDS',
    help: 'the grace period of the pod; default: terminationGracePeriodSeconds of the manifest, else 30',
  },
  seed: {
    type: 'string',
    value: 'N',
    help: 'the seed of all random choices; with the seed of an earlier rehearsal, the same choices are made',
  },
  json: { type: 'string', value: 'FILE', help: 'write the result of the rehearsal as JSON' },
  report: { type: 'string', value: 'FILE', help: 'write the result of the rehearsal as one HTML page' },
  help: { type: 'boolean', help: 'print this text' },
} as const satisfies Options;

/** `usage` is the text of `lameduck rehearse --help`. */
export const usage = [
  'Examples:',
  '  lameduck rehearse -- npm start',
  '  lameduck rehearse --request /orders --stream /events --report rollout.html -- node server.js',
  '  lameduck rehearse --all --manifest deployment.yaml --container proxy="node proxy.js" -- node server.js',
  '',
  'Runs COMMAND as a container, probes and stops it as a kubelet does, and reports lost requests.',
  'Exit code: 0 no request was lost, 1 requests were lost or refused or the server failed, 2 invalid usage, 3 no verdict.',
  '',
  'Options:',
  ...optionLines(options),
].join('\n');

const usualRate = 200;
const usualConnections = 40;
const usualPropagation = 2_000;
const longestPropagation = 3_600_000;

/**
 * readPlan parses the arguments. It returns a plan, or the problem with the arguments, or says that `--help` was given.
 */
export function readPlan(args: readonly string[], randomSeed: number): Plan | { problem: string } | { help: true } {
  const parsed = readArguments(args, options);
  if ('problem' in parsed) return parsed;
  const { values, positionals, tokens } = parsed;
  if (values['help'] === true) return { help: true };
  const terminator = tokens.find(({ kind }) => kind === 'option-terminator');
  const stray = tokens.find((token) => token.kind === 'positional' && token.index < (terminator?.index ?? Infinity));
  if (terminator === undefined || positionals.length === 0)
    return { problem: 'expected a command after --, such as: -- npm start' };
  if (stray?.kind === 'positional')
    return { problem: `${JSON.stringify(stray.value)} is not an option: write the command after --` };
  const problems: string[] = [];
  if (values['container'] !== undefined && values['manifest'] === undefined)
    problems.push('--container needs --manifest, which describes the container');
  const plan = complete(values, positionals, randomSeed, problems);
  return problems.length > 0 ? { problem: problems.join('; ') } : plan;
}

type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

function complete(values: Values, command: readonly string[], randomSeed: number, problems: string[]): Plan {
  const text = (name: keyof typeof options): string | undefined => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  const list = (name: keyof typeof options): string[] => {
    const value = values[name];
    return Array.isArray(value) ? value.map(String) : [];
  };
  const integer = (name: keyof typeof options, least: number, most: number): number | undefined => {
    const given = text(name);
    if (given === undefined) return undefined;
    const value = /^\d+$/.test(given) ? Number(given) : NaN;
    if (value >= least && value <= most) return value;
    problems.push(
      `--${name} must be an integer from ${String(least)} to ${String(most)}, got ${JSON.stringify(given)}`,
    );
    return undefined;
  };
  const path = (name: keyof typeof options): string | undefined => {
    const given = text(name);
    if (given !== undefined && !given.startsWith('/'))
      problems.push(`--${name} must begin with "/", got ${JSON.stringify(given)}`);
    return given;
  };
  return {
    command,
    commands: new Map(list('container').map((one) => readContainer(one, problems))),
    manifest: text('manifest'),
    scenarios: readScenarios(list('scenario'), values['all'] === true, problems),
    port: integer('port', 1, 65_535),
    requests:
      list('request').length === 0
        ? [{ method: 'GET', path: '/' }]
        : list('request').map((one) => readRequest(one, problems)),
    retry: values['retry'] === true,
    longPoll: path('long-poll'),
    stream: path('stream'),
    upload: path('upload'),
    webSocket: path('websocket'),
    http2: path('http2'),
    rate: integer('rate', 1, 100_000) ?? usualRate,
    connections: integer('connections', 0, 10_000) ?? usualConnections,
    propagations: readPropagations(text('propagation'), problems),
    seed: integer('seed', 0, 2 ** 32 - 1) ?? randomSeed,
    gracePeriodSeconds: integer('grace-period', 0, 86_400),
    json: text('json'),
    report: text('report'),
  };
}

function readContainer(given: string, problems: string[]): [string, readonly string[]] {
  const [, name = '', command = ''] = /^([^=]+)=(.+)$/s.exec(given) ?? [];
  if (name === '') problems.push(`--container must be NAME=COMMAND, got ${JSON.stringify(given)}`);
  return [name, ['sh', '-c', `exec ${command}`]];
}

function readScenarios(given: readonly string[], isAll: boolean, problems: string[]): ScenarioName[] {
  const names = Object.keys(scenarios) as ScenarioName[];
  if (isAll) return names;
  if (given.length === 0) return ['rollout'];
  for (const name of given.filter((one) => !Object.hasOwn(scenarios, one))) {
    problems.push(`--scenario must be one of ${names.join(', ')}, got ${JSON.stringify(name)}`);
  }
  return given as ScenarioName[];
}

function readRequest(given: string, problems: string[]): { method: string; path: string } {
  const [, method = 'GET', path = ''] = /^(?:([A-Za-z]+) )?(\/\S*)$/.exec(given) ?? [];
  if (path === '') problems.push(`--request must be a path or a method and a path, got ${JSON.stringify(given)}`);
  return { method: method.toUpperCase(), path };
}

function readPropagations(given: string | undefined, problems: string[]): number[] {
  if (given === undefined) return [usualPropagation];
  // A number without a unit counts as seconds, so that a list can be written as 0,2,5,15.
  const values = given.split(',').map((one) => parseDuration(/^\d+$/.test(one) ? `${one}s` : one));
  if (values.some((value) => value === undefined || value < 0 || value > longestPropagation))
    problems.push(`--propagation must be a list of durations up to 1h, such as 2s,5s, got ${JSON.stringify(given)}`);
  return values.map((value = 0) => value);
}
