// Lint rules about Services and routes: which pods get connections, and for how long.
import { number, object, objects, text } from '../../manifest/fields.ts';
import type { ManifestObject } from '../../manifest/objects.ts';
import {
  backendsOf,
  hasAddress,
  hasOnePodAtMost,
  hookOf,
  selects,
  type Container,
  type Workload,
} from '../inventory.ts';
import { inObjects, inServers, type Rule } from '../rule.ts';
import { drainLimit, statedTime, type Stated } from '../stated.ts';
import { ingressClassOf, loadBalancersOf } from './load-balancers.ts';

// Helm runs hooks of these types when the Service does not exist: before Helm creates it, or shortly before or after
// Helm deletes it.
const hooksWithoutService = ['pre-install', 'pre-delete', 'post-delete'];

const defaultProtocol = 'TCP';

// If the backend of an Ingress path has this port name, the AWS Load Balancer Controller reads the backend from an
// annotation.
const actionOfController = 'use-annotation';

/** serviceRules check Services, Ingresses and HTTPRoutes. */
export const serviceRules: readonly Rule[] = [
  {
    name: 'publish-not-ready-addresses',
    severity: 'error',
    find: inObjects(['Service'], (service, { workloads }) => {
      const { publishNotReadyAddresses, selector } = object(service.fields['spec']);
      if (publishNotReadyAddresses !== true || !hasAddress(service) || Object.keys(object(selector)).length === 0)
        return [];
      const [first, ...others] = workloads.filter((workload) => selects(selector, service.namespace, workload));
      // If the Service never has a second pod, no ready pod could serve the connections in place of the unready pod. So
      // the field publishNotReadyAddresses causes no losses.
      if (first !== undefined && others.length === 0 && hasOnePodAtMost(first)) return [];
      return [
        {
          path: ['spec', 'publishNotReadyAddresses'],
          message:
            'With publishNotReadyAddresses, the Service sends connections to pods that do not listen yet. It also sends connections to terminating pods until they are deleted.',
          remedy:
            'Remove publishNotReadyAddresses. Peers that must find each other early need a headless Service of their own.',
        },
      ];
    }),
  },
  {
    name: 'service-selects-job',
    severity: 'error',
    find: inObjects(['Service'], (service, { workloads }) => {
      const { selector, ports } = object(service.fields['spec']);
      const selected = workloads.filter((workload) => selects(selector, service.namespace, workload));
      if (!hasAddress(service) || selected.every(({ isJob }) => isJob)) return [];
      return selected
        .filter((workload) => runsBeside(workload) && objects(ports).some((port) => isDeadEnd(port, workload)))
        .map(({ object: { kind, name } }) => ({
          path: ['spec', 'selector'],
          message: `The Service also sends connections to the pods of ${kind} ${name}, but these pods do not listen on the target port of the Service.`,
          remedy: `Give the pods of ${kind} ${name} other labels, for example another app.kubernetes.io/component.`,
        }));
    }),
  },
  {
    name: 'unknown-target-port',
    severity: 'error',
    find: inObjects(['Service'], (service, { workloads }) => {
      const { selector, ports } = object(service.fields['spec']);
      const selected = workloads.filter((workload) => selects(selector, service.namespace, workload));
      if (!hasAddress(service) || service.hasPlaceholder || selected.length === 0) return [];
      const names = selected.map(({ object: { kind, name } }) => `${kind} ${name}`).join(' or ');
      return objects(ports).flatMap(({ targetPort, protocol }, index) => {
        const wanted = text(protocol, defaultProtocol);
        // A workload with a placeholder of a template, or without readable containers, may define the port although
        // lint cannot see it.
        const mayHavePort = ({ object: { hasPlaceholder }, containers }: Workload): boolean =>
          hasPlaceholder ||
          containers.length === 0 ||
          containers.some((container) => hasPort(container, targetPort, wanted));
        if (typeof targetPort !== 'string' || selected.some(mayHavePort)) return [];
        return [
          {
            path: ['spec', 'ports', index, 'targetPort'],
            message: `No container of ${names} has a ${wanted} port with the name ${JSON.stringify(targetPort)}. So this port of the Service has no endpoint, and each connection to it is refused.`,
            remedy: 'Set targetPort to the name or the number of a container port.',
          },
        ];
      });
    }),
  },
  {
    name: 'unknown-backend-port',
    severity: 'error',
    find: inObjects(['Ingress'], (ingress, { objects: all }) =>
      backendsOf(ingress).flatMap(({ service, port, path }) => {
        const wanted = port['number'] ?? port['name'];
        const services = all.filter(
          ({ kind, name, namespace }) => kind === 'Service' && name === service && namespace === ingress.namespace,
        );
        const isUnknown = services.length > 0 && services.every((one) => hasAddress(one) && !offers(one, wanted));
        if ([ingress, ...services].some(({ hasPlaceholder }) => hasPlaceholder)) return [];
        if (wanted === undefined || wanted === actionOfController || !isUnknown) return [];
        return [
          {
            path,
            message: `Service ${service} has no port ${JSON.stringify(wanted)}, so no request of this backend reaches a pod.`,
            remedy: 'Set the port to the name or the number of a port of the Service.',
          },
        ];
      }),
    ),
  },
  {
    name: 'keep-alive-shorter-than-load-balancer',
    severity: 'error',
    find: inServers((container, workload, inventory) => {
      const keepAlive = statedTime(container, 'keepAlive');
      if (keepAlive === undefined) return [];
      return loadBalancersOf(container, workload, inventory)
        .flatMap(({ title, idleSeconds }) => (idleSeconds === undefined ? [] : [{ title, idleSeconds }]))
        .filter(({ idleSeconds }) => keepAlive.seconds <= idleSeconds)
        .slice(0, 1)
        .map(({ title, idleSeconds }) => ({
          path: keepAlive.path,
          message: `${title} keeps idle connections for ${String(idleSeconds)} s, but the server closes an idle connection after ${String(keepAlive.seconds)} s. So requests can be sent on a connection that the server is closing.`,
          remedy: `Set ${keepAlive.name} to more than ${String(idleSeconds)} s.`,
        }));
    }),
  },
  {
    name: 'drain-shorter-than-proxy-timeout',
    severity: 'advice',
    find: inServers((container, workload, inventory) => {
      const drain = drainLimit(container);
      const longest = requestLimit(container);
      // If the program's own time limit for a request (LAMEDUCK_REQUEST_TIMEOUT) is not longer than the drain, every
      // response is complete before the drain ends. How long the load balancer waits for a response is then irrelevant.
      if (drain === undefined || (longest !== undefined && longest.seconds <= drain.seconds)) return [];
      return loadBalancersOf(container, workload, inventory)
        .flatMap(({ title, responseSeconds = 0 }) =>
          responseSeconds > drain.seconds ? [{ title, responseSeconds }] : [],
        )
        .slice(0, 1)
        .map(({ title, responseSeconds }) => ({
          path: drain.path,
          message: `${title} waits ${s(responseSeconds)} for a response. During a shutdown, requests in flight have only ${s(drain.seconds)}, because ${drain.name} limits them.`,
          remedy: `Give requests in flight ${s(responseSeconds)} during a shutdown, or set the response timeout of the load balancer or proxy to the duration of the longest request.`,
        }));
    }),
  },
  {
    name: 'deregistration-delay-shorter-than-drain',
    severity: 'error',
    find: inServers((container, workload, inventory) => {
      const drain = statedTime(container, 'drain');
      const request = requestLimit(container);
      const longest = request !== undefined && request.seconds < (drain?.seconds ?? Infinity) ? request : drain;
      if (longest === undefined) return [];
      return loadBalancersOf(container, workload, inventory)
        .flatMap(({ title, drainSeconds }) => (drainSeconds === undefined ? [] : [{ title, drainSeconds }]))
        .filter(({ drainSeconds }) => drainSeconds < Math.min(longest.seconds, workload.gracePeriodSeconds))
        .slice(0, 1)
        .map(({ title, drainSeconds }) => ({
          path: longest.path,
          message: `${title} ends the requests to a removed pod after ${s(drainSeconds)}, but ${longest.name} lets them take ${s(longest.seconds)}.`,
          remedy: `Set the deregistration delay or connection draining timeout of the load balancer to at least ${s(longest.seconds)}.`,
        }));
    }),
  },
  {
    name: 'dead-route',
    severity: 'advice',
    find: inObjects(['Ingress', 'HTTPRoute'], ({ kind, fields }) => {
      const spec = object(fields['spec']);
      const isDead =
        kind === 'Ingress'
          ? objects(spec['rules']).length === 0 && spec['defaultBackend'] === undefined
          : objects(spec['parentRefs']).length === 0;
      if (!isDead) return [];
      return [
        {
          path: kind === 'Ingress' ? ['spec', 'rules'] : ['spec', 'parentRefs'],
          message: `The ${kind} ${kind === 'Ingress' ? 'has no rule and no default backend' : 'names no Gateway'}, so it routes no requests.`,
          remedy: kind === 'Ingress' ? 'Give the Ingress a rule.' : 'Name the Gateway in parentRefs.',
        },
      ];
    }),
  },
  {
    name: 'retired-ingress-controller',
    severity: 'advice',
    find: inObjects(['Ingress'], (ingress) =>
      ingressClassOf(ingress) !== 'nginx'
        ? []
        : [
            {
              path: ['spec', 'ingressClassName'],
              message:
                'The class nginx usually means the community controller, which has received no security fixes since March 2026.',
              remedy: 'Move to a maintained controller or to the Gateway API.',
            },
          ],
    ),
  },
];

