// The load balancers and proxies in front of a container, with the times that the manifest states for them.
import { parseDuration } from '../../../settings/duration.ts';
import { numberOrUndefined, object, objects, text, type Fields } from '../../manifest/fields.ts';
import type { ManifestObject } from '../../manifest/objects.ts';
import { ingressesOf, servicesOf, type Container, type Inventory, type Workload } from '../inventory.ts';

/** LoadBalancer describes a load balancer or proxy in front of a container. Times are in seconds. */
export interface LoadBalancer {
  readonly title: string;
  /**
   * idleSeconds is the time after which the load balancer closes an idle connection to a pod. It is undefined if lint
   * does not compare this time with the keep-alive timeout of the server.
   */
  readonly idleSeconds?: number;
  /**
   * `lag` is how long the load balancer can still send connections to a terminating pod. It is undefined if the load
   * balancer checks only the health of nodes, because this check never shows that a pod is terminating.
   */
  readonly lag?: Lag | undefined;
  /**
   * responseSeconds is how long the load balancer waits for the response of a pod. It is undefined if this time is
   * unknown.
   */
  readonly responseSeconds?: number | undefined;
  /**
   * drainSeconds is how long the load balancer lets requests to a removed pod finish. It is undefined if the manifest
   * does not state this time, or if the load balancer does not end these requests.
   */
  readonly drainSeconds?: number | undefined;
}

/**
 * Lag is how long a load balancer can still send connections to a terminating pod, in seconds. `sum` is a text that
 * shows how this time is computed.
 */
export interface Lag {
  readonly seconds: number;
  readonly sum?: string;
}

const albIdleSeconds = 60;
const nginxReadSeconds = 60;

// The load balancer of Google Cloud for an Ingress or a Gateway of GKE.
const googleTitle = 'The Google Cloud load balancer';
const googleIdleSeconds = 600;
const googleResponseSeconds = 30;
// How long the Google Cloud load balancer can send connections to a terminating pod, if pods are its network endpoints.
const googleEndpointLag: Lag = { seconds: 40 };

/** ingressClassOf returns the class of an Ingress, from `spec.ingressClassName` or the older annotation. */
export function ingressClassOf(ingress: ManifestObject): string {
  const older = text(annotationsOf(ingress)['kubernetes.io/ingress.class'], '');
  return text(object(ingress.fields['spec'])['ingressClassName'], older);
}

/** loadBalancersOf returns the load balancers and proxies that send requests to a container. */
export function loadBalancersOf(container: Container, workload: Workload, inventory: Inventory): LoadBalancer[] {
  return servicesOf(workload, inventory)
    .filter((service) => reaches(service, container, workload))
    .flatMap((service) => [
      ...ingressesOf([service], inventory).flatMap((ingress) => ofIngress(ingress, service, inventory) ?? []),
      ...ofService(service),
      ...gatewaysOf(service, inventory),
      ...googleGatewaysOf(service, inventory),
    ]);
}

// Tells whether a Service can send connections to a container. If only other containers of the pod declare the ports of
// the Service, it cannot.
function reaches({ fields }: ManifestObject, container: Container, { containers }: Workload): boolean {
  return objects(object(fields['spec'])['ports']).some(({ port, targetPort = port }) => {
    const owners = containers.filter((one) =>
      objects(one.fields['ports']).some(
        ({ name, containerPort }) => name === targetPort || containerPort === targetPort,
      ),
    );
    return owners.length === 0 || owners.includes(container);
  });
}

function ofIngress(ingress: ManifestObject, service: ManifestObject, inventory: Inventory): LoadBalancer | undefined {
  const ingressClass = ingressClassOf(ingress);
  if (ingressClass === 'alb') return applicationLoadBalancer(ingress, service);
  if (ingressClass === 'gce' || ingressClass === 'gce-internal')
    return googleLoadBalancer(ingressClass, service, inventory);
  return ingressClass === 'nginx' ? nginx(ingress) : undefined;
}

