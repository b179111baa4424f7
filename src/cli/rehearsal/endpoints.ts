// Simulates the Service of the rehearsed pod: computes when the kube-proxy of each node applies a change of the pod's
// endpoint. No side effects.

/** Conditions are the conditions of an endpoint in an EndpointSlice (K-076). */
export interface Conditions {
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
}

/** conditionsOf derives the conditions of an endpoint from the state of its pod (K-076, K-077). */
export function conditionsOf(pod: { readonly isReady: boolean; readonly isDeleted: boolean }): Conditions {
  return { ready: pod.isReady && !pod.isDeleted, serving: pod.isReady, terminating: pod.isDeleted };
}

/** Destination says to which pods a node sends a new connection, or that it refuses the connection. */
export type Destination = 'pod' | 'others' | 'refused';

/** nodeCount is the number of nodes through which the clients connect. Each node has its own copy of the endpoints. */
export const nodeCount = 3;

/**
 * leastPropagation is the shortest time, in milliseconds, after which a node's kube-proxy learns of a changed endpoint.
 * The EndpointSlice controller and the API server take at least this long (K-127).
 */
export const leastPropagation = 300;

/** Node is one simulated node of the cluster, with the changes of the pod's endpoint that its kube-proxy receives. */
interface Node {
  /**
   * `propagation` is the time, in milliseconds, between a change of the pod's endpoint and the moment when this node
   * routes new connections accordingly.
   */
  readonly propagation: number;
  readonly changes: readonly { readonly at: number; readonly conditions: Conditions | undefined }[];
}

/**
 * Endpoints contains what each simulated node knows about the endpoint of the rehearsed pod. `conditions` is undefined
 * if the node knows no endpoint of the pod.
 */
export interface Endpoints {
  readonly nodes: readonly Node[];
  /**
   * hasOthers is true if the simulated Service also has pods other than the rehearsed pod. These other pods are always
   * ready.
   */
  readonly hasOthers: boolean;
}

export interface EndpointsOptions {
  /**
   * A node applies a change of the pod's endpoint after `leastPropagation` milliseconds, plus a random time of at most
   * `propagation` milliseconds.
   */
  readonly propagation: number;
  readonly hasOthers: boolean;
  /** `random()` returns a number from 0 up to, but not including, 1. */
  readonly random: () => number;
}

/**
 * newEndpoints returns the initial state of the simulated endpoints of a Service, in which no node sends connections to
 * the rehearsed pod.
 */
export function newEndpoints({ propagation, hasOthers, random }: EndpointsOptions): Endpoints {
  const nodes = Array.from({ length: nodeCount }, () => ({
    propagation: leastPropagation + random() * propagation,
    changes: [],
  }));
  return { nodes, hasOthers };
}

/**
 * afterChange returns the new state of the simulated endpoints of a Service if the conditions of the pod change at the
 * time `at`. Each simulated node learns of the new conditions some time later.
 */
export function afterChange(endpoints: Endpoints, at: number, conditions: Conditions | undefined): Endpoints {
  const nodes = endpoints.nodes.map(({ propagation, changes }) => ({
    propagation,
    changes: [...changes, { at: at + propagation, conditions }],
  }));
  return { ...endpoints, nodes };
}

/**
 * `destination()` returns where a node sends a new connection at `now`. If an endpoint is ready, the node uses that
 * endpoint. Otherwise, the node uses an endpoint that is serving and terminating. If there is neither, the node refuses
 * the connection (K-128, K-129, K-132).
 */
export function destination({ nodes, hasOthers }: Endpoints, node: number, now: number): Destination {
  const known = nodes[node % nodes.length]?.changes.filter(({ at }) => at <= now).at(-1)?.conditions;
  if (known?.ready === true) return 'pod';
  if (hasOthers) return 'others';
  return known?.serving === true && known.terminating ? 'pod' : 'refused';
}
