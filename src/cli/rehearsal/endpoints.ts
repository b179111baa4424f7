// The Service in front of the pod: how each node's kube-proxy learns that an endpoint has changed. Pure.

/** Conditions are those of an endpoint in an EndpointSlice (K-076). */
export interface Conditions {
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
}

/** conditionsOf derives an endpoint's conditions from the pod (K-076, K-077). */
export function conditionsOf(pod: { readonly isReady: boolean; readonly isDeleted: boolean }): Conditions {
  return { ready: pod.isReady && !pod.isDeleted, serving: pod.isReady, terminating: pod.isDeleted };
}

/** Destination is where a node sends a new connection. */
export type Destination = 'pod' | 'others' | 'refused';

/** nodeCount is how many nodes, each with its own copy of the endpoints, the clients connect through. */
export const nodeCount = 3;

// The EndpointSlice controller and the API server take this long before any node sees a change, in milliseconds (K-127).
const leastPropagation = 300;

/** Node is one node's copy of the pod's endpoint. */
interface Node {
  /** How long after a change this node acts on it, in milliseconds. */
  readonly propagation: number;
  readonly changes: readonly { readonly at: number; readonly conditions: Conditions | undefined }[];
}

/** Endpoints is what every node knows of the pod. An endpoint without conditions is not listed. */
export interface Endpoints {
  readonly nodes: readonly Node[];
  /** Whether the Service has other pods, all of them ready. */
  readonly hasOthers: boolean;
}

/** EndpointsOptions is what a Service is made of. */
export interface EndpointsOptions {
  /** The longest time that a node takes beyond the least, in milliseconds. */
  readonly propagation: number;
  readonly hasOthers: boolean;
  /** Returns a number from 0 to 1, 1 excluded. */
  readonly random: () => number;
}

/** newEndpoints returns a Service whose nodes do not list the pod yet. */
export function newEndpoints({ propagation, hasOthers, random }: EndpointsOptions): Endpoints {
  const nodes = Array.from({ length: nodeCount }, () => ({
    propagation: leastPropagation + random() * propagation,
    changes: [],
  }));
  return { nodes, hasOthers };
}

/** afterChange returns the endpoints once the pod's conditions have changed at `at`. */
export function afterChange(endpoints: Endpoints, at: number, conditions: Conditions | undefined): Endpoints {
  const nodes = endpoints.nodes.map(({ propagation, changes }) => ({
    propagation,
    changes: [...changes, { at: at + propagation, conditions }],
  }));
  return { ...endpoints, nodes };
}

/**
 * destination returns where a node sends a new connection at `now`. If an endpoint is ready, the node uses that endpoint. If
 * none is ready, the node uses an endpoint that is serving and terminating. Otherwise it refuses the connection (K-128, K-129, K-132).
 */
export function destination({ nodes, hasOthers }: Endpoints, node: number, now: number): Destination {
  const known = nodes[node % nodes.length]?.changes.filter(({ at }) => at <= now).at(-1)?.conditions;
  if (known?.ready === true) return 'pod';
  if (hasOthers) return 'others';
  return known?.serving === true && known.terminating ? 'pod' : 'refused';
}