function applicationLoadBalancer(ingress: ManifestObject, service: ManifestObject): LoadBalancer {
  const shared = annotationsOf(ingress);
  const attributes = shared['alb.ingress.kubernetes.io/load-balancer-attributes'];
  const idleSeconds = wholeNumber(attribute(attributes, 'idle_timeout.timeout_seconds')) ?? albIdleSeconds;
  // If a Service and its Ingress have the same annotation about targets, the AWS Load Balancer Controller uses the
  // annotation of the Service.
  const annotations = { ...shared, ...annotationsOf(service) };
  const own = (name: string): unknown => annotations[`alb.ingress.kubernetes.io/${name}`];
  const isToPods = own('target-type') === 'ip';
  return {
    title: 'The AWS Application Load Balancer',
    idleSeconds,
    responseSeconds: idleSeconds,
    lag: isToPods
      ? { seconds: 15 }
      : healthCheckLag(service, [
          own('healthcheck-interval-seconds'),
          own('unhealthy-threshold-count'),
          own('healthcheck-timeout-seconds'),
        ]),
    drainSeconds: isToPods
      ? wholeNumber(attribute(own('target-group-attributes'), 'deregistration_delay.timeout_seconds'))
      : undefined,
  };
}

function googleLoadBalancer(ingressClass: string, service: ManifestObject, inventory: Inventory): LoadBalancer {
  // An internal load balancer of Google Cloud always sends requests directly to pods. For an external load balancer,
  // the annotation `cloud.google.com/neg` says whether it sends requests directly to pods. If the annotation is
  // missing, GKE may add it later, so isToPods is undefined.
  const stated = jsonObject(annotationsOf(service)['cloud.google.com/neg'])['ingress'];
  const isToPods = ingressClass === 'gce-internal' ? true : stated;
  const config = backendConfigOf(service, inventory);
  const { checkIntervalSec, unhealthyThreshold, timeoutSec } = object(config?.['healthCheck']);
  return {
    title: googleTitle,
    idleSeconds: googleIdleSeconds,
    responseSeconds: config && (numberOrUndefined(config['timeoutSec']) ?? googleResponseSeconds),
    lag:
      isToPods === false
        ? healthCheckLag(service, [checkIntervalSec, unhealthyThreshold, timeoutSec])
        : googleEndpointLag,
    drainSeconds:
      isToPods === true ? numberOrUndefined(object(config?.['connectionDraining'])['drainingTimeoutSec']) : undefined,
  };
}

// Returns the specification of the BackendConfig of a Service, which is empty if the Service has none. Returns undefined
// if the BackendConfig is not in the manifest, or differs between ports.
function backendConfigOf(service: ManifestObject, { objects: all }: Inventory): Fields | undefined {
  const annotation = annotationsOf(service)['cloud.google.com/backend-config'];
  if (annotation === undefined) return {};
  const { default: fallback, ports } = jsonObject(annotation);
  const names = new Set(Object.values(object(ports)));
  if (fallback !== undefined || objects(object(service.fields['spec'])['ports']).length > 1) names.add(fallback);
  const [name] = names;
  const found = all.find(
    (one) => one.kind === 'BackendConfig' && one.namespace === service.namespace && one.name === name,
  );
  return names.size === 1 && found !== undefined ? object(found.fields['spec']) : undefined;
}

// Two Ingress controllers use the class nginx. Each controller reads the response timeout from its own annotation. The
// manifest does not show which controller runs, so `nginx()` reads both annotations. The default timeouts of both
// controllers are equal.
function nginx(ingress: ManifestObject): LoadBalancer {
  const annotations = annotationsOf(ingress);
  const stated =
    annotations['nginx.ingress.kubernetes.io/proxy-read-timeout'] ?? annotations['nginx.org/proxy-read-timeout'];
  return { title: 'NGINX', responseSeconds: stated === undefined ? nginxReadSeconds : nginxSeconds(stated) };
}

function nginxSeconds(value: unknown): number | undefined {
  const milliseconds = typeof value === 'string' ? parseDuration(value) : undefined;
  return wholeNumber(value) ?? (milliseconds === undefined ? undefined : milliseconds / 1_000);
}

// Returns the AWS load balancer that a Service creates. A Network Load Balancer cuts connections to a removed pod only
// with the attribute deregistration_delay.connection_termination.enabled.
function ofService(service: ManifestObject): LoadBalancer[] {
  const annotations = annotationsOf(service);
  const own = (name: string): unknown => annotations[`service.beta.kubernetes.io/aws-load-balancer-${name}`];
  if (object(service.fields['spec'])['type'] !== 'LoadBalancer') return [];
  const attributes = own('target-group-attributes');
  const isToPods = own('nlb-target-type') === 'ip' || own('type') === 'nlb-ip';
  const endsConnections = attribute(attributes, 'deregistration_delay.connection_termination.enabled') === 'true';
  return [
    {
      title: 'The AWS load balancer',
      lag: isToPods
        ? undefined
        : healthCheckLag(service, [
            own('healthcheck-interval'),
            own('healthcheck-unhealthy-threshold'),
            own('healthcheck-timeout'),
          ]),
      drainSeconds:
        isToPods && endsConnections
          ? wholeNumber(attribute(attributes, 'deregistration_delay.timeout_seconds'))
          : undefined,
    },
  ];
}

