// Predicts what happens to the pods of an old manifest if a new manifest is applied. No side effects.
import { fieldAt, isObject, object, objects, pathText, type Fields, type Path } from '../manifest/fields.ts';
import type { ManifestObject, Place } from '../manifest/objects.ts';
import { podTemplateOf } from '../manifest/pod-template.ts';
import { claimWithDefaults, clean, podWithDefaults, templateWithDefaults } from './defaults.ts';
import { differencesOf, type Difference } from './difference.ts';

/** EffectKind says how the application of a new manifest affects the pods of one object. */
export type EffectKind =
  'rolls' | 'restarts-containers' | 'may-restart-containers' | 'nothing' | 'rejected' | 'created' | 'missing';

/** Cause is a changed manifest field that explains an Effect, such as the replacement of pods. */
export interface Cause extends Place {
  readonly path: string;
  /** `before` is the value of the field in the old manifest. It is undefined if the old manifest lacks the field. */
  readonly before: unknown;
  readonly after: unknown;
  /**
   * `hint` is a common reason why this field differs between two manifests. It is undefined if no common reason is
   * known.
   */
  readonly hint: string | undefined;
}

/** Effect says what `kubectl apply` of the new manifest does to the pods of one Kubernetes object. */
export interface Effect extends Place {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly effect: EffectKind;
  readonly message: string;
  readonly causes: readonly Cause[];
}

/** Pair contains one Kubernetes object as it is in the old manifest and as it is in the new manifest. */
interface Pair {
  readonly before: ManifestObject;
  readonly after: ManifestObject;
}

type Outcome = Pick<Effect, 'effect' | 'message' | 'causes'>;

const workloadKinds = ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Job', 'CronJob', 'Pod'];
const configurationKinds = ['ConfigMap', 'Secret'];

/**
 * effectsOf returns what happens to the pods if the manifest `after` is applied over the manifest `before`. It
 * considers each object that runs pods, and each ConfigMap and Secret that pods read.
 */
export function effectsOf(before: readonly ManifestObject[], after: readonly ManifestObject[]): Effect[] {
  const isJudged = ({ kind }: ManifestObject): boolean => [...workloadKinds, ...configurationKinds].includes(kind);
  const effects = after.filter(isJudged).flatMap((one): Effect[] => {
    const old = counterpart(one, before);
    if (old !== undefined) {
      const outcome = outcomeOf({ before: old, after: one }, after);
      return outcome === undefined ? [] : [{ ...identity(one), ...outcome }];
    }
    if (configurationKinds.includes(one.kind)) return [];
    return [{ ...identity(one), effect: 'created', message: 'The object is new.', causes: [] }];
  });
  const missing = before
    .filter((one) => workloadKinds.includes(one.kind) && counterpart(one, after) === undefined)
    .map((one): Effect => ({
      ...identity(one),
      effect: 'missing',
      causes: [],
      message: 'The new manifest lacks this object. kubectl apply keeps its pods running, and Helm deletes them.',
    }));
  return [...effects, ...missing];
}

// Finds an object of one manifest in the other manifest. If no object has the same namespace, an object without a
// namespace matches, because kubectl or Helm adds the namespace.
function counterpart(
  { kind, name, namespace }: ManifestObject,
  all: readonly ManifestObject[],
): ManifestObject | undefined {
  const alike = all.filter((other) => other.kind === kind && other.name === name);
  return (
    alike.find((other) => other.namespace === namespace) ??
    alike.find((other) => other.namespace === '' || namespace === '')
  );
}

/**
 * `identity()` returns the fields of an Effect that say which Kubernetes object is affected, and where the manifest
 * contains the object.
 */
export function identity({ kind, namespace, name, file, line }: ManifestObject): Omit<Effect, keyof Outcome> {
  return { kind, namespace, name, file, line };
}

