// How a new manifest affects the pods that an old one created. Pure.
import { fieldAt, isObject, object, objects, pathText, type Fields, type Path } from '../manifest/fields.ts';
import type { ManifestObject, Place } from '../manifest/objects.ts';
import { podTemplateOf } from '../manifest/pod-template.ts';
import { claimWithDefaults, clean, templateWithDefaults } from './defaults.ts';
import { differencesOf, type Difference } from './difference.ts';

/** EffectKind is what happens to the pods of an object. */
export type EffectKind =
  'rolls' | 'restarts-containers' | 'may-restart-containers' | 'nothing' | 'rejected' | 'created' | 'missing';

/** Cause is a field that has this effect. */
export interface Cause extends Place {
  readonly path: string;
  /** Undefined if the field is absent. */
  readonly before: unknown;
  readonly after: unknown;
  /** A frequent reason for a change of this field; undefined if none is known. */
  readonly hint: string | undefined;
}

/** Effect is what happens to one object. */
export interface Effect extends Place {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly effect: EffectKind;
  readonly message: string;
  readonly causes: readonly Cause[];
}

/** The two versions of an object. */
interface Pair {
  readonly before: ManifestObject;
  readonly after: ManifestObject;
}

type Outcome = Pick<Effect, 'effect' | 'message' | 'causes'>;

const workloadKinds = ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Job', 'CronJob', 'Pod'];
const configurationKinds = ['ConfigMap', 'Secret'];

/** effectsOf returns what happens to each object of either manifest that runs pods, or that pods read. */
export function effectsOf(before: readonly ManifestObject[], after: readonly ManifestObject[]): Effect[] {
  const isJudged = ({ kind }: ManifestObject): boolean => [...workloadKinds, ...configurationKinds].includes(kind);
  const same = (one: ManifestObject) => (other: ManifestObject) =>
    one.kind === other.kind && one.namespace === other.namespace && one.name === other.name;
  const effects = after.filter(isJudged).flatMap((one): Effect[] => {
    const old = before.find(same(one));
    if (old !== undefined) {
      const outcome = outcomeOf({ before: old, after: one }, after);
      return outcome === undefined ? [] : [{ ...identity(one), ...outcome }];
    }
    if (configurationKinds.includes(one.kind)) return [];
    return [{ ...identity(one), effect: 'created', message: 'It is new.', causes: [] }];
  });
  const missing = before
    .filter((one) => workloadKinds.includes(one.kind) && !after.some(same(one)))
    .map((one): Effect => ({
      ...{ ...identity(one), effect: 'missing', causes: [] },
      message: 'The new manifest does not have it: kubectl apply leaves its pods running, Helm deletes them.',
    }));
  return [...effects, ...missing];
}

/** identity returns which object an effect is about. */
export function identity({ kind, namespace, name, file, line }: ManifestObject): Omit<Effect, keyof Outcome> {
  return { kind, namespace, name, file, line };
}

function outcomeOf(pair: Pair, all: readonly ManifestObject[]): Outcome | undefined {
  const { kind } = pair.after;
  if (configurationKinds.includes(kind)) return configurationOutcome(pair, all);
  if (kind === 'Pod') return podOutcome(pair);
  const fixed = immutableDifferences(pair);
  if (fixed.length > 0) {
    return { effect: 'rejected', message: 'The API server rejects the change of a fixed field.', causes: fixed };
  }
  const causes = templateCauses(pair);
  const spec = object(pair.after.fields['spec']);
  if (causes.length === 0) {
    const others = differencesOf(clean(pair.before.fields['spec']), clean(spec)).length > 0;
    return nothing(others ? 'Nothing restarts: the pod template is the same.' : 'Nothing restarts.');
  }
  return (templateOutcomes[kind] ?? nothing)(spec, causes);
}

function nothing(message: unknown, causes: readonly Cause[] = []): Outcome {
  return { effect: 'nothing', message: String(message), causes };
}

const rolls = (message: string, causes: readonly Cause[]): Outcome => ({ effect: 'rolls', message, causes });

// How the controller of each kind reacts to a changed pod template.
const templateOutcomes: Readonly<Record<string, (spec: Fields, causes: readonly Cause[]) => Outcome>> = {
  Deployment: (spec, causes) => {
    if (spec['replicas'] === 0) return nothing('Nothing restarts: it has no pods.', causes);
    if (spec['paused'] === true) return nothing('Nothing restarts until the rollout is resumed.', causes);
    const isRecreate = object(spec['strategy'])['type'] === 'Recreate';
    return rolls(
      isRecreate ? 'It ends all pods, then creates new ones.' : 'It replaces all pods, step by step.',
      causes,
    );
  },
  StatefulSet: (spec, causes) => {
    const { type, rollingUpdate } = object(spec['updateStrategy']);
    const { partition = 0 } = object(rollingUpdate);
    if (spec['replicas'] === 0) return nothing('Nothing restarts: it has no pods.', causes);
    if (type === 'OnDelete') return nothing('Nothing restarts: a pod changes when you delete it.', causes);
    if (typeof partition !== 'number' || partition === 0) {
      return rolls('It replaces all pods, one after another.', causes);
    }
    const { replicas = 1 } = spec;
    if (typeof replicas === 'number' && partition >= replicas) {
      return nothing(`Nothing restarts: the partition is ${String(partition)}.`, causes);
    }
    return rolls(`It replaces the pods from number ${String(partition)} on.`, causes);
  },
  DaemonSet: (spec, causes) =>
    object(spec['updateStrategy'])['type'] === 'OnDelete'
      ? nothing('Nothing restarts: a pod changes when you delete it.', causes)
      : rolls('It replaces the pods of all nodes, step by step.', causes),
  ReplicaSet: (_, causes) => nothing('Nothing restarts: only pods that are created later have the change.', causes),
  CronJob: (_, causes) => nothing('Nothing restarts: the next Job has the change.', causes),
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
    ...{ file, line: lineOf(path), path: pathText(path), hint: hintFor(path) },
    before: difference.before,
    after: difference.after,
  };
}

