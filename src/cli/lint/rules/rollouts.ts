// Lint rules about rollouts: whether enough pods keep running, and whether the rollout can make progress.
import { fieldAt, number, object, objects, text, type Fields, type Path } from '../../manifest/fields.ts';
import { isRecreated, leastReplicas, soleServicesOf, type Workload } from '../inventory.ts';
import { inWorkloads, type Rule } from '../rule.ts';

const defaultShare = '25%';
const defaultProgressDeadline = 600;

const maxUnavailablePath: Path = ['spec', 'strategy', 'rollingUpdate', 'maxUnavailable'];
const noFewerPods = 'Set maxUnavailable to 0 and maxSurge to at least 1.';

const zoneLabel = 'topology.kubernetes.io/zone';
const requiredTerms = ['requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms'];

/** rolloutRules check Deployments and StatefulSets. */
export const rolloutRules: readonly Rule[] = [
  {
    name: 'rollout-without-pods',
    severity: 'error',
    find: inWorkloads((workload, inventory) => {
      const { object: one, replicas } = workload;
      const [service] = soleServicesOf(workload, inventory);
      if (service === undefined || replicas === 0) return [];
      if (isRecreated(one)) {
        return [
          {
            path: ['spec', 'strategy', 'type'],
            message: `During a rollout, no pod runs for some time, because the strategy Recreate ends the old pods before it creates new pods. Service ${service.name} refuses connections until a new pod is ready.`,
            remedy:
              'Use the strategy RollingUpdate. If an old pod and a new pod cannot run at the same time, suppress this finding and state that reason.',
          },
        ];
      }
      if (endsAllPods(workload)) {
        return [
          {
            path: maxUnavailablePath,
            message: `A rollout ends all old pods at once, because maxUnavailable allows all pods to be unavailable. When the old pods no longer accept connections, Service ${service.name} refuses connections until a new pod is ready.`,
            remedy: noFewerPods,
          },
        ];
      }
      const { type, rollingUpdate: rolling } = object(object(one.fields['spec'])['updateStrategy']);
      // With a partition of 1 or more, a rollout replaces only pods with the number 1 or higher. The only pod has the
      // number 0, so a rollout does not replace it.
      const isReplaced =
        text(type, 'RollingUpdate') === 'RollingUpdate' && number(object(rolling)['partition'], 0) === 0;
      if (one.kind !== 'StatefulSet' || replicas !== 1 || !isReplaced) return [];
      return [
        {
          path: ['spec', 'replicas'],
          message: `During a rollout, no pod runs for some time, because the StatefulSet controller deletes the only pod before it creates the new pod. Service ${service.name} refuses connections until the new pod is ready.`,
          remedy:
            'Run at least two replicas, or use a Deployment. If only one pod can run, suppress this finding with the reason.',
        },
      ];
    }),
  },
  {
    name: 'fewer-pods-in-rollout',
    severity: 'advice',
    find: inWorkloads((workload, inventory) => {
      const rolling = rollingUpdateOf(workload);
      // If the rollout ends all pods of a Service, only the rule `rollout-without-pods` reports maxUnavailable.
      const isOutage = endsAllPods(workload) && soleServicesOf(workload, inventory).length > 0;
      if (rolling === undefined || rolling.unavailable === 0 || isOutage) return [];
      return [
        {
          path: maxUnavailablePath,
          message: `A rollout removes ${String(rolling.unavailable)} of ${String(rolling.replicas)} pods before the new pods are ready.`,
          remedy: noFewerPods,
        },
      ];
    }),
  },
  {
    name: 'stuck-rollout',
    severity: 'advice',
    find: inWorkloads(({ object: { kind, fields } }) => {
      const { maxSurge, maxUnavailable } = rollingUpdate(object(fields['spec']));
      if (kind !== 'Deployment' || !isZero(maxSurge) || !isZero(maxUnavailable)) return [];
      return [
        {
          path: ['spec', 'strategy', 'rollingUpdate'],
          message:
            'With maxSurge 0 and maxUnavailable 0 a rollout may neither add nor remove a pod. The API server rejects the object.',
          remedy: 'Set maxSurge to 1.',
        },
      ];
    }),
  },
  {
    name: 'single-replica',
    severity: 'advice',
    find: inWorkloads((workload, inventory) => {
      const [service] = soleServicesOf(workload, inventory);
      if (workload.replicas !== 1 || service === undefined) return [];
      return [
        {
          path: ['spec', 'replicas'],
          message: `The eviction of the only pod is an outage of Service ${service.name}.`,
          remedy: 'Run at least two replicas.',
        },
      ];
    }),
  },
  {
    name: 'single-zone',
    severity: 'advice',
    find: inWorkloads((workload, inventory) => {
      const zone = onlyZoneOf(workload.spec);
      const [service] = soleServicesOf(workload, inventory);
      if (zone === undefined || service === undefined || leastReplicas(workload, inventory) < 2) return [];
      return [
        {
          path: [...workload.path, ...zone.path],
          message: `All pods run in zone ${zone.name}, so an outage of this zone is an outage of Service ${service.name}.`,
          remedy:
            'Allow more zones in the node selector or node affinity, and spread the pods with topologySpreadConstraints.',
        },
      ];
    }),
  },
  {
    name: 'short-progress-deadline',
    severity: 'advice',
    find: inWorkloads(({ object: { kind, fields }, containers }) => {
      const spec = object(fields['spec']);
      const deadline = number(spec['progressDeadlineSeconds'], defaultProgressDeadline);
      const windows = containers.flatMap(({ spec: { probes } }) =>
        probes
          .filter(({ type }) => type === 'startup')
          .map((probe) => probe.initialDelaySeconds + probe.failureThreshold * probe.periodSeconds),
      );
      const start = Math.max(0, ...windows);
      const needed = start + number(spec['minReadySeconds'], 0);
      if (kind !== 'Deployment' || deadline > needed) return [];
      return [
        {
          path: ['spec', 'progressDeadlineSeconds'],
          message: `A pod may take ${String(needed)} s to become available, but after ${String(deadline)} s the rollout counts as failed.`,
          remedy: `Set progressDeadlineSeconds to at least ${String(needed + 60)}.`,
        },
      ];
    }),
  },
  {
    name: 'no-room-for-surge',
    severity: 'advice',
    find: inWorkloads((workload) => {
      const rolling = rollingUpdateOf(workload);
      const antiAffinity = object(object(workload.spec['affinity'])['podAntiAffinity']);
      const required = objects(antiAffinity['requiredDuringSchedulingIgnoredDuringExecution']);
      const isPerNode = required.some(({ topologyKey }) => topologyKey === 'kubernetes.io/hostname');
      if (rolling?.unavailable !== 0 || !isPerNode) return [];
      return [
        {
          path: [...workload.path, 'affinity', 'podAntiAffinity', 'requiredDuringSchedulingIgnoredDuringExecution'],
          message: 'A rollout first adds a pod, which needs a node without a pod of this Deployment.',
          remedy:
            'Replace the required anti-affinity by topologySpreadConstraints or a preferred anti-affinity, or keep one node on which no pod of this Deployment runs.',
        },
      ];
    }),
  },
];