function outcomeOf(pair: Pair, all: readonly ManifestObject[]): Outcome | undefined {
  const { kind } = pair.after;
  if (configurationKinds.includes(kind)) return configurationOutcome(pair, all);
  if (kind === 'Pod') return podOutcome(pair);
  const fixed = immutableDifferences(pair);
  if (fixed.length > 0) {
    return { effect: 'rejected', message: 'The API server rejects a change of this immutable field.', causes: fixed };
  }
  const causes = templateCauses(pair);
  const [old, spec] = [pair.before, pair.after].map(({ fields }) => object(fields['spec'])) as [Fields, Fields];
  const end = endOfPods(kind, old, spec);
  if (end !== undefined && (causes.length === 0 || spec['replicas'] === 0)) return nothing(end, causes);
  const renumbered = kind === 'StatefulSet' && spec['replicas'] !== 0 ? renumberingCauses(pair) : [];
  if (renumbered.length > 0)
    return rolls('A new spec.ordinals renames the pods, so the StatefulSet replaces them.', [...renumbered, ...causes]);
  if (causes.length === 0) {
    const others = differencesOf(clean(old), clean(spec)).length > 0;
    return nothing(others ? 'Nothing restarts, because the pod template is unchanged.' : 'Nothing restarts.');
  }
  return (templateOutcomes[kind] ?? nothing)(spec, causes);
}

// Returns a sentence about the pods that end without a replacement. Returns undefined if no pod ends in this way.
function endOfPods(kind: string, before: Fields, after: Fields): string | undefined {
  if (kind === 'Job') {
    const isSuspended = after['suspend'] === true && before['suspend'] !== true;
    return isSuspended ? 'The change suspends the Job, and a suspended Job deletes its running pods.' : undefined;
  }
  if (!['Deployment', 'StatefulSet', 'ReplicaSet'].includes(kind)) return undefined;
  const [from, to] = [before, after].map(({ replicas }) => Number(replicas ?? 1)) as [number, number];
  return from > to
    ? `Nothing restarts. The number of pods falls from ${String(from)} to ${String(to)}, so pods end without a replacement.`
    : undefined;
}

// Returns the changes of a StatefulSet that give its pods other ordinals, and therefore other names.
function renumberingCauses(pair: Pair): Cause[] {
  const path = ['spec', 'ordinals', 'start'];
  const [before, after] = [pair.before, pair.after].map(({ fields }) => fieldAt(fields, path) ?? 0);
  return differencesOf(before, after, path).map((difference) => causeOf(pair, [], difference));
}

function nothing(message: unknown, causes: readonly Cause[] = []): Outcome {
  return { effect: 'nothing', message: String(message), causes };
}

const rolls = (message: string, causes: readonly Cause[]): Outcome => ({ effect: 'rolls', message, causes });

const untilDeleted = 'With OnDelete, no pod restarts until you delete it. Its replacement uses the new pod template.';

// For each kind of object that creates pods, how a change of the pod template affects the pods.
const templateOutcomes: Readonly<Record<string, (spec: Fields, causes: readonly Cause[]) => Outcome>> = {
  Deployment: (spec, causes) => {
    if (spec['replicas'] === 0) return nothing('Nothing restarts: with 0 replicas, there are no pods.', causes);
    if (spec['paused'] === true) return nothing('Nothing restarts until you resume the paused Deployment.', causes);
    const isRecreate = object(spec['strategy'])['type'] === 'Recreate';
    return rolls(
      isRecreate
        ? 'The Deployment ends all pods, then creates new ones.'
        : 'The Deployment replaces all pods, step by step.',
      causes,
    );
  },
  StatefulSet: (spec, causes) => {
    const { type, rollingUpdate } = object(spec['updateStrategy']);
    const { partition = 0 } = object(rollingUpdate);
    if (spec['replicas'] === 0) return nothing('Nothing restarts: with 0 replicas, there are no pods.', causes);
    if (type === 'OnDelete') return nothing(untilDeleted, causes);
    if (typeof partition !== 'number' || partition === 0) {
      return rolls('The StatefulSet replaces all pods, one after another.', causes);
    }
    const { replicas = 1 } = spec;
    if (typeof replicas === 'number' && partition >= replicas) {
      return nothing(`Nothing restarts: rollingUpdate.partition ${String(partition)} excludes every pod.`, causes);
    }
    return rolls(`The StatefulSet replaces the pods from number ${String(partition)} on.`, causes);
  },
  DaemonSet: (spec, causes) =>
    object(spec['updateStrategy'])['type'] === 'OnDelete'
      ? nothing(untilDeleted, causes)
      : rolls('The DaemonSet replaces its pod on every node, step by step.', causes),
  ReplicaSet: (_, causes) => nothing('Nothing restarts. Only pods created later use the new pod template.', causes),
  CronJob: (_, causes) => nothing('Nothing restarts. The next Job of the CronJob uses the new pod template.', causes),
};

function templateCauses({ before, after }: Pair): Cause[] {
  const old = podTemplateOf(before);
  const template = podTemplateOf(after);
  if (old === undefined || template === undefined) return [];
  const differences = differencesOf(templateWithDefaults(old.fields), templateWithDefaults(template.fields));
  return differences.map((difference) => causeOf({ before, after }, template.path, difference));
}

