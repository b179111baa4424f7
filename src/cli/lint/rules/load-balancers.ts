// The load balancers in front of a container, with their timeouts.
import { object, objects, text, type Fields } from '../../manifest/fields.ts';
import type { ManifestObject } from '../../manifest/objects.ts';
import { ingressesOf, servicesOf, type Container, type Inventory, type Workload } from '../inventory.ts';

/** LoadBalancer describes a load balancer in front of a container. Times are in seconds. */
export interface LoadBalancer {
  readonly title: string;
  /** idleSeconds is the time after which the load balancer closes an idle connection to a pod. */
  readonly idleSeconds: number;
  /**
   * delaySeconds is how long the load balancer can still send connections to a terminating pod. It is 0 if the load
   * balancer sends connections to nodes.
   */
  readonly delaySeconds: number;
}

const albIdleSeconds = 60;

/** ingressClassOf returns the class of an Ingress, from `spec.ingressClassName` or the older annotation. */
export function ingressClassOf(ingress: ManifestObject): string {
  const older = text(annotationsOf(ingress)['kubernetes.io/ingress.class'], '');
  return text(object(ingress.fields['spec'])['ingressClassName'], older);
}

/** loadBalancersOf returns the load balancers that send requests to a container. */
export function loadBalancersOf(container: Container, workload: Workload, inventory: Inventory): LoadBalancer[] {
  return servicesOf(workload, inventory)
    .filter((service) => reaches(service, container, workload))
    .flatMap((service) => ingressesOf([service], inventory).flatMap((ingress) => ofIngress(ingress, service) ?? []));
}

// Tells whether a Service can send connections to a container. It cannot if only other containers of the pod declare
// its ports.
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

function ofIngress(ingress: ManifestObject, service: ManifestObject): LoadBalancer | undefined {
  const ingressClass = ingressClassOf(ingress);
  if (ingressClass === 'alb') return applicationLoadBalancer(ingress, service);
  if (ingressClass === 'gce' || ingressClass === 'gce-internal') {
    return { title: 'The Google Cloud load balancer', idleSeconds: 600, delaySeconds: 40 };
  }
  return undefined;
}

function applicationLoadBalancer(ingress: ManifestObject, service: ManifestObject): LoadBalancer {
  const shared = annotationsOf(ingress);
  const attributes = shared['alb.ingress.kubernetes.io/load-balancer-attributes'];
  const idleSeconds = wholeNumber(attribute(attributes, 'idle_timeout.timeout_seconds')) ?? albIdleSeconds;
  // For the targets, the AWS Load Balancer Controller prefers the annotations of the Service.
  const annotations = { ...shared, ...annotationsOf(service) };
  const isToPods = annotations['alb.ingress.kubernetes.io/target-type'] === 'ip';
  return { title: 'The AWS Application Load Balancer', idleSeconds, delaySeconds: isToPods ? 15 : 0 };
}

function annotationsOf({ fields }: ManifestObject): Fields {
  return object(object(fields['metadata'])['annotations']);
}

// Returns one attribute of an annotation such as `stickiness.enabled=true,idle_timeout.timeout_seconds=60`.
function attribute(annotation: unknown, name: string): string | undefined {
  const pairs = text(annotation, '').split(',');
  return pairs.map((pair) => pair.split('=').map((part) => part.trim())).find(([key]) => key === name)?.[1];
}

function wholeNumber(value: unknown): number | undefined {
  const isText = typeof value === 'string' || typeof value === 'number';
  return isText && /^\d+$/.test(String(value)) ? Number(value) : undefined;
}
