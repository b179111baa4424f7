// Where the kinds of Kubernetes have the pod that they run. Pure.
import { fieldAt, isObject, type Fields, type Path } from './fields.ts';
import type { ManifestObject } from './objects.ts';

// The field that has `metadata` and `spec` of the pod.
const templatePaths: Readonly<Record<string, Path>> = {
  Pod: [],
  Deployment: ['spec', 'template'],
  StatefulSet: ['spec', 'template'],
  DaemonSet: ['spec', 'template'],
  ReplicaSet: ['spec', 'template'],
  Job: ['spec', 'template'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template'],
};

/** PodTemplate is the pod of an object, with its place in it. */
export interface PodTemplate {
  readonly path: Path;
  readonly fields: Fields;
  readonly spec: Fields;
}

/** podTemplateOf returns the pod of an object; undefined if the object runs none, or its pod has no specification. */
export function podTemplateOf({ kind, fields }: ManifestObject): PodTemplate | undefined {
  const path = Object.hasOwn(templatePaths, kind) ? templatePaths[kind] : undefined;
  const template = path === undefined ? undefined : fieldAt(fields, path);
  if (path === undefined || !isObject(template) || !isObject(template['spec'])) return undefined;
  return { path, fields: template, spec: template['spec'] };
}
