// Finds values in a pod specification that the API server would reject, or that exceed the longest timer of Node. No side
// effects.
import { constants } from 'node:os';
import { fieldAt, isObject, variableIn, type Fields, type Path } from '../manifest/fields.ts';
import { probeTypes } from '../manifest/container.ts';

/** Invalid is a field of a pod specification with an invalid value. */
export interface Invalid {
  readonly path: Path;
  /** `reason` says which values of the manifest field are valid, and which value the manifest has. */
  readonly reason: string;
}

// The longest delay of a Node timer, in seconds.
const longest = 2_147_483;

const restartPolicies: readonly string[] = ['Always', 'OnFailure', 'Never'];

const counts = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'];

/** invalidIn returns the invalid fields of a pod specification. */
export function invalidIn(spec: Fields): Invalid[] {
  return [
    ...integer(spec, ['terminationGracePeriodSeconds'], 0),
    ...wordOf(spec, ['restartPolicy'], restartPolicies, `one of ${restartPolicies.join(', ')}`),
    ...['initContainers', 'containers'].flatMap((list) =>
      indexesOf(spec, [list]).flatMap((index) => inContainer(spec, [list, index])),
    ),
  ];
}

function inContainer(spec: Fields, path: Path): Invalid[] {
  const signals = Object.keys(constants.signals);
  const handlers = [
    ...probeTypes.map((type) => [...path, `${type}Probe`]),
    ...['preStop', 'postStart'].map((hook) => [...path, 'lifecycle', hook]),
  ];
  return [
    ...indexesOf(spec, [...path, 'ports']).flatMap((index) =>
      integer(spec, [...path, 'ports', index, 'containerPort'], 1, 65_535),
    ),
    ...probeTypes.flatMap((type) => inProbe(spec, [...path, `${type}Probe`], type === 'readiness')),
    ...handlers.flatMap((handler) =>
      ['httpGet', 'tcpSocket', 'grpc'].flatMap((kind) => portOf(spec, [...handler, kind, 'port'])),
    ),
    ...integer(spec, [...path, 'lifecycle', 'preStop', 'sleep', 'seconds'], 0),
    ...integer(spec, [...path, 'lifecycle', 'postStart', 'sleep', 'seconds'], 0),
    ...wordOf(spec, [...path, 'lifecycle', 'stopSignal'], signals, 'a signal such as SIGTERM'),
  ];
}

function inProbe(spec: Fields, path: Path, isReadiness: boolean): Invalid[] {
  return [
    ...counts.flatMap((field) =>
      integer(spec, [...path, field], 0, field === 'successThreshold' && !isReadiness ? 1 : longest),
    ),
    ...integer(spec, [...path, 'terminationGracePeriodSeconds'], 1),
  ];
}

// Reports a port number that is out of range. A string is the name of a port, which portOf does not check.
function portOf(spec: Fields, path: Path): Invalid[] {
  return typeof fieldAt(spec, path) === 'string' ? [] : integer(spec, path, 1, 65_535);
}

function integer(spec: Fields, path: Path, least: number, most = longest): Invalid[] {
  const isValid = (value: unknown): boolean =>
    Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
  return check(spec, path, isValid, `an integer from ${String(least)} to ${String(most)}`);
}

function wordOf(spec: Fields, path: Path, words: readonly string[], expected: string): Invalid[] {
  return check(spec, path, (value) => words.includes(String(value)), expected);
}

function check(spec: Fields, path: Path, isValid: (value: unknown) => boolean, expected: string): Invalid[] {
  const value = fieldAt(spec, path);
  if (value === undefined || value === null || isValid(value)) return [];
  const variable = variableIn(value);
  const why = variable === undefined ? '' : `: the variable ${variable} was not substituted`;
  return [{ path, reason: `must be ${expected}, got ${JSON.stringify(value)}${why}` }];
}

function indexesOf(spec: Fields, path: Path): number[] {
  const list = fieldAt(spec, path);
  return Array.isArray(list) ? list.flatMap((one, index) => (isObject(one) ? [index] : [])) : [];
}
