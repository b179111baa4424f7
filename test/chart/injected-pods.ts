// Pods as the tests of the injector write and read them, and in what two of them differ.
import assert from 'node:assert/strict';

/** Container is as much of a container as the tests write and read. */
export interface Container {
  name: string;
  image?: string;
  env?: { name: string; value?: string; valueFrom?: object }[];
  volumeMounts?: { name: string; mountPath: string; subPath?: string; readOnly?: boolean }[];
  lifecycle?: { preStop?: object; postStart?: object };
  [field: string]: unknown;
}

/** Pod is as much of a pod as the tests write and read. */
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

/** plainPod returns a pod with one container, which has these fields, and these fields of the pod. */
export function plainPod(container: Partial<Container> = {}, pod: object = {}): Pod {
  return { metadata: {}, spec: { containers: [{ name: 'app', image: 'shop:1', ...container }], ...pod } };
}

/** labelled returns a pod with the label of the injector. */
export function labelled(pod: Pod, value = 'enabled'): Pod {
  const { labels, ...metadata } = pod.metadata;
  return { ...pod, metadata: { ...metadata, labels: { ...labels, 'lameduck/inject': value } } };
}

/** unprivileged is what a container needs where pod security `restricted` is enforced. */
export const unprivileged = {
  securityContext: {
    ...{ allowPrivilegeEscalation: false, runAsNonRoot: true, capabilities: { drop: ['ALL'] } },
    seccompProfile: { type: 'RuntimeDefault' },
  },
};

/** podWith returns a pod that pod security `restricted` accepts, with these fields of its container and of the pod. */
export function podWith(container: Partial<Container> = {}, spec: object = {}): Pod {
  return plainPod({ ...unprivileged, ...container }, spec);
}

/** changed returns what differs of two pods, but for what the API server chooses at each creation. */
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

/** annotation returns what the policy has written on a pod. */
export function annotation(pod: Pod, name: 'injected' | 'skipped'): string | undefined {
  return pod.metadata.annotations?.[`lameduck/${name}`];
}

/** containerNamed returns the one container with a name. */
export function containerNamed(pod: Pod, name = 'app'): Container {
  const found = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].filter((one) => one.name === name);
  assert.equal(found.length, 1, `containers named ${name}`);
  return found[0] as Container;
}

/** environmentOf returns the variables of a container. */
export function environmentOf(pod: Pod, name = 'app'): Record<string, string | object | undefined> {
  return Object.fromEntries((containerNamed(pod, name).env ?? []).map((one) => [one.name, one.value ?? one.valueFrom]));
}

/**
 * changes returns the path of everything in which two pods differ. An element of a list has its name there, and a container
 * that is in both is called CONTAINER.
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
