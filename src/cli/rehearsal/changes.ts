// Proposes changes of a manifest that would prevent lost requests, such as `deployment.yaml:23
// spec.template.spec.terminationGracePeriodSeconds: 30 -> 45`. No side effects.
import { fieldAt, isObject, object, objects, pathText, type Fields, type Path } from '../manifest/fields.ts';
import { parseDuration } from '../../settings/duration.ts';
import type { EventKind, RehearsalEvent } from './event-log.ts';
import { defaultGracePeriodSeconds } from './pod.ts';

/** RehearsedManifest is the manifest object whose pod is rehearsed. All its paths are relative to that object. */
export interface RehearsedManifest {
  readonly file: string;
  readonly fields: Fields;
  readonly lineOf: (path: Path) => number;
  readonly specPath: Path;
  /** containerPath leads to the container that serves requests. */
  readonly containerPath: Path;
}

type Events = readonly RehearsalEvent[];

/** Evidence names one cause of lost requests in one scenario, and contains the events of the scenario. */
export interface Evidence {
  readonly cause: string;
  /** scenario is the name of the scenario. */
  readonly scenario: string;
  readonly events: Events;
}

interface Change {
  readonly path: Path;
  /** to is the proposed value of the field. It is undefined if only the program's author can know the right value. */
  readonly to?: unknown;
}

type Find = (events: Events, manifest: RehearsedManifest) => readonly Change[];

// The shortest shutdown delay that a report proposes, in seconds.
const leastDelay = 5;

// A safety margin of the proposed values, in seconds. A proposed shutdown delay is the time until the last lost request
// plus this margin. A proposed grace period is the time that the process took to exit plus this margin.
const margin = 2;

const first = (events: Events, kind: EventKind): RehearsalEvent | undefined => events.find((one) => one.kind === kind);

const toSeconds = (milliseconds: number): number => Math.ceil(milliseconds / 1_000);

const valueAt = ({ fields }: RehearsedManifest, path: Path): unknown => fieldAt(fields, path);

const containerOf = (manifest: RehearsedManifest): Fields => object(valueAt(manifest, manifest.containerPath));

const graceOf = (manifest: RehearsedManifest): Path => [...manifest.specPath, 'terminationGracePeriodSeconds'];

// Proposes to raise a manifest field, which is a number or a duration, to the value `to`. Proposes nothing if the
// manifest already has this value or a larger one. For example, the option `--grace-period` may be shorter than the
// grace period of the manifest.
function larger(manifest: RehearsedManifest, path: Path, to: number | string, ifNotSet?: number): Change[] {
  const [present, proposed] = [valueAt(manifest, path) ?? ifNotSet, to].map(amountOf);
  return present !== undefined && proposed !== undefined && proposed <= present ? [] : [{ path, to }];
}

// Returns a number as it is, and a duration such as `5s` in milliseconds. Returns undefined for any other value.
function amountOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? parseDuration(value) : undefined;
}

const longerPodGrace = (manifest: RehearsedManifest, to: number): Change[] =>
  larger(manifest, graceOf(manifest), to, defaultGracePeriodSeconds);

// Proposes 1.5 times the grace period with which the kubelet killed the container. The rehearsal cannot know how much
// time a killed process would have needed to exit.
const longerGrace: Find = (events, manifest) => {
  const kill = first(events, 'killSignal');
  const deletion = first(events, 'podDeleted');
  const killing = events.find(
    ({ kind, detail }) => kind === 'containerKilling' && detail['container'] === kill?.detail['container'],
  );
  // An eviction has its own grace period, which no change of the manifest makes longer.
  if (kill === undefined || (deletion !== undefined && deletion.detail['cause'] !== 'deletion')) return [];
  const grace = Number(killing?.detail['gracePeriodSeconds']);
  const probe = [...manifest.containerPath, 'livenessProbe', 'terminationGracePeriodSeconds'];
  const to = Math.ceil(grace * 1.5);
  const isOfProbe = deletion === undefined && valueAt(manifest, probe) !== undefined;
  return isOfProbe ? larger(manifest, probe, to) : longerPodGrace(manifest, to);
};

// Proposes to change the field `command`, but proposes no value. The command of the manifest, or the entry point of the
// image, decides which process is PID 1. Only the author knows which process should be PID 1. If the main process added
// its handler for the stop signal too late, another command does not help.
const otherCommand: Find = (events, { containerPath }) =>
  first(events, 'killSignal')?.detail['isHandlerLate'] === true ? [] : [{ path: [...containerPath, 'command'] }];

