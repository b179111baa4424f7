// Adds a sidecar to a pod without sidecars, for the scenarios that need one.
import { containerDefaults, type ContainerSpec, type PodSpec } from './pod.ts';

// A sidecar that does nothing and exits when it receives its stop signal.
const idleSidecar: ContainerSpec = {
  ...containerDefaults,
  name: 'idle-sidecar',
  command: [process.execPath, '--eval', `process.on('SIGTERM', () => process.exit()); setInterval(() => {}, 60_000)`],
  isSidecar: true,
};

/** withSidecar adds an idle sidecar to a pod that has no sidecar. */
export function withSidecar(pod: PodSpec): PodSpec {
  if (pod.containers.some(({ isSidecar }) => isSidecar)) return pod;
  return { ...pod, containers: [idleSidecar, ...pod.containers] };
}