const hints: readonly (readonly [RegExp, string])[] = [
  [
    /^(helm\.sh\/chart|app\.kubernetes\.io\/version)$/,
    'Every version of the chart replaces all pods. Leave this label off the pods.',
  ],
  [
    /^checksum\//,
    'The configuration has changed. If it has not, the checksum covers random values, times, comments or labels.',
  ],
  [
    /^kubectl\.kubernetes\.io\/restartedAt$/,
    'kubectl rollout restart sets this. A tool that removes it replaces the pods again.',
  ],
];

function hintFor(path: Path): string | undefined {
  const last = String(path.at(-1));
  const isMetadata = path.includes('labels') || path.includes('annotations');
  return isMetadata ? hints.find(([pattern]) => pattern.test(last))?.[1] : undefined;
}

// Fields that an update may not change.
const fixedFields: Readonly<Record<string, readonly string[]>> = {
  Deployment: ['selector'],
  DaemonSet: ['selector'],
  ReplicaSet: ['selector'],
  StatefulSet: ['selector', 'serviceName', 'podManagementPolicy', 'volumeClaimTemplates'],
  Job: ['selector', 'template', 'completionMode', 'podReplacementPolicy'],
};

function immutableDifferences(pair: Pair): Cause[] {
  const { kind } = pair.after;
  return (fixedFields[kind] ?? []).flatMap((name) => {
    if (name === 'template') return templateCauses(pair);
    const [before, after] = [pair.before, pair.after].map(({ fields }) =>
      fixedValue(name, object(fields['spec'])[name]),
    );
    return differencesOf(before, after, ['spec', name]).map((difference) => causeOf(pair, [], difference));
  });
}

const fixedDefaults: Readonly<Record<string, unknown>> = {
  podManagementPolicy: 'OrderedReady',
  completionMode: 'NonIndexed',
};

function fixedValue(name: string, value: unknown): unknown {
  if (name === 'volumeClaimTemplates') return clean(objects(value).map(claimWithDefaults));
  return clean(value, name) ?? fixedDefaults[name];
}

// A pod is never replaced. The API server accepts few changes, and only a changed image restarts a container (K-155).
function podOutcome(pair: Pair): Outcome {
  const [before, after] = [pair.before, pair.after].map(({ fields }) => templateWithDefaults(fields)['spec']);
  // The stored policy stays if the manifest does not name one.
  const isDerived = ({ path }: Difference): boolean =>
    path.at(-1) === 'imagePullPolicy' && fieldAt(pair.after.fields, path) === undefined;
  const differences = differencesOf(before, after, ['spec']).filter((one) => !isDerived(one));
  const toCauses = (some: readonly Difference[]): Cause[] => some.map((one) => causeOf(pair, [], one));
  const refused = differences.filter((one) => !isPodField(one));
  if (refused.length > 0) {
    return {
      effect: 'rejected',
      message: 'The API server rejects the change of a running pod.',
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

// An init container that has finished does not run again, unless it is a sidecar.
function restartsContainer(path: Path, fields: Fields): boolean {
  if (path.at(-1) !== 'image') return false;
  return path[1] === 'containers' || object(fieldAt(fields, path.slice(0, 3)))['restartPolicy'] === 'Always';
}

// A changed ConfigMap or Secret restarts nothing (K-155), which is often not what was wanted (K-161).
function configurationOutcome(pair: Pair, all: readonly ManifestObject[]): Outcome | undefined {
  const [before, after] = [pair.before, pair.after].map(({ fields }) => dataOf(fields));
  const differences = differencesOf(before, after);
  if (differences.length === 0) return undefined;
  const causes = differences.map((difference) => {
    const { file, line, hint, path } = causeOf(pair, ['data'], difference);
    // The values can be secret.
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
  return nothing(['Nothing restarts because of it.', ...readers].join(' '), causes);
}

function dataOf(fields: Fields): Fields {
  const encoded = Object.entries(object(fields['stringData'])).map(([name, value]): [string, unknown] => [
    name,
    Buffer.from(String(value)).toString('base64'),
  ]);
  return { ...object(fields['data']), ...object(fields['binaryData']), ...Object.fromEntries(encoded) };
}

/** readingOf returns how the pods of a workload read a ConfigMap or Secret; undefined if they do not. */
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
  if (isVariable) return `Containers of ${subject} keep the old variables until they are restarted.`;
  if (isVolume) return `Files in ${subject} change within about two minutes, except those mounted by subPath.`;
  return undefined;
}

/** isRestart tells whether an effect interrupts a container, or stops the apply. */
export function isRestart({ effect }: Effect): boolean {
  return effect !== 'nothing' && effect !== 'created' && effect !== 'missing';
}

/** isWorkload tells whether an object runs pods. */
export function isWorkload(one: ManifestObject): boolean {
  return workloadKinds.includes(one.kind) && isObject(podTemplateOf(one)?.spec);
}