const laterStopSignal: Find = (events, manifest) => {
  const deletion = first(events, 'podDeleted');
  if (deletion?.detail['cause'] !== 'deletion') return [];
  const losses = events.filter(
    ({ kind, at, detail }) =>
      (kind === 'requestLost' || kind === 'requestRefused') &&
      detail['client'] === 'newConnection' &&
      at >= deletion.at,
  );
  const delay = Math.max(leastDelay, toSeconds((losses.at(-1)?.at ?? 0) - deletion.at) + margin);
  const own = delayVariable(manifest);
  if (own !== undefined) return larger(manifest, own, `${String(delay)}s`);
  const preStop = [...manifest.containerPath, 'lifecycle', 'preStop'];
  const hook = valueAt(manifest, preStop);
  if (isObject(hook) && !isObject(hook['sleep'])) return [{ path: preStop }];
  const signal = first(events, 'stopSignal');
  const exit = events.find(
    ({ kind, at, detail }) =>
      kind === 'containerExited' && at >= deletion.at && detail['container'] === signal?.detail['container'],
  );
  const took = signal === undefined || exit === undefined ? 0 : toSeconds(exit.at - signal.at);
  return [
    ...larger(manifest, [...preStop, 'sleep', 'seconds'], delay),
    ...longerPodGrace(manifest, delay + took + margin),
  ];
};

function delayVariable(manifest: RehearsedManifest): Path | undefined {
  const index = objects(containerOf(manifest)['env']).findLastIndex(
    ({ name }) => name === 'LAMEDUCK_SHUTDOWN_DELAY_DURATION',
  );
  return index === -1 ? undefined : [...manifest.containerPath, 'env', index, 'value'];
}

const loopbackAddress = /^(127\.\d+\.\d+\.\d+|localhost|::1)$/;

const otherAddress: Find = (_events, manifest) =>
  objects(containerOf(manifest)['env']).flatMap(({ value }, index) =>
    loopbackAddress.test(String(value))
      ? [{ path: [...manifest.containerPath, 'env', index, 'value'], to: '0.0.0.0' }]
      : [],
  );

const handlers = ['httpGet', 'tcpSocket', 'grpc'];

// If a probe uses a port on which the container does not listen, proposes the port of the container. If the container
// listens on several such ports, names the field, but proposes no value. Otherwise, names the path or the handler of
// each probe that has failed, and proposes no value.
const otherProbe: Find = (events, manifest) => {
  const { all, serving } = listeningPorts(events);
  return ['startup', 'readiness', 'liveness'].flatMap((type): Change[] => {
    const path = [...manifest.containerPath, `${type}Probe`];
    const probe = object(valueAt(manifest, path));
    const handler = handlers.find((one) => isObject(probe[one]));
    const [port, ...others] = handler === undefined ? [] : portFields(manifest, [...path, handler, 'port']);
    if (port !== undefined && all.length > 0 && !all.includes(valueAt(manifest, port)))
      return [port, ...others].map((field) => ({ path: field, to: serving }));
    const last = events.findLast(
      ({ kind, detail }) =>
        kind === 'probe' && detail['type'] === type && detail['container'] === containerOf(manifest)['name'],
    )?.detail;
    if (last === undefined || last['result'] === 'success') return [];
    const hasStatus = handler === 'httpGet' && String(last['output']).includes('statuscode');
    return [{ path: hasStatus ? [...path, handler, 'path'] : path }];
  });
};

interface ListeningPorts {
  readonly all: readonly unknown[];
  /** serving is the port to which probes and clients should connect. It is undefined if the port is not known. */
  readonly serving: unknown;
}

function listeningPorts(events: Events): ListeningPorts {
  const found = events.findLast(({ kind }) => kind === 'containerListening')?.detail['port'];
  const noted = events.findLast(({ detail }) => detail['otherPorts'] !== undefined)?.detail['otherPorts'];
  const others = noted === undefined ? [] : String(noted).split(', ').map(Number);
  const serving = found ?? (others.length === 1 ? others[0] : undefined);
  return { all: found === undefined ? others : [found, ...others], serving };
}

// Returns the manifest fields that contain the port number of a probe. If the probe states a number, these are the port
// field of the probe and a `containerPort` with the same number. If the probe states the name of a container port, only
// that `containerPort` contains the number.
function portFields(manifest: RehearsedManifest, path: Path): Path[] {
  const port = valueAt(manifest, path);
  const index = objects(containerOf(manifest)['ports']).findIndex(
    ({ name, containerPort }) => port !== undefined && [name, containerPort].includes(port),
  );
  const declared = [...manifest.containerPath, 'ports', index, 'containerPort'];
  if (index === -1) return [path];
  return typeof port === 'number' ? [path, declared] : [declared];
}