function causeOf({ before, after }: Pair, at: Path, difference: Difference): Cause {
  const path = [...at, ...difference.path];
  const { file, lineOf } = difference.isGone ? before : after;
  return {
    file,
    line: lineOf(path),
    path: pathText(path),
    hint: hintFor(path),
    before: difference.before,
    after: difference.after,
  };
}

const hints: readonly (readonly [RegExp, string])[] = [
  [
    /^(helm\.sh\/chart|app\.kubernetes\.io\/version)$/,
    'This label changes with each version of the chart, so each upgrade of the chart replaces all pods. Remove the label from the pod template.',
  ],
  [
    /^checksum\//,
    'A checksum annotation changes if the configuration changes. It also changes if the checksum covers values that differ although the configuration stays the same: random values, times, comments or labels.',
  ],
  [
    /^kubectl\.kubernetes\.io\/restartedAt$/,
    'The command kubectl rollout restart sets the annotation restartedAt. If a tool removes this annotation, the pod template changes, so another rollout begins.',
  ],
];

function hintFor(path: Path): string | undefined {
  const last = String(path.at(-1));
  const isMetadata = path.includes('labels') || path.includes('annotations');
  return isMetadata ? hints.find(([pattern]) => pattern.test(last))?.[1] : undefined;
}

// The fields that cannot be changed by an update, for each kind of object.
const fixedFields: Readonly<Record<string, readonly string[]>> = {
  Deployment: ['selector'],
  DaemonSet: ['selector'],
  ReplicaSet: ['selector'],
  StatefulSet: ['selector', 'serviceName', 'podManagementPolicy', 'volumeClaimTemplates'],
  Job: [
    'selector',
    'template',
    'completionMode',
    'completions',
    'podFailurePolicy',
    'successPolicy',
    'backoffLimitPerIndex',
    'managedBy',
  ],
};

function immutableDifferences(pair: Pair): Cause[] {
  const { kind } = pair.after;
  return (fixedFields[kind] ?? []).flatMap((name) => {
    if (name === 'template') return templateCauses(pair);
    const [old, spec] = [pair.before, pair.after].map(({ fields }) => object(fields['spec'])) as [Fields, Fields];
    const before = fixedValue(name, old);
    // An apply removes only a field that the older manifest states. If the older manifest did not state the field, the
    // default that the API server has stored remains.
    const isKept = name === 'completions' && old[name] === undefined && spec[name] === undefined;
    const after = fixedValue(name, isKept ? { ...spec, [name]: before } : spec);
    return differencesOf(before, after, ['spec', name]).map((difference) => causeOf(pair, [], difference));
  });
}

const fixedDefaults: Readonly<Record<string, unknown>> = {
  podManagementPolicy: 'OrderedReady',
  completionMode: 'NonIndexed',
};

function fixedValue(name: string, { [name]: value, ...spec }: Fields): unknown {
  if (name === 'volumeClaimTemplates') return clean(objects(value).map(claimWithDefaults));
  if (name === 'completions') {
    // The API server allows an Indexed Job to change `completions` together with `parallelism`.
    if (spec['completionMode'] === 'Indexed') return undefined;
    return value ?? (spec['parallelism'] === undefined ? 1 : undefined);
  }
  return clean(value, name) ?? fixedDefaults[name];
}

// Returns what a change of the manifest does to a Pod without a controller. No controller replaces such a Pod. The API
// server accepts few changes of the Pod, and only a changed image restarts a container (K-155).
function podOutcome(pair: Pair): Outcome {
  const [before, after] = [pair.before, pair.after].map(({ fields }) => podWithDefaults(fields)['spec']);
  // If the new manifest sets no imagePullPolicy, the API server keeps the imagePullPolicy of the existing pod.
  const isDerived = ({ path }: Difference): boolean =>
    path.at(-1) === 'imagePullPolicy' && fieldAt(pair.after.fields, path) === undefined;
  const differences = differencesOf(before, after, ['spec']).filter((one) => !isDerived(one));
  const toCauses = (some: readonly Difference[]): Cause[] => some.map((one) => causeOf(pair, [], one));
  const refused = differences.filter((one) => !isPodField(one));
  if (refused.length > 0) {
    return {
      effect: 'rejected',
      message: 'The API server rejects this change, because the field of an existing Pod cannot be changed.',
      causes: toCauses(refused),
    };
  }
  const restarting = differences.filter(({ path }) => restartsContainer(path, pair.after.fields));
  if (restarting.length === 0) return nothing('Nothing restarts.', toCauses(differences));
  return {
    effect: 'restarts-containers',
    message: 'The kubelet restarts the containers in place, because their image has changed.',
    causes: toCauses(restarting),
  };
}

