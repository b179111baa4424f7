// Predicts how a new version of the kubelet affects running containers. No side effects.
import { minorVersionOf } from '../kubernetes-version.ts';
import type { ManifestObject } from '../manifest/objects.ts';
import { identity, isWorkload, type Effect } from './effects.ts';

/** Upgrade is a change from one minor version of the kubelet to another, newer or older. */
export interface Upgrade {
  readonly from: number;
  readonly to: number;
}

// The first minor version of Kubernetes in which the hash that the kubelet computes of a container covers only the
// container's name and image (K-153).
const shortHash = 31;

// The last minor version of Kubernetes in which the kubelet's hash of a container covers both the set and the unset
// fields (K-153).
const lastDump = 15;

/** readUpgrade parses `1.30..1.31`. It returns undefined for any other form. */
export function readUpgrade(given: string): Upgrade | undefined {
  const [from, to, ...more] = given.split('..').map(minorVersionOf);
  return from === undefined || to === undefined || more.length > 0 ? undefined : { from, to };
}

/**
 * upgradeEffects returns the effect of a kubelet upgrade on the containers of each object, if their node is not drained
 * first.
 */
export function upgradeEffects(objects: readonly ManifestObject[], upgrade: Upgrade): Effect[] {
  const outcome = outcomeOf(upgrade);
  return objects.filter(isWorkload).map((one) => ({ ...identity(one), ...outcome, causes: [] }));
}

function outcomeOf({ from, to }: Upgrade): Pick<Effect, 'effect' | 'message'> {
  const [older, newer] = [Math.min(from, to), Math.max(from, to)];
  if (older === newer || older >= shortHash) {
    return {
      effect: 'nothing',
      message:
        'No container restarts, because both versions of the kubelet compute the same hash of a container. Since 1.31, the hash covers only the name and the image of the container.',
    };
  }
  if (newer >= shortHash) {
    return {
      effect: 'restarts-containers',
      message:
        'The upgraded kubelet restarts every container in the existing pods, whatever the restart policy. Before 1.31, the hash that the kubelet computes of a container covered all fields of the container. Drain the node first, as every minor upgrade of a kubelet requires.',
    };
  }
  if (older <= lastDump) {
    return {
      effect: 'restarts-containers',
      message:
        'The upgraded kubelet restarts every container in the existing pods. The hash that the kubelet computes of a container also covers the container fields that a new version of Kubernetes adds. Drain the node first, as every minor upgrade of a kubelet requires.',
    };
  }
  return {
    effect: 'may-restart-containers',
    message:
      'The upgraded kubelet restarts a container in the existing pod if its version of Kubernetes has a new default for a field of the container. Before 1.31, the hash that the kubelet computes of a container covers all fields that are set. Drain the node first, as every minor upgrade of a kubelet requires.',
  };
}