const earlierReadiness: Find = (_events, manifest) => {
  const path = [...manifest.containerPath, 'readinessProbe'];
  const probe = object(valueAt(manifest, path));
  if (isObject(probe['tcpSocket'])) return [{ path: [...path, 'tcpSocket'] }];
  if (Object.keys(probe).length === 0) return [{ path }];
  return [
    ...(probe['failureThreshold'] === 1 ? [] : [{ path: [...path, 'failureThreshold'], to: 1 }]),
    ...(probe['periodSeconds'] === 1 ? [] : [{ path: [...path, 'periodSeconds'], to: 1 }]),
  ];
};

// Proposes to raise `failureThreshold` of the liveness probe, but proposes no number. Only the author of the server
// knows how long the server may be blocked.
const laterLiveness: Find = (_events, { containerPath }) => [
  { path: [...containerPath, 'livenessProbe', 'failureThreshold'] },
];

const morePods: Find = (_events, manifest) => {
  const { kind } = manifest.fields;
  return kind === 'Deployment' || kind === 'StatefulSet' ? larger(manifest, ['spec', 'replicas'], 2) : [];
};

// If the serving container has no postStart hook, the postStart hook that did not end belongs to another container. The
// rehearsal then proposes no change of the manifest.
const otherPostStart: Find = (_events, manifest) => {
  const path = [...manifest.containerPath, 'lifecycle', 'postStart'];
  return isObject(valueAt(manifest, path)) ? [{ path }] : [];
};

const finds: Readonly<Record<string, Find>> = {
  onlyLoopback: otherAddress,
  postStartNeverEnded: otherPostStart,
  neverReady: otherProbe,
  stopSignalIgnored: otherCommand,
  mainProcessIsNotTheServer: otherCommand,
  gracePeriodTooShort: longerGrace,
  killedWhileBlocked: laterLiveness,
  listenerClosedTooEarly: laterStopSignal,
  longRequestsCut: longerGrace,
  readinessNeverRed: earlierReadiness,
  lastEndpointNotReady: morePods,
};

interface Proposal extends Change, Evidence {}

/** Changes contains the fields of a manifest to change, with their present and their proposed values. */
export interface Changes {
  /**
   * `all` lists each manifest field to change once. If causes of lost requests need different values of a field, the
   * list has the largest of these values.
   */
  readonly all: readonly string[];
  /**
   * `byCause` lists, for each cause of lost requests, the fields of `all` whose change removes this cause. The causes
   * are in the order of the parameter `evidence`.
   */
  readonly byCause: readonly (readonly string[])[];
}

/**
 * changesFor returns the manifest fields whose change would remove the causes of lost requests. If the evidence is from
 * several scenarios, the names of its scenarios follow each field. A cause has no field if only a change of the program
 * can remove the cause.
 */
export function changesFor(evidence: readonly Evidence[], manifest: RehearsedManifest): Changes {
  const proposals = evidence.map((one) => proposalsFor(one, manifest));
  const texts = textsOf(proposals.flat(), manifest);
  const byCause = proposals.map((some) => [...new Set(some.map(({ path }) => texts.get(pathText(path)) ?? ''))]);
  return { all: [...texts.values()], byCause };
}

function proposalsFor(evidence: Evidence, manifest: RehearsedManifest): Proposal[] {
  const find = Object.hasOwn(finds, evidence.cause) ? finds[evidence.cause] : undefined;
  return (find?.(evidence.events, manifest) ?? []).map((change) => ({ ...change, ...evidence }));
}

// Returns one text for each manifest field that the proposals change. The key of each text is the path of the field.
function textsOf(proposals: readonly Proposal[], manifest: RehearsedManifest): Map<string, string> {
  const isOneScenario = new Set(proposals.map(({ scenario }) => scenario)).size === 1;
  const texts = [...Map.groupBy(proposals, ({ path }) => pathText(path))].map(([field, changes]) => {
    const { path, to } = changes.reduce((one, other) => (amount(other.to) > amount(one.to) ? other : one));
    const from = valueAt(manifest, path);
    const values = [from === undefined ? 'not set' : valueText(from), ...(to === undefined ? [] : [valueText(to)])];
    const scenarios = [...new Set(changes.map(({ scenario }) => scenario))].join(', ');
    const place = `${manifest.file}:${String(manifest.lineOf(path))} ${field}`;
    return [field, `${place}: ${values.join(' -> ')}${isOneScenario ? '' : ` (${scenarios})`}`] as const;
  });
  return new Map(texts);
}

// Returns the number at the beginning of a proposed value, such as 5 for `5s`. If causes propose different durations
// for one field, the longest of them removes all these causes.
function amount(value: unknown): number {
  return parseFloat(String(value)) || 0;
}

const longestValue = 100;

function valueText(value: unknown): string {
  return JSON.stringify(value).slice(0, longestValue);
}