// Returns the gateways whose HTTPRoutes state how long they wait for a response of the Service. The Gateway API has no
// default for this time, and 0s means that there is no limit.
function gatewaysOf(service: ManifestObject, { objects: all }: Inventory): LoadBalancer[] {
  return all.flatMap((route) => {
    if (route.kind !== 'HTTPRoute') return [];
    const seconds = objects(object(route.fields['spec'])['rules'])
      .filter(({ backendRefs }) => objects(backendRefs).some((one) => isReference(one, route, service)))
      .map(({ timeouts }) => {
        const { request, backendRequest = request } = object(timeouts);
        return (parseDuration(text(backendRequest, '')) ?? 0) / 1_000;
      });
    const responseSeconds = Math.max(0, ...seconds);
    return responseSeconds > 0 ? [{ title: `The gateway of HTTPRoute ${route.name}`, responseSeconds }] : [];
  });
}

// Returns the load balancers of Google Cloud that a GCPBackendPolicy configures for the Service. A policy has an effect
// only for a Gateway of GKE, which always sends requests to pods.
function googleGatewaysOf(service: ManifestObject, { objects: all }: Inventory): LoadBalancer[] {
  return all.flatMap((policy) => {
    const { targetRef, default: settings } = object(policy.fields['spec']);
    if (policy.kind !== 'GCPBackendPolicy' || !isReference(object(targetRef), policy, service)) return [];
    const { timeoutSec, connectionDraining } = object(settings);
    return [
      {
        title: googleTitle,
        idleSeconds: googleIdleSeconds,
        responseSeconds: numberOrUndefined(timeoutSec) ?? googleResponseSeconds,
        lag: googleEndpointLag,
        drainSeconds: numberOrUndefined(object(connectionDraining)['drainingTimeoutSec']),
      },
    ];
  });
}

// Tells whether a reference of an object, such as a backendRef, names the Service.
function isReference(
  { kind = 'Service', name, namespace }: Fields,
  { namespace: own }: ManifestObject,
  service: ManifestObject,
): boolean {
  return kind === 'Service' && name === service.name && text(namespace, own) === service.namespace;
}

// Returns the time after which a load balancer removes a node without a ready pod (H-048). `times` has the interval,
// the unhealthy threshold and the timeout of the health check. Returns undefined if the manifest does not state all
// three, or if a node without a pod passes the health check.
function healthCheckLag({ fields }: ManifestObject, times: readonly unknown[]): Lag | undefined {
  const [interval, threshold, timeout] = times.map(wholeNumber);
  const isLocal = object(fields['spec'])['externalTrafficPolicy'] === 'Local';
  if (!isLocal || interval === undefined || threshold === undefined || timeout === undefined) return undefined;
  const sum = `${String(interval)} × ${String(threshold)} + ${String(timeout)}`;
  return { seconds: interval * threshold + timeout, sum };
}

function annotationsOf({ fields }: ManifestObject): Fields {
  return object(object(fields['metadata'])['annotations']);
}

// Returns the value of one attribute in an annotation such as
// `stickiness.enabled=true,idle_timeout.timeout_seconds=60`.
function attribute(annotation: unknown, name: string): string | undefined {
  const pairs = text(annotation, '').split(',');
  return pairs.map((pair) => pair.split('=').map((part) => part.trim())).find(([key]) => key === name)?.[1];
}

function wholeNumber(value: unknown): number | undefined {
  const isText = typeof value === 'string' || typeof value === 'number';
  return isText && /^\d+$/.test(String(value)) ? Number(value) : undefined;
}

function jsonObject(value: unknown): Fields {
  try {
    return object(JSON.parse(text(value, '')));
  } catch {
    // The controller of the load balancer rejects an annotation that is not valid JSON. Lint therefore treats such an
    // annotation as empty.
    return {};
  }
}
