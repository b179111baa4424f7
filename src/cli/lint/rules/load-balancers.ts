// The load balancers that an Ingress can create, with their timeouts.
import { object, text } from '../../manifest/fields.ts';
import type { ManifestObject } from '../../manifest/objects.ts';

/** LoadBalancer describes the load balancer of an Ingress. Times are in seconds. */
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
export function ingressClassOf({ fields }: ManifestObject): string {
  const annotations = object(object(fields['metadata'])['annotations']);
  return text(object(fields['spec'])['ingressClassName'], text(annotations['kubernetes.io/ingress.class'], ''));
}

/** loadBalancerOf returns the load balancer of an Ingress. It returns undefined for an unknown Ingress class. */
export function loadBalancerOf(ingress: ManifestObject): LoadBalancer | undefined {
  const ingressClass = ingressClassOf(ingress);
  const annotations = object(object(ingress.fields['metadata'])['annotations']);
  if (ingressClass === 'alb') {
    const attributes = text(annotations['alb.ingress.kubernetes.io/load-balancer-attributes'], '');
    const [, idle] = /idle_timeout\.timeout_seconds=(\d+)/.exec(attributes) ?? [];
    const isToPods = annotations['alb.ingress.kubernetes.io/target-type'] === 'ip';
    return {
      title: 'The AWS Application Load Balancer',
      idleSeconds: idle === undefined ? albIdleSeconds : Number(idle),
      delaySeconds: isToPods ? 15 : 0,
    };
  }
  if (ingressClass === 'gce' || ingressClass === 'gce-internal') {
    return { title: 'The Google Cloud load balancer', idleSeconds: 600, delaySeconds: 40 };
  }
  return undefined;
}
