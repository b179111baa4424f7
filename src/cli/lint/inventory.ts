// Collects the input of the lint rules: the workloads of a manifest, their containers, and related objects. No side
// effects.
import { containerOf } from '../manifest/container.ts';
import {
  isObject,
  number,
  numberOrUndefined,
  object,
  objects,
  text,
  type Fields,
  type Path,
} from '../manifest/fields.ts';
import type { ManifestObject } from '../manifest/objects.ts';
import { podTemplateOf } from '../manifest/pod-template.ts';
import { defaultGracePeriodSeconds, type ContainerSpec } from '../rehearsal/pod.ts';

/**
 * Container is a regular container or a sidecar. Init containers that end before the regular containers start are left
 * out.
 */
export interface Container {
  /** `path` lists the fields from the root of the manifest to the container. */
  readonly path: Path;
  readonly fields: Fields;
  readonly spec: ContainerSpec;
  /** `argv` is `command` followed by `args`. */
  readonly argv: readonly string[];
}

/** Workload is an object that runs pods. */
export interface Workload {
  readonly object: ManifestObject;
  readonly labels: Fields;
  /** `spec` is the specification of the pod. `path` leads from the workload object to this specification. */
  readonly spec: Fields;
  readonly path: Path;
  readonly gracePeriodSeconds: number;
  readonly containers: readonly Container[];
  /** isJob is true if the workload is a Job, a CronJob or a Helm hook. The pods of such a workload end on their own. */
  readonly isJob: boolean;
  /**
   * `replicas` is the number of pods. It is undefined if the manifest does not state a number, or if an autoscaler sets
   * it.
   */
  readonly replicas: number | undefined;
}

/** Inventory contains all objects that the lint rules examine. */
export interface Inventory {
  readonly objects: readonly ManifestObject[];
  readonly workloads: readonly Workload[];
  /** kubernetesMinor is 30 for a cluster with Kubernetes 1.30. It is undefined if the version is unknown. */
  readonly kubernetesMinor: number | undefined;
}

/** takeInventory finds the workloads among the objects of the manifests. */
export function takeInventory(all: readonly ManifestObject[], kubernetesMinor: number | undefined): Inventory {
  return { objects: all, workloads: all.flatMap((one) => workloadOf(one, all) ?? []), kubernetesMinor };
}

function workloadOf(one: ManifestObject, all: readonly ManifestObject[]): Workload | undefined {
  const template = podTemplateOf(one);
  if (template === undefined) return undefined;
  const { spec, fields } = template;
  const path = [...template.path, 'spec'];
  const containers = [
    ...containersIn(spec, path, 'initContainers').filter(({ spec: { isSidecar } }) => isSidecar),
    ...containersIn(spec, path, 'containers'),
  ];
  const isHook = hookOf(one) !== undefined;
  return {
    object: one,
    labels: object(object(fields['metadata'])['labels']),
    spec,
    path,
    containers,
    gracePeriodSeconds: number(spec['terminationGracePeriodSeconds'], defaultGracePeriodSeconds),
    isJob: isHook || one.kind === 'Job' || one.kind === 'CronJob',
    replicas: replicasOf(one, all),
  };
}

/**
 * hookOf returns the annotation `helm.sh/hook` of an object, which says when Helm runs it. It returns undefined if the
 * object is not a hook.
 */
export function hookOf({ fields }: ManifestObject): string | undefined {
  const hook = object(object(fields['metadata'])['annotations'])['helm.sh/hook'];
  return typeof hook === 'string' ? hook : undefined;
}