function isPodField({ path, before, after }: Difference): boolean {
  const [, field = '', , ofContainer] = path;
  if (field === 'containers' || field === 'initContainers') return ofContainer === 'image';
  if (field === 'tolerations') return before === undefined;
  if (field === 'schedulingGates') return after === undefined;
  return field === 'activeDeadlineSeconds' && typeof after === 'number' && !(Number(before) < after);
}

// A changed image does not restart an init container that has finished, unless it is a sidecar.
function restartsContainer(path: Path, fields: Fields): boolean {
  if (path.at(-1) !== 'image') return false;
  return path[1] === 'containers' || object(fieldAt(fields, path.slice(0, 3)))['restartPolicy'] === 'Always';
}

// Returns what happens if a ConfigMap or Secret changes. The change restarts nothing (K-155), which users often do not
// expect (K-161).
function configurationOutcome(pair: Pair, all: readonly ManifestObject[]): Outcome | undefined {
  const [before, after] = [pair.before, pair.after].map(({ fields }) => dataOf(fields));
  const differences = differencesOf(before, after);
  if (differences.length === 0) return undefined;
  const causes = differences.map((difference) => {
    const { file, line, hint, path } = causeOf(pair, ['data'], difference);
    // Report only the name of the changed key of a ConfigMap or Secret. The old and the new value of the key may be
    // secret.
    return { file, line, hint, path, before: undefined, after: undefined };
  });
  if (pair.before.fields['immutable'] === true) {
    return {
      effect: 'rejected',
      message: 'The API server rejects the change, because the object is immutable.',
      causes,
    };
  }
  const readers = all.flatMap((one) => readingOf(one, pair.after) ?? []);
  return nothing(['Nothing restarts because of this change.', ...readers].join(' '), causes);
}

function dataOf(fields: Fields): Fields {
  const encoded = Object.entries(object(fields['stringData'])).map(([name, value]): [string, unknown] => [
    name,
    Buffer.from(String(value)).toString('base64'),
  ]);
  return { ...object(fields['data']), ...object(fields['binaryData']), ...Object.fromEntries(encoded) };
}

/**
 * readingOf describes how the pods of a workload read a ConfigMap or Secret. readingOf returns undefined if the pods do
 * not read the object.
 */
function readingOf(workload: ManifestObject, { kind, name, namespace }: ManifestObject): string | undefined {
  const spec = podTemplateOf(workload)?.spec;
  if (spec === undefined || workload.namespace !== namespace) return undefined;
  const [inEnv, inFrom, key] =
    kind === 'ConfigMap' ? ['configMapKeyRef', 'configMapRef', 'configMap'] : ['secretKeyRef', 'secretRef', 'secret'];
  const nameOf = (reference: unknown): unknown => object(reference)['name'] ?? object(reference)['secretName'];
  const containers = [...objects(spec['containers']), ...objects(spec['initContainers'])];
  const isVariable = containers.some(
    ({ env, envFrom }) =>
      objects(env).some(({ valueFrom }) => nameOf(object(valueFrom)[inEnv]) === name) ||
      objects(envFrom).some((source) => nameOf(source[inFrom]) === name),
  );
  const isVolume = objects(spec['volumes']).some(
    (volume) =>
      nameOf(volume[key]) === name ||
      objects(object(volume['projected'])['sources']).some((source) => nameOf(source[key]) === name),
  );
  const subject = `${workload.kind} ${workload.name}`;
  if (isVariable) return `Containers of ${subject} keep their old environment variables until the containers restart.`;
  if (isVolume) return `Files mounted in ${subject} change within about two minutes, except with a subPath.`;
  return undefined;
}

/**
 * isRestart is true if the new manifest replaces pods, restarts or may restart containers, or is rejected by the API
 * server.
 */
export function isRestart({ effect }: Effect): boolean {
  return effect !== 'nothing' && effect !== 'created' && effect !== 'missing';
}

/** isWorkload tells whether an object runs pods. */
export function isWorkload(one: ManifestObject): boolean {
  return workloadKinds.includes(one.kind) && isObject(podTemplateOf(one)?.spec);
}
