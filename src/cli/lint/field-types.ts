// The type of each field that the lint rules read, for each kind of object. No side effects.
import { isObject, type Path } from '../manifest/fields.ts';
import { probeTypes } from '../manifest/container.ts';
import type { ManifestObject } from '../manifest/objects.ts';

/** FieldType is the type of a field in the Kubernetes API. */
interface FieldType {
  /** `expected` names the type, as the end of the sentence "The value must be …". */
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
  /**
   * memberType returns the type of a field of an object, or of an element of a list. It returns undefined if no lint
   * rule reads this field or element.
   */
  readonly memberType?: (member: string | number) => FieldType | undefined;
}

/** Mistyped is a field whose value has the wrong type. */
export interface Mistyped {
  readonly path: Path;
  readonly expected: string;
  readonly value: unknown;
}

const boolean: FieldType = { expected: 'true or false', accepts: (value) => typeof value === 'boolean' };
const integer: FieldType = { expected: 'an integer', accepts: Number.isInteger };
// If a number without quotes is too large for a float, such as 12e4567, the API server reads it as a string.
const string: FieldType = {
  expected: 'a string',
  accepts: (value) => typeof value === 'string' || value === Infinity || value === -Infinity,
};
const integerOrString = either(integer, string);
const quantity = either({ expected: 'a number', accepts: (value) => typeof value === 'number' }, string);
const strings = listOf(string);
const mapOfStrings = mapOf(string);

const handler = {
  httpGet: fields({
    path: string,
    port: integerOrString,
    host: string,
    scheme: string,
    httpHeaders: listOf(fields({ name: string, value: string })),
  }),
  tcpSocket: fields({ port: integerOrString, host: string }),
  grpc: fields({ port: integer, service: string }),
  exec: fields({ command: strings }),
};
const hook = fields({ ...handler, sleep: fields({ seconds: integer }) });
const probe = fields({
  ...handler,
  initialDelaySeconds: integer,
  timeoutSeconds: integer,
  periodSeconds: integer,
  successThreshold: integer,
  failureThreshold: integer,
  terminationGracePeriodSeconds: integer,
});

const container = fields({
  name: string,
  image: string,
  command: strings,
  args: strings,
  restartPolicy: string,
  env: listOf(fields({ name: string, value: string })),
  ports: listOf(fields({ name: string, containerPort: integer, protocol: string })),
  volumeMounts: listOf(fields({ mountPath: string })),
  resources: fields({ limits: mapOf(quantity) }),
  lifecycle: fields({ preStop: hook, postStart: hook, stopSignal: string }),
  ...Object.fromEntries(probeTypes.map((type) => [`${type}Probe`, probe])),
});

const expression = fields({ key: string, operator: string, values: strings });
const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const affinity = fields({
  nodeAffinity: fields({
    [required]: fields({ nodeSelectorTerms: listOf(fields({ matchExpressions: listOf(expression) })) }),
  }),
  podAntiAffinity: fields({ [required]: listOf(fields({ topologyKey: string })) }),
});

const metadata = fields({ name: string, namespace: string, labels: mapOfStrings, annotations: mapOfStrings });

const podSpec = fields({
  containers: listOf(container),
  initContainers: listOf(container),
  terminationGracePeriodSeconds: integer,
  automountServiceAccountToken: boolean,
  readinessGates: listOf(fields({ conditionType: string })),
  nodeSelector: mapOfStrings,
  affinity,
});
const template = fields({ metadata, spec: podSpec });
const jobSpec = fields({ template });

const rollingUpdate = fields({ maxSurge: integerOrString, maxUnavailable: integerOrString, partition: integer });
const strategy = fields({ type: string, rollingUpdate });

const backend = fields({ service: fields({ name: string, port: fields({ name: string, number: integer }) }) });
const reference = fields({ kind: string, name: string, namespace: string });
const connectionDraining = fields({ drainingTimeoutSec: integer });

