// The programs of the folder `programs`, which pods run out of a ConfigMap, and the pods that do so.
import { fileURLToPath } from 'node:url';
import type { Namespace } from './kubernetes.ts';

const volumes = [{ name: 'programs', configMap: { name: 'programs' } }];
const volumeMounts = [{ name: 'programs', mountPath: '/app/programs' }];

/** Puts the programs into the namespace. */
export async function addPrograms(namespace: Namespace): Promise<void> {
  const folder = fileURLToPath(new URL('programs', import.meta.url));
  await namespace.kubectl('create', 'configmap', 'programs', `--from-file=${folder}`);
}

/** Values of the chart for a release that runs one, in a folder from which it can import the package of the image. */
export const programs = { extraVolumes: volumes, extraVolumeMounts: volumeMounts };

/** The command that a pod runs, and the part of a CPU that it requests. */
export interface Program {
  readonly image: string;
  readonly command: readonly string[];
  readonly cpu: string;
}

/** A pod that runs one program once, with the rest of its `spec`. */
export function programPod(name: string, { image, command, cpu }: Program, spec: object): object {
  const container = { name, image, imagePullPolicy: 'IfNotPresent', command, volumeMounts };
  return {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name } },
    spec: {
      ...{ restartPolicy: 'Never', volumes, ...spec },
      containers: [{ ...container, resources: { requests: { cpu } } }],
    },
  };
}
