// Builds pods for the tests of the injector, and compares a pod before and after admission.
import assert from 'node:assert/strict';

/** Container declares the fields of a container that the tests write and read. */
export interface Container {
  name: string;
  image?: string;
  env?: { name: string; value?: string; valueFrom?: object }[];
  volumeMounts?: { name: string; mountPath: string; subPath?: string; readOnly?: boolean }[];
  lifecycle?: { preStop?: object; postStart?: object };
  [field: string]: unknown;
}

/** Pod declares the fields of a pod that the tests write and read. */
export interface Pod {
  metadata: { labels?: Record<string, string>; annotations?: Record<string, string> };
  spec: {
    containers: Container[];
    initContainers?: Container[];
    volumes?: { name: string; [field: string]: unknown }[];
    terminationGracePeriodSeconds?: number;
    [field: string]: unknown;
  };
  status?: { qosClass?: string };
}

/** plainPod returns a pod with one container. The arguments add fields to the container and to the pod. */
export function plainPod(container: Partial<Container> = {}, pod: object = {}): Pod {
  return { metadata: {}, spec: { containers: [{ name: 'app', image: 'shop:1', ...container }], ...pod } };
}

/** `labelled()` returns a pod with the label that enables or disables the injector. */
export function labelled(pod: Pod, value = 'enabled'): Pod {
  const { labels, ...metadata } = pod.metadata;
  return { ...pod, metadata: { ...metadata, labels: { ...labels, 'lameduck/inject': value } } };
}

/** `unprivileged` has the fields that a container needs where pod security `restricted` is enforced. */
export const unprivileged = {
  securityContext: {
    allowPrivilegeEscalation: false,
    runAsNonRoot: true,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  },
};

/**
 * podWith returns a pod that pod security `restricted` accepts. The arguments add fields to its container and to its
 * spec.
 */
export function podWith(container: Partial<Container> = {}, spec: object = {}): Pod {
  return plainPod({ ...unprivileged, ...container }, spec);
}

/**
 * `changed()` returns the paths of the fields in which two pods differ. It ignores fields that the API server generates
 * for each pod.
 */
export function changed(one: Pod, other: Pod): string[] {
  const strip = (given: Pod): unknown => {
    const text = JSON.stringify({ metadata: { annotations: given.metadata.annotations ?? {} }, spec: given.spec });
    return JSON.parse(text.replaceAll(/kube-api-access-\w+/g, 'kube-api-access')) as unknown;
  };
  const paths = changes(strip(one), strip(other)).map((path) =>
    path
      .replace('spec.containers.app.', 'spec.containers.CONTAINER.')
      .replace(/(\.env\.\w+)\..*/, '$1')
      .replace(/\.lifecycle$/, '.lifecycle.preStop'),
  );
  return [...new Set(paths)];
}

/**
 * `annotation()` returns the value of the annotation `lameduck/injected` or `lameduck/skipped` that the injector has
 * added to a pod.
 */
export function annotation(pod: Pod, name: 'injected' | 'skipped'): string | undefined {
  return pod.metadata.annotations?.[`lameduck/${name}`];
}

/**
 * containerNamed returns the container of `pod` whose name is `name`. It fails unless the pod has exactly one such
 * container.
 */
export function containerNamed(pod: Pod, name = 'app'): Container {
  const found = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].filter((one) => one.name === name);
  assert.equal(found.length, 1, `the pod must have one container named ${name}`);
  return found[0] as Container;
}

/** environmentOf returns the environment variables of a container. */
export function environmentOf(pod: Pod, name = 'app'): Record<string, string | object | undefined> {
  return Object.fromEntries((containerNamed(pod, name).env ?? []).map((one) => [one.name, one.value ?? one.valueFrom]));
}

/**
 * `changes()` returns the paths in which two pods differ. In a path, list elements have their names, and a container
 * that both pods have is called CONTAINER.
 */
function changes(before: unknown, after: unknown, path = ''): string[] {
  if (Array.isArray(before) || Array.isArray(after)) {
    return changes(byName(before as unknown[] | undefined), byName(after as unknown[] | undefined), path);
  }
  if (isObject(before) && isObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return keys.flatMap((key) => changes(before[key], after[key], `${path}.${key}`.replace(/^\./, '')));
  }
  if (isObject(after) && before === undefined && path.split('.').length < 3) return changes({}, after, path);
  return Object.is(before, after) ? [] : [path];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function byName(list: unknown[] = []): Record<string, unknown> {
  const entries = list.map((one, index) => [nameOf(one) ?? String(index), one]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}

function nameOf(value: unknown): string | undefined {
  return isObject(value) && typeof value['name'] === 'string' ? value['name'] : undefined;
}
