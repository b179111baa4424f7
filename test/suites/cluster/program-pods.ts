// Stores the programs of the folder `programs` in a ConfigMap, and creates the pods that run them.
import { fileURLToPath } from 'node:url';
import type { Namespace } from './kubernetes.ts';

const volumes = [{ name: 'programs', configMap: { name: 'programs' } }];
const volumeMounts = [{ name: 'programs', mountPath: '/app/programs' }];

/** addPrograms stores the files of test/suites/cluster/programs in a ConfigMap of the namespace. */
export async function addPrograms(namespace: Namespace): Promise<void> {
  const folder = fileURLToPath(new URL('programs', import.meta.url));
  await namespace.kubectl('create', 'configmap', 'programs', `--from-file=${folder}`);
}

/**
 * Chart values that mount the files of test/suites/cluster/programs at /app/programs in the containers. From this path,
 * a program can import the npm package lameduck that the image contains.
 */
export const programs = { extraVolumes: volumes, extraVolumeMounts: volumeMounts };

/** The image, the command and the CPU request of a pod's container. */
export interface Program {
  readonly image: string;
  readonly command: readonly string[];
  readonly cpu: string;
}

/** programPod returns a pod that runs one program once. */
export function programPod(name: string, { image, command, cpu }: Program, spec: object): object {
  const container = { name, image, imagePullPolicy: 'IfNotPresent', command, volumeMounts };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      restartPolicy: 'Never',
      volumes,
      ...spec,
      containers: [{ ...container, resources: { requests: { cpu } } }],
    },
  };
}