// The type of the field `spec` of each kind of object.
const specs: Readonly<Record<string, FieldType>> = {
  Pod: podSpec,
  Deployment: fields({
    replicas: integer,
    strategy,
    template,
    progressDeadlineSeconds: integer,
    minReadySeconds: integer,
  }),
  StatefulSet: fields({ replicas: integer, updateStrategy: strategy, template }),
  DaemonSet: fields({ updateStrategy: strategy, template }),
  ReplicaSet: fields({ replicas: integer, template }),
  Job: jobSpec,
  CronJob: fields({ jobTemplate: fields({ spec: jobSpec }) }),
  Service: fields({
    type: string,
    clusterIP: string,
    selector: mapOfStrings,
    ports: listOf(fields({ name: string, port: integer, targetPort: integerOrString, protocol: string })),
    publishNotReadyAddresses: boolean,
    externalTrafficPolicy: string,
  }),
  Ingress: fields({
    ingressClassName: string,
    defaultBackend: backend,
    rules: listOf(fields({ http: fields({ paths: listOf(fields({ backend })) }) })),
  }),
  HTTPRoute: fields({
    parentRefs: listOf(reference),
    rules: listOf(
      fields({ backendRefs: listOf(reference), timeouts: fields({ request: string, backendRequest: string }) }),
    ),
  }),
  BackendConfig: fields({
    timeoutSec: integer,
    connectionDraining,
    healthCheck: fields({ checkIntervalSec: integer, timeoutSec: integer, unhealthyThreshold: integer }),
  }),
  GCPBackendPolicy: fields({ targetRef: reference, default: fields({ timeoutSec: integer, connectionDraining }) }),
  PodDisruptionBudget: fields({
    minAvailable: integerOrString,
    maxUnavailable: integerOrString,
    selector: fields({ matchLabels: mapOfStrings, matchExpressions: listOf(expression) }),
  }),
  HorizontalPodAutoscaler: fields({
    scaleTargetRef: reference,
    minReplicas: integer,
    maxReplicas: integer,
    metrics: listOf(fields({ resource: fields({ name: string }) })),
  }),
  ScaledObject: fields({ scaleTargetRef: reference, minReplicaCount: integer, maxReplicaCount: integer }),
};

/** mistypedIn returns the fields of an object that have the wrong type. */
export function mistypedIn({ kind, fields: given }: ManifestObject): Mistyped[] {
  const spec = Object.hasOwn(specs, kind) ? specs[kind] : undefined;
  return spec === undefined ? [] : mistypedAt([], given, fields({ metadata, spec }));
}

// The API server treats the value null like an absent field.
function mistypedAt(path: Path, value: unknown, type: FieldType | undefined): Mistyped[] {
  if (type === undefined || value === undefined || value === null) return [];
  if (!type.accepts(value)) return [{ path, expected: type.expected, value }];
  return membersOf(value).flatMap(([member, one]) => mistypedAt([...path, member], one, type.memberType?.(member)));
}

function membersOf(value: unknown): [string | number, unknown][] {
  if (Array.isArray(value)) return [...value.entries()];
  return isObject(value) ? Object.entries(value) : [];
}

function fields(types: Readonly<Record<string, FieldType>>): FieldType {
  const memberType = (name: string | number): FieldType | undefined =>
    Object.hasOwn(types, name) ? types[name] : undefined;
  return { expected: 'an object', accepts: isObject, memberType };
}

function listOf(type: FieldType): FieldType {
  return { expected: 'a list', accepts: Array.isArray, memberType: () => type };
}

function mapOf(type: FieldType): FieldType {
  return { expected: 'an object', accepts: isObject, memberType: () => type };
}

function either(one: FieldType, other: FieldType): FieldType {
  return {
    expected: `${one.expected} or ${other.expected}`,
    accepts: (value) => one.accepts(value) || other.accepts(value),
  };
}