// Returns the value of LAMEDUCK_REQUEST_TIMEOUT, or undefined if the container does not set it or sets it to 0, which
// means no limit.
function requestLimit(container: Container): Stated | undefined {
  const limit = statedTime(container, 'request');
  return limit?.seconds === 0 ? undefined : limit;
}

function s(seconds: number): string {
  return `${String(seconds)} s`;
}

function runsBeside({ isJob, object: one, containers }: Workload): boolean {
  const hooks = hookOf(one)
    ?.split(',')
    .map((hook) => hook.trim()) ?? ['none'];
  const isReadyAtOnce = containers.every(({ spec: { probes } }) => probes.every(({ type }) => type === 'liveness'));
  return isJob && isReadyAtOnce && !hooks.every((hook) => hooksWithoutService.includes(hook));
}

// Tells whether a container declares a port with a name, as the EndpointSlice controller does.
function hasPort({ fields }: Container, wanted: unknown, wantedProtocol: string): boolean {
  return objects(fields['ports']).some(
    ({ name, protocol = defaultProtocol }) => name === wanted && protocol === wantedProtocol,
  );
}

// Tells whether a Service has a port with a name or a number. ingress-nginx also finds a port by its target port.
function offers({ fields }: ManifestObject, wanted: unknown): boolean {
  return objects(object(fields['spec'])['ports']).some(({ name, port, targetPort }) =>
    [name, port, targetPort].includes(wanted),
  );
}

// Returns true if no container of a workload declares the port number to which a Service sends connections. Returns
// false for a target port with a name, because the rule `unknown-target-port` checks named ports.
function isDeadEnd({ port, targetPort = port }: ReturnType<typeof object>, { containers }: Workload): boolean {
  if (typeof targetPort !== 'number') return false;
  return !containers.some(({ spec: { ports } }) => ports.includes(number(targetPort, 0)));
}
