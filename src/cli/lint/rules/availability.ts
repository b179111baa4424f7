// Lint rules about disruption budgets and autoscalers: whether nodes can be drained, and how many pods run.
import { object, objects } from '../../manifest/fields.ts';
import type { ManifestObject } from '../../manifest/objects.ts';
import { autoscalersOf, selects, type Inventory } from '../inventory.ts';
import { inObjects, inWorkloads, type Found, type Rule } from '../rule.ts';

const autoscalers = ['HorizontalPodAutoscaler', 'ScaledObject'];

/** availabilityRules check PodDisruptionBudgets, HorizontalPodAutoscalers and ScaledObjects. */
export const availabilityRules: readonly Rule[] = [
  {
    name: 'blocked-drain',
    severity: 'advice',
    find: inObjects(['PodDisruptionBudget'], (budget, inventory) => {
      const { minAvailable, maxUnavailable } = object(budget.fields['spec']);
      const replicas = podsOf(budget, inventory);
      const blocks = (field: string, message: string): Found[] => [
        { path: ['spec', field], message, remedy: 'Set maxUnavailable to 1, and do not set minAvailable.' },
      ];
      if (minAvailable !== undefined && maxUnavailable !== undefined) {
        return blocks(
          'minAvailable',
          'The API server rejects a PodDisruptionBudget with both minAvailable and maxUnavailable.',
        );
      }
      if (maxUnavailable === 0 || maxUnavailable === '0%') {
        return blocks(
          'maxUnavailable',
          'The PodDisruptionBudget forbids every eviction, so a node with one of these pods cannot be drained.',
        );
      }
      const isAll =
        minAvailable === '100%' || (typeof minAvailable === 'number' && replicas > 0 && minAvailable >= replicas);
      if (!isAll) return [];
      return blocks(
        'minAvailable',
        'The PodDisruptionBudget forbids every eviction, because minAvailable requires all pods. A node with one of these pods cannot be drained.',
      );
    }),
  },
  {
    name: 'autoscaler-bounds',
    severity: 'advice',
    find: inObjects(autoscalers, ({ kind, fields }) => {
      const spec = object(fields['spec']);
      const [min, max] =
        kind === 'ScaledObject' ? ['minReplicaCount', 'maxReplicaCount'] : ['minReplicas', 'maxReplicas'];
      const least = spec[min];
      const most = spec[max];
      if (typeof least !== 'number') return [];
      if (typeof most === 'number' && least > most) {
        return [
          {
            path: ['spec', min],
            message: `The value of ${min} is ${String(least)}, which is greater than the value of ${max}, ${String(most)}.`,
            remedy: `Set ${max} to at least ${min}.`,
          },
        ];
      }
      if (least > 0) return [];
      return [
        {
          path: ['spec', min],
          message: 'When the autoscaler has removed all pods, requests are refused until a new pod is ready.',
          remedy: `Set ${min} to at least 1. To avoid an outage during an eviction, set ${min} to at least 2.`,
        },
      ];
    }),
  },
  {
    name: 'two-autoscalers',
    severity: 'advice',
    find: inWorkloads(({ object: one }, { objects: all }) => {
      const [first, second] = autoscalersOf(one, all);
      if (first === undefined || second === undefined) return [];
      return [
        {
          path: ['spec', 'replicas'],
          message: `${first.kind} ${first.name} and ${second.kind} ${second.name} both set the number of pods.`,
          remedy: 'Remove one of the two autoscalers. A ScaledObject creates its own HorizontalPodAutoscaler.',
        },
      ];
    }),
  },
  {
    name: 'autoscaling-by-memory',
    severity: 'advice',
    find: inObjects(['HorizontalPodAutoscaler'], ({ fields }) => {
      const metrics = objects(object(fields['spec'])['metrics']);
      const isMemory = (metric: ReturnType<typeof object>): boolean => object(metric['resource'])['name'] === 'memory';
      if (metrics.length === 0 || !metrics.every(isMemory)) return [];
      return [
        {
          path: ['spec', 'metrics'],
          message:
            'The HorizontalPodAutoscaler scales by memory. A process rarely releases memory when its load falls, so the autoscaler adds pods but rarely removes pods.',
          remedy: 'Scale by CPU or by requests.',
        },
      ];
    }),
  },
];

// Returns the number of pods that a PodDisruptionBudget selects. If the manifest does not state the number of replicas
// of a selected workload, returns 0.
function podsOf({ fields, namespace }: ManifestObject, { workloads }: Inventory): number {
  const { matchLabels, matchExpressions } = object(object(fields['spec'])['selector']);
  if (matchExpressions !== undefined) return 0;
  const selected = workloads.filter((workload) => !workload.isJob && selects(matchLabels, namespace, workload));
  const isStated = selected.every(({ replicas }) => replicas !== undefined);
  return isStated ? selected.reduce((sum, { replicas = 0 }) => sum + replicas, 0) : 0;
}
