// The input of the rules: the workloads of a manifest, their containers, and the objects that concern them. Pure.
import { containerOf } from '../manifest/container.ts';
import { isObject, number, object, objects, text, type Fields, type Path } from '../manifest/fields.ts';
import type { ManifestObject } from '../manifest/objects.ts';
import { podTemplateOf } from '../manifest/pod-template.ts';
import { defaultGracePeriodSeconds, type ContainerSpec } from '../rehearsal/pod.ts';

/** Container is a container of a workload that runs as long as the pod: a regular one or a sidecar. */
export interface Container {
  /** Where it is in its object. */
  readonly path: Path;
  readonly fields: Fields;
  readonly spec: ContainerSpec;
  /** `command` and `args` as one list. */
  readonly argv: readonly string[];
}

/** Workload is an object that runs pods. */
export interface Workload {
  readonly object: ManifestObject;
  readonly labels: Fields;
  /** The specification of the pod, and where it is. */
  readonly spec: Fields;
  readonly path: Path;
  readonly gracePeriodSeconds: number;
  readonly containers: readonly Container[];
  /** A pod that ends by itself: of a Job, a CronJob or a hook of Helm. */
  readonly isJob: boolean;
  /** The number of its pods; undefined if it is not stated, or an autoscaler decides it. */
  readonly replicas: number | undefined;
}

/** Inventory is everything in the manifests that the rules look at. */
export interface Inventory {
  readonly objects: readonly ManifestObject[];
  readonly workloads: readonly Workload[];
}

/** takeInventory finds the workloads among the objects. */
export function takeInventory(all: readonly ManifestObject[]): Inventory {
  return { objects: all, workloads: all.flatMap((one) => workloadOf(one, all) ?? []) };
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
    ...{ object: one, labels: object(object(fields['metadata'])['labels']), spec, path, containers },
    gracePeriodSeconds: number(spec['terminationGracePeriodSeconds'], defaultGracePeriodSeconds),
    isJob: isHook || one.kind === 'Job' || one.kind === 'CronJob',
    replicas: replicasOf(one, all),
  };
}

/** hookOf returns when Helm runs an object that is a hook. */
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
  return number(object(one.fields['spec'])['replicas'], 1);
}

/** autoscalersOf returns the HorizontalPodAutoscalers and ScaledObjects of an object. */
export function autoscalersOf(one: ManifestObject, all: readonly ManifestObject[]): ManifestObject[] {
  return all.filter((other) => {
    if (other.kind !== 'HorizontalPodAutoscaler' && other.kind !== 'ScaledObject') return false;
    const { kind = 'Deployment', name } = object(object(other.fields['spec'])['scaleTargetRef']);
    return other.namespace === one.namespace && kind === one.kind && name === one.name;
  });
}

/** selects tells whether a selector of labels, which is not empty, matches the pods of a workload. */
export function selects(
  selector: unknown,
  namespace: string,
  { object: { namespace: own }, labels }: Workload,
): boolean {
  const wanted = Object.entries(object(selector));
  return namespace === own && wanted.length > 0 && wanted.every(([name, value]) => labels[name] === value);
}

/** servicesOf returns the Services with an address of their own that send connections to a workload. */
export function servicesOf(workload: Workload, { objects: all }: Inventory): ManifestObject[] {
  return all.filter(
    (one) => hasAddress(one) && selects(object(one.fields['spec'])['selector'], one.namespace, workload),
  );
}

/** soleServicesOf returns those of its Services that send connections to no other workload. */
export function soleServicesOf(workload: Workload, inventory: Inventory): ManifestObject[] {
  const others = inventory.workloads.filter((other) => other !== workload && !other.isJob);
  return servicesOf(workload, inventory).filter(
    ({ fields, namespace }) => !others.some((other) => selects(object(fields['spec'])['selector'], namespace, other)),
  );
}

/** hasAddress tells whether an object is a Service for which kube-proxy chooses the pod, so neither headless nor external. */
export function hasAddress({ kind, fields }: ManifestObject): boolean {
  const { clusterIP, type } = object(fields['spec']);
  return kind === 'Service' && clusterIP !== 'None' && type !== 'ExternalName';
}

/** ingressesOf returns the Ingresses that name one of the Services. */
export function ingressesOf(services: readonly ManifestObject[], { objects: all }: Inventory): ManifestObject[] {
  return all.filter((one) => {
    if (one.kind !== 'Ingress') return false;
    const names = backendsOf(one);
    return services.some(({ name, namespace }) => namespace === one.namespace && names.includes(name));
  });
}

function backendsOf({ fields }: ManifestObject): string[] {
  const { rules, defaultBackend } = object(fields['spec']);
  const paths = objects(rules).flatMap((rule) => objects(object(rule['http'])['paths']));
  return [object(defaultBackend), ...paths.map(({ backend }) => object(backend))].map((backend) =>
    text(object(backend['service'])['name'], ''),
  );
}
