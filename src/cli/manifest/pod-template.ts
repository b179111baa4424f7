// Finds the pod template in an object of any kind that runs pods. No side effects.
import { fieldAt, isObject, type Fields, type Path } from './fields.ts';
import type { ManifestObject } from './objects.ts';

// For each kind of workload, the path to the field that contains `metadata` and `spec` of the pods.
const templatePaths: Readonly<Record<string, Path>> = {
  Pod: [],
  Deployment: ['spec', 'template'],
  StatefulSet: ['spec', 'template'],
  DaemonSet: ['spec', 'template'],
  ReplicaSet: ['spec', 'template'],
  Job: ['spec', 'template'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template'],
};

/** PodTemplate is the pod template of an object. `path` leads from that object to the pod template. */
export interface PodTemplate {
  readonly path: Path;
  readonly fields: Fields;
  readonly spec: Fields;
}

/**
 * podTemplateOf returns the pod template of an object. It returns undefined if the object runs no pods or has no pod
 * specification.
 */
export function podTemplateOf({ kind, fields }: ManifestObject): PodTemplate | undefined {
  const path = Object.hasOwn(templatePaths, kind) ? templatePaths[kind] : undefined;
  const template = path === undefined ? undefined : fieldAt(fields, path);
  if (path === undefined || !isObject(template) || !isObject(template['spec'])) return undefined;
  return { path, fields: template, spec: template['spec'] };
}