function containersIn(spec: Fields, path: Path, list: 'containers' | 'initContainers'): Container[] {
  const given = spec[list];
  if (!Array.isArray(given)) return [];
  return given.flatMap((one: unknown, index) => {
    if (!isObject(one)) return [];
    const argv = [...strings(one['command']), ...strings(one['args'])];
    const isSidecar = list === 'initContainers' && one['restartPolicy'] === 'Always';
    return { path: [...path, list, index], fields: one, spec: containerOf(one, argv, isSidecar), argv };
  });
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function replicasOf(one: ManifestObject, all: readonly ManifestObject[]): number | undefined {
  if (!['Deployment', 'StatefulSet', 'ReplicaSet'].includes(one.kind)) return undefined;
  if (autoscalersOf(one, all).length > 0) return undefined;
  return numberOrUndefined(object(one.fields['spec'])['replicas'] ?? 1);
}

/** autoscalersOf returns the HorizontalPodAutoscalers and ScaledObjects that scale an object. */
export function autoscalersOf(one: ManifestObject, all: readonly ManifestObject[]): ManifestObject[] {
  return all.filter((other) => {
    if (other.kind !== 'HorizontalPodAutoscaler' && other.kind !== 'ScaledObject') return false;
    const { kind = 'Deployment', name } = object(object(other.fields['spec'])['scaleTargetRef']);
    return other.namespace === one.namespace && kind === one.kind && name === one.name;
  });
}

/**
 * leastReplicas returns the number of pods that the manifest states, or the stated minimum of an autoscaler. It returns
 * 0 if the manifest states neither.
 */
export function leastReplicas({ object: one, replicas = 0 }: Workload, { objects: all }: Inventory): number {
  const minimums = autoscalersOf(one, all).map(({ kind, fields }) =>
    number(object(fields['spec'])[kind === 'ScaledObject' ? 'minReplicaCount' : 'minReplicas'], 0),
  );
  return Math.max(replicas, ...minimums);
}

/** `selects()` tells whether a label selector matches the pods of a workload. An empty selector matches none. */
export function selects(
  selector: unknown,
  namespace: string,
  { object: { namespace: own }, labels }: Workload,
): boolean {
  const wanted = Object.entries(object(selector));
  return namespace === own && wanted.length > 0 && wanted.every(([name, value]) => labels[name] === value);
}

/**
 * acceptsConnections tells whether the manifest shows that the pods of a workload accept connections: a container
 * declares a port, or a Service selects the pods.
 */
export function acceptsConnections(workload: Workload, { objects: all }: Inventory): boolean {
  return (
    workload.containers.some(({ spec: { ports } }) => ports.length > 0) ||
    all.some(
      ({ kind, fields, namespace }) =>
        kind === 'Service' && selects(object(fields['spec'])['selector'], namespace, workload),
    )
  );
}

/** isRecreated tells whether an object is a Deployment whose rollout ends the old pods before it creates new ones. */
export function isRecreated({ kind, fields }: ManifestObject): boolean {
  return kind === 'Deployment' && object(object(fields['spec'])['strategy'])['type'] === 'Recreate';
}

/** hasOnePodAtMost tells whether a workload never has two pods at the same time, not even during a rollout. */
export function hasOnePodAtMost({ object: one, replicas }: Workload): boolean {
  return replicas === 1 && (one.kind === 'StatefulSet' || isRecreated(one));
}

/** servicesOf returns the Services that select the pods of a workload. Services without a cluster IP are left out. */
export function servicesOf(workload: Workload, { objects: all }: Inventory): ManifestObject[] {
  return all.filter(
    (one) => hasAddress(one) && selects(object(one.fields['spec'])['selector'], one.namespace, workload),
  );
}

/** soleServicesOf returns each Service that sends connections to the pods of this workload, and to no other pods. */
export function soleServicesOf(workload: Workload, inventory: Inventory): ManifestObject[] {
  const others = inventory.workloads.filter((other) => other !== workload && !other.isJob);
  return servicesOf(workload, inventory).filter(
    ({ fields, namespace }) => !others.some((other) => selects(object(fields['spec'])['selector'], namespace, other)),
  );
}

/**
 * hasAddress tells whether an object is a Service for which kube-proxy chooses the pod: neither headless nor external.
 */
export function hasAddress({ kind, fields }: ManifestObject): boolean {
  const { clusterIP, type } = object(fields['spec']);
  return kind === 'Service' && clusterIP !== 'None' && type !== 'ExternalName';
}

/** ingressesOf returns the Ingresses that have one of the Services as a backend. */
export function ingressesOf(services: readonly ManifestObject[], { objects: all }: Inventory): ManifestObject[] {
  return all.filter((one) => {
    if (one.kind !== 'Ingress') return false;
    const names = backendsOf(one).map(({ service }) => service);
    return services.some(({ name, namespace }) => namespace === one.namespace && names.includes(name));
  });
}

/** Backend is a port of a Service to which an Ingress sends requests. */
export interface Backend {
  /** `service` is the name of the Service. */
  readonly service: string;
  /** `port` has the name or the number of the port. `path` leads from the Ingress to this field. */
  readonly port: Fields;
  readonly path: Path;
}

/** backendsOf returns the backends of an Ingress. */
export function backendsOf({ fields }: ManifestObject): Backend[] {
  const { rules, defaultBackend } = object(fields['spec']);
  const ofRules = objects(rules).flatMap(({ http }, rule) =>
    objects(object(http)['paths']).map(({ backend }, index) => ({
      backend,
      path: ['spec', 'rules', rule, 'http', 'paths', index, 'backend'],
    })),
  );
  return [{ backend: defaultBackend, path: ['spec', 'defaultBackend'] }, ...ofRules].map(({ backend, path }) => {
    const { name, port } = object(object(backend)['service']);
    return { service: text(name, ''), port: object(port), path: [...path, 'service', 'port'] };
  });
}
