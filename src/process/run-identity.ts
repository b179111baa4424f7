// Identifies the pod, and the boot of the machine, so that the checkpoint can distinguish the runs of a container. Only
// Linux has files with these ids.
import { readFileSync } from 'node:fs';

/** bootId returns the random id of the machine's boot, or null if it is unknown. */
export function bootId(): string | null {
  return read('/proc/sys/kernel/random/boot_id')?.trim() ?? null;
}

/** podUid returns the UID of the pod, or null outside Kubernetes. */
export function podUid(): string | null {
  return podUidIn(read('/proc/self/mountinfo') ?? '');
}

// Matches a file that the kubelet mounts from the pod's folder. The UID of a static pod is a hash without hyphens.
const mountOfPod =
  /^\d+ \d+ \d+:\d+ \S*\/pods\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|[\da-f]{32})\/\S+ (?:\/etc\/hosts|\/dev\/termination-log) /m;

/** podUidIn returns the UID of the pod in a table of mounts (proc_pid_mountinfo(5)), or null. */
export function podUidIn(mounts: string): string | null {
  return mountOfPod.exec(mounts)?.[1] ?? null;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
