// Reads a pod from a manifest: the first Pod, or the pod template of the first Deployment, StatefulSet, DaemonSet or
// Job.
import { containerOf } from '../manifest/container.ts';
import { number, object, objects, pathText, text, type Fields, type Path } from '../manifest/fields.ts';
import type { RehearsedManifest } from './changes.ts';
import { invalidIn } from './invalid.ts';
import { readObjects, type ManifestObject } from '../manifest/objects.ts';
import { podTemplateOf } from '../manifest/pod-template.ts';
import { servicePortOf, type ServedPod } from './port.ts';
import { defaultGracePeriodSeconds, type ContainerSpec, type PodSpec } from './pod.ts';

/**
 * ManifestReading is the pod of a manifest, with warnings about parts of the manifest that the rehearsal does not use.
 * If there is no usable pod, `problem` says why.
 */
export type ManifestReading =
  | {
      readonly pod: PodSpec;
      readonly warnings: readonly string[];
      /** `manifest` is the Kubernetes object that contains the pod, such as a Deployment. */
      readonly manifest: RehearsedManifest;
    }
  | { readonly problem: string };

/**
 * readManifest returns the pod of a manifest. A rehearsal cannot run images, so `commands` maps the names of containers
 * to commands. `fallback` is the command of the first regular container that is not in `commands`.
 */
export function readManifest(
  content: string,
  file: string,
  commands: ReadonlyMap<string, readonly string[]>,
  fallback: readonly string[],
): ManifestReading {
  const warnings: string[] = [];
  const template = findPod(content, file, warnings);
  if (template === undefined) return { problem: [`${file} has no pod`, ...warnings].join('; ') };
  const { labels, spec, specPath, services, problems, source } = template;
  if (problems.length > 0) return { problem: problems.join('; ') };
  const sidecars = objects(spec['initContainers']).filter((one) => one['restartPolicy'] === 'Always');
  const skipped = objects(spec['initContainers']).length - sidecars.length;
  if (skipped > 0) warnings.push(`${String(skipped)} init containers are not run`);
  const regular = objects(spec['containers']);
  const known = [...sidecars, ...regular].map((one) => text(one['name'], 'app'));
  for (const other of [...commands.keys()].filter((one) => !known.includes(one)))
    warnings.push(`the manifest has no container ${other}, so the command of --container ${other}=COMMAND is not run`);
  const unnamed = regular.filter((one) => !commands.has(String(one['name'])));
  const containers: ContainerSpec[] = [];
  for (const one of [...sidecars, ...regular]) {
    const own = text(one['name'], 'app');
    const command = commands.get(own) ?? (unnamed[0] === one ? fallback : undefined);
    if (command === undefined || command.length === 0) {
      warnings.push(`container ${own} is not run: give its command with --container ${own}=COMMAND`);
    } else containers.push(containerOf(one, command, sidecars.includes(one)));
  }
  if (!containers.some(({ isSidecar }) => !isSidecar)) return { problem: `${file}: no container has a command` };
  const isRun = ({ name: own }: Fields): boolean => containers.some((one) => one.name === text(own, 'app'));
  const all = [...regular, ...sidecars];
  const { terminationGracePeriodSeconds, restartPolicy } = spec;
  const pod: PodSpec = {
    containers,
    terminationGracePeriodSeconds: number(terminationGracePeriodSeconds, defaultGracePeriodSeconds),
    restartPolicy: restartPolicy === 'Never' || restartPolicy === 'OnFailure' ? restartPolicy : 'Always',
    servicePort: servicePortOf({
      services,
      labels,
      containers: all.filter(isRun),
      skipped: all.filter((one) => !isRun(one)),
    }),
  };
  const serves = containers.find(({ isSidecar }) => !isSidecar);
  const index = objects(spec['containers']).findIndex((one) => text(one['name'], 'app') === serves?.name);
  const { fields, lineOf } = source;
  const containerPath = [...specPath, 'containers', index];
  return { pod, warnings, manifest: { file, fields, lineOf, specPath, containerPath } };
}

interface FoundPod extends Pick<ServedPod, 'services' | 'labels'> {
  readonly spec: Fields;
  readonly source: ManifestObject;
  /** specPath is the path from the workload object to the `spec` of its pod. */
  readonly specPath: Path;
  /** `problems` lists the invalid values, each with its file and line. */
  readonly problems: readonly string[];
}

function findPod(content: string, file: string, warnings: string[]): FoundPod | undefined {
  const { objects: all, unreadable } = readObjects(content, file);
  warnings.push(...unreadable.map(({ line, reason }) => `${file}:${String(line)}: ${reason}`));
  const services = all.filter(({ kind }) => kind === 'Service').map(({ fields }) => fields);
  for (const one of all) {
    const template = podTemplateOf(one);
    if (template === undefined) continue;
    const labels = object(object(template.fields['metadata'])['labels']);
    const specPath = [...template.path, 'spec'];
    const problems = invalidIn(template.spec).map(({ path, reason }) => {
      const whole = [...specPath, ...path];
      return `${file}:${String(one.lineOf(whole))}: ${pathText(whole)} ${reason}`;
    });
    return { labels, spec: template.spec, specPath, source: one, services, problems };
  }
  return undefined;
}
