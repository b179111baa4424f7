// Lint rules about probes: invalid fields, and probes that restart or remove a healthy container.
import { isDeepStrictEqual } from 'node:util';
import { isObject, object, objects, type Path } from '../../manifest/fields.ts';
import type { ManifestObject } from '../../manifest/objects.ts';
import type { Probe } from '../../rehearsal/pod.ts';
import { servicesOf, type Container, type Inventory, type Workload } from '../inventory.ts';
import { inContainers, inProbes, inServers, type Rule } from '../rule.ts';
import { preStopSleep } from '../stated.ts';

const knownPort = 'Use the name of a port of the same container, or a number.';

/** probeRules check startup, readiness and liveness probes. */
export const probeRules: readonly Rule[] = [
  {
    name: 'no-readiness-probe',
    severity: 'advice',
    find: inServers(({ spec: { probes, ports } }, workload, inventory) => {
      const [service] = servicesOf(workload, inventory);
      const waits =
        probes.some(({ type }) => type !== 'liveness') || objects(workload.spec['readinessGates']).length > 0;
      if (waits || ports.length === 0 || service === undefined) return [];
      return [
        {
          path: ['readinessProbe'],
          message: `The container has no readiness probe. So Service ${service.name} sends connections from the start of the container, even while the program does not listen yet.`,
          remedy: 'Give the container a readiness probe.',
        },
      ];
    }),
  },
  {
    name: 'liveness-is-readiness',
    severity: 'advice',
    find: inContainers(({ spec: { probes } }) => {
      const readiness = probes.find(({ type }) => type === 'readiness');
      const liveness = probes.find(({ type }) => type === 'liveness');
      if (readiness?.handler.kind !== 'http' || !isDeepStrictEqual(readiness.handler, liveness?.handler)) return [];
      return [
        {
          path: ['livenessProbe', 'httpGet', 'path'],
          message:
            'The liveness probe and the readiness probe send the same request, so the kubelet restarts a container that works but is not ready.',
          remedy: 'Let the liveness probe request a path that checks no dependency.',
        },
      ];
    }),
  },
  {
    name: 'liveness-before-readiness',
    severity: 'advice',
    find: inContainers(({ spec: { probes } }) => {
      const [readiness, liveness] = (['readiness', 'liveness'] as const).map((wanted) => {
        const probe = probes.find(({ type }) => type === wanted);
        return probe === undefined
          ? undefined
          : (probe.failureThreshold - 1) * probe.periodSeconds + probe.timeoutSeconds;
      });
      if (readiness === undefined || liveness === undefined || liveness >= readiness) return [];
      return [
        {
          path: ['livenessProbe'],
          message: `A hanging container is killed after ${String(liveness)} s, but becomes not ready only after ${String(readiness)} s: it is killed while it still gets requests.`,
          remedy: 'Give the liveness probe a larger failureThreshold than the readiness probe.',
        },
      ];
    }),
  },
  {
    name: 'probe-timeout-exceeds-period',
    severity: 'advice',
    find: inProbes(({ timeoutSeconds, periodSeconds }) =>
      timeoutSeconds <= periodSeconds
        ? []
        : [
            {
              path: ['timeoutSeconds'],
              message: `A probe can take ${String(timeoutSeconds)} s, but the period is ${String(periodSeconds)} s: a slow probe delays the next probe.`,
              remedy: 'Set timeoutSeconds to periodSeconds or less.',
            },
          ],
    ),
  },
  {
    name: 'slow-startup-probe',
    severity: 'advice',
    find: inProbes(
      ({ periodSeconds }) =>
        periodSeconds === 1
          ? []
          : [
              {
                path: ['periodSeconds'],
                message: `The kubelet runs the first startup probe up to ${String(periodSeconds)} s after the start of the container. No other probe runs until the startup probe has passed.`,
                remedy: 'Set periodSeconds to 1. Multiply failureThreshold by the old value of periodSeconds.',
              },
            ],
      ['startup'],
    ),
  },
  {
    name: 'tcp-liveness',
    severity: 'advice',
    find: inProbes(
      ({ handler }) =>
        handler.kind !== 'tcp'
          ? []
          : [
              {
                path: ['tcpSocket'],
                message:
                  'A tcpSocket probe does not detect a hanging program, because the kernel accepts the connection even if the program hangs.',
                remedy: 'Use an httpGet, grpc or exec probe that the program itself answers.',
              },
            ],
      ['liveness'],
    ),
  },
  {
    name: 'never-ready',
    severity: 'error',
    find: inProbes((probe, container, workload, inventory) => {
      const unknown = unknownPortIn(probe, container);
      const service = waitingService(probe, workload, inventory);
      if (unknown === undefined || service === undefined) return [];
      return [
        {
          path: unknown.path,
          message: `The ${probe.type} probe never passes, because the container has no port with the name ${unknown.name}. So the pod is never ready, and Service ${service.name} sends no connection to the pod.`,
          remedy: knownPort,
        },
      ];
    }),
  },
  {
    name: 'unknown-probe-port',
    severity: 'advice',
    find: inProbes((probe, container, workload, inventory) => {
      const unknown = unknownPortIn(probe, container);
      // If a Service waits until the probe passes, the rule `never-ready` reports the probe instead.
      if (unknown === undefined || waitingService(probe, workload, inventory) !== undefined) return [];
      return [
        {
          path: unknown.path,
          message: `In the ${probe.type} probe, no port of the container is named ${unknown.name}: every attempt ends in an error, so the probe neither passes nor fails.`,
          remedy: knownPort,
        },
      ];
    }),
  },
  {
    name: 'probe-host',
    severity: 'advice',
    find: inContainers(({ fields }) =>
      [
        ...['startupProbe', 'readinessProbe', 'livenessProbe'].map((probe) => [probe]),
        ['lifecycle', 'preStop'],
        ['lifecycle', 'postStart'],
      ]
        .flatMap((path) => ['httpGet', 'tcpSocket'].map((handler) => [...path, handler, 'host']))
        .filter((path) => {
          const host = path.reduce<unknown>((at, step) => object(at)[step], fields);
          return typeof host === 'string' && host !== '';
        })
        .map((path) => ({
          path,
          message:
            'The field host makes the kubelet send the probe to this host instead of the pod. Since Kubernetes 1.34, Pod Security "baseline" rejects a probe with this field.',
          remedy: 'Remove host. To send another Host header, use httpHeaders.',
        })),
    ),
  },
  {
    name: 'invalid-probe',
    severity: 'advice',
    find: inProbes(({ type, successThreshold, terminationGracePeriodSeconds }) => [
      ...(type === 'readiness' || successThreshold === 1
        ? []
        : [
            {
              path: ['successThreshold'],
              message: `The API server rejects a successThreshold other than 1 in a ${type} probe.`,
              remedy: 'Remove successThreshold.',
            },
          ]),
      ...(type !== 'readiness' || terminationGracePeriodSeconds === undefined
        ? []
        : [
            {
              path: ['terminationGracePeriodSeconds'],
              message: 'The API server rejects terminationGracePeriodSeconds in a readiness probe.',
              remedy: 'Move terminationGracePeriodSeconds to the liveness or startup probe, or remove the field.',
            },
          ]),
    ]),
  },
  {
    name: 'short-probe-grace-period',
    severity: 'advice',
    find: inProbes(({ terminationGracePeriodSeconds: grace }, container) => {
      const sleep = preStopSleep(container);
      if (grace === undefined || sleep === undefined || sleep.seconds < grace) return [];
      return [
        {
          path: ['terminationGracePeriodSeconds'],
          message: `The probe sets terminationGracePeriodSeconds to ${String(grace)}, and the preStop hook sleeps for all of this time. So the kubelet sends SIGKILL 2 s after SIGTERM.`,
          remedy: `Set the field terminationGracePeriodSeconds of the probe to more than the ${String(sleep.seconds)} s of the preStop sleep.`,
        },
      ];
    }),
  },
];

// Returns the name of a probe's port if the container of the probe declares no port with this name.
function unknownPortIn({ type }: Probe, { fields }: Container): { path: Path; name: string } | undefined {
  const probe = object(fields[`${type}Probe`]);
  const action = ['httpGet', 'tcpSocket'].find((name) => isObject(probe[name])) ?? '';
  const { port } = object(probe[action]);
  const isKnown = objects(fields['ports']).some(({ name }) => name === port);
  return typeof port !== 'string' || isKnown ? undefined : { path: [action, 'port'], name: JSON.stringify(port) };
}

// Returns a Service that sends connections to the pods of a workload only after the probe has passed.
function waitingService({ type }: Probe, workload: Workload, inventory: Inventory): ManifestObject | undefined {
  if (type === 'liveness' || workload.isJob || workload.object.hasPlaceholder) return undefined;
  return servicesOf(workload, inventory).find(
    ({ fields }) => object(fields['spec'])['publishNotReadyAddresses'] !== true,
  );
}