// Returns the only zone in which a pod can run, and the path to the field that names this zone. If the pod can run in
// more than one zone, returns undefined.
function onlyZoneOf(spec: Fields): { readonly name: string; readonly path: Path } | undefined {
  const selected = object(spec['nodeSelector'])[zoneLabel];
  if (typeof selected === 'string') return { name: selected, path: ['nodeSelector', zoneLabel] };
  const path = ['affinity', 'nodeAffinity', ...requiredTerms];
  // A node has to match only one term of a node affinity. So the pod is pinned to a zone only if every term names that
  // zone.
  const zones = new Set(objects(fieldAt(spec, path)).map(onlyZoneIn));
  const [name] = zones;
  return zones.size === 1 && name !== undefined ? { name, path } : undefined;
}

// A node has to match all expressions of a node affinity term. So one expression that names a single zone pins the pod
// to that zone.
function onlyZoneIn({ matchExpressions }: Fields): string | undefined {
  return objects(matchExpressions)
    .filter(({ key, operator }) => key === zoneLabel && operator === 'In')
    .map(({ values }) => [...new Set(Array.isArray(values) ? values.map(String) : [])])
    .find(({ length }) => length === 1)?.[0];
}

interface RollingUpdate {
  readonly unavailable: number;
  readonly replicas: number;
}

// Computes how many extra and how many unavailable pods a rolling update allows, as the Deployment controller does. If
// the manifest lacks a necessary field, returns undefined.
function rollingUpdateOf({ object: one, replicas }: Workload): RollingUpdate | undefined {
  if (one.kind !== 'Deployment' || isRecreated(one) || !replicas) return undefined;
  const { maxSurge, maxUnavailable } = rollingUpdate(object(one.fields['spec']));
  const surge = share(maxSurge, replicas, Math.ceil);
  const unavailable = share(maxUnavailable, replicas, Math.floor);
  return { replicas, unavailable: Math.min(replicas, surge === 0 && unavailable === 0 ? 1 : unavailable) };
}

// Tells whether the Deployment controller ends all old pods without waiting for a new pod to be ready. If an autoscaler
// sets the number of pods, the manifest does not state this number. The result is then true only for a maxUnavailable
// of 100 %.
function endsAllPods(workload: Workload): boolean {
  const { kind, fields } = workload.object;
  const { maxUnavailable } = rollingUpdate(object(fields['spec']));
  const rolling = rollingUpdateOf(workload);
  // With an explicit maxUnavailable of 0, all pods could be unavailable only if maxSurge were 0 too. The API server
  // rejects such a Deployment.
  if (kind !== 'Deployment' || isZero(maxUnavailable)) return false;
  return maxUnavailable === '100%' || (rolling !== undefined && rolling.unavailable === rolling.replicas);
}

function rollingUpdate(spec: ReturnType<typeof object>): { maxSurge: unknown; maxUnavailable: unknown } {
  const { maxSurge = defaultShare, maxUnavailable = defaultShare } = object(object(spec['strategy'])['rollingUpdate']);
  return { maxSurge, maxUnavailable };
}

function share(value: unknown, replicas: number, round: (value: number) => number): number {
  if (typeof value === 'number') return value;
  return round((Number.parseInt(text(value, defaultShare), 10) / 100) * replicas);
}

function isZero(value: unknown): boolean {
  return value === 0 || value === '0%';
}
