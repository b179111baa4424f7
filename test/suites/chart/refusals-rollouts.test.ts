import { refusal, refused } from './refusal.ts';

refused('rollouts and replicas', [
  refusal(
    'H-064 HC-05 the chart rejects strategy Recreate, which ends all old pods first',
    { strategy: { type: 'Recreate' } },
    /^strategy\.type \(Recreate\): must be RollingUpdate: /,
  ),
  refusal(
    'H-064 H-094 HC-05 the chart rejects a rollout that removes pods before their replacements are ready',
    { strategy: { maxUnavailable: '25%' } },
    /^strategy\.maxUnavailable \(25%\): must be 0: /,
  ),
  refusal(
    'H-065 the chart rejects a rollout that can neither add nor remove a pod',
    { strategy: { maxSurge: '0%' } },
    /^strategy\.maxSurge \(0%\): must not be 0 when maxUnavailable is 0/,
  ),
  refusal(
    'H-066 the chart rejects a single replica',
    { replicaCount: 1 },
    /^replicaCount \(1\): must be at least 2: .*; raise it, or set allowSingleReplica$/,
  ),
  refusal(
    'H-066 H-100 the chart rejects an autoscaler with a minimum of one replica',
    { autoscaling: { enabled: true, minReplicas: 1 } },
    /^autoscaling\.minReplicas \(1\): must be at least 2/,
  ),
  refusal(
    'H-068 the chart rejects an autoscaler with a minimum of zero replicas',
    { allowSingleReplica: true, autoscaling: { enabled: true, minReplicas: 0 } },
    /^autoscaling\.minReplicas \(0\): must be at least 1/,
  ),
  refusal(
    'H-068 the chart rejects an autoscaler whose maximum is below its minimum',
    { autoscaling: { enabled: true, minReplicas: 11 } },
    /^autoscaling\.maxReplicas \(10\): must not be below autoscaling\.minReplicas \(11\)/,
  ),
  refusal(
    'H-067 the chart rejects a disruption budget with both maxUnavailable and minAvailable',
    { podDisruptionBudget: { maxUnavailable: 1, minAvailable: 1 } },
    /^podDisruptionBudget \(\{"maxUnavailable":1,"minAvailable":1\}\): must not have both maxUnavailable and minAvailable/,
  ),
  refusal(
    'H-067 the chart rejects a disruption budget that allows no disruption',
    { podDisruptionBudget: { maxUnavailable: '0%' } },
    /^podDisruptionBudget\.maxUnavailable \(0%\): must not be 0: a node with a pod of this release could never be drained/,
  ),
  refusal(
    'H-067 the chart rejects a disruption budget that requires all replicas',
    { podDisruptionBudget: { maxUnavailable: null, minAvailable: 2 } },
    /^podDisruptionBudget\.minAvailable \(2\): must be below the least number of replicas \(2\)/,
  ),
  refusal(
    'H-067 the chart rejects a disruption budget that requires 100% of the replicas',
    { podDisruptionBudget: { maxUnavailable: null, minAvailable: '100%' } },
    /^podDisruptionBudget\.minAvailable \(100%\): /,
  ),
  refusal(
    'H-067 the chart rejects a disruption budget whose percentage rounds up to all replicas',
    { replicaCount: 4, podDisruptionBudget: { maxUnavailable: null, minAvailable: '76%' } },
    /^podDisruptionBudget\.minAvailable \(76%\): must be below the least number of replicas \(4\)/,
  ),
  refusal(
    'H-069 the chart rejects a progress deadline that is shorter than the longest start that a startup probe in the values allows',
    { startupProbe: { httpGet: { path: '/livez', port: 'probes' }, failureThreshold: 200 } },
    /^progressDeadlineSeconds \(600\): .* \(2065\), or a slow start is reported as a failed rollout; /,
  ),
  refusal(
    'H-069 the chart rejects a progress deadline that is shorter than the longest start that the startup probe allows',
    { progressDeadlineSeconds: 124 },
    /^progressDeadlineSeconds \(124\): must be at least .* \+ 60 \(125\)/,
  ),
]);
