// For each simulated node, stores where the new connections go that clients open to the Service on this node.
import type { EventLog } from './event-log.ts';
import {
  afterChange,
  conditionsOf,
  destination,
  newEndpoints,
  nodeCount,
  type Destination,
  type Endpoints,
  type EndpointsOptions,
} from './endpoints.ts';
import type { PodState } from './kubelet.ts';

/**
 * ServiceRoutes decides where each simulated node sends new connections to the Service. It updates these destinations
 * when the state of the pod changes.
 */
export class ServiceRoutes {
  current: readonly Destination[];
  readonly #log: EventLog;
  readonly #onChange: (routes: readonly Destination[]) => void;
  #endpoints: Endpoints;
  #changedAt = 0;

  constructor(
    { log, ...options }: EndpointsOptions & { readonly log: EventLog },
    onChange: (routes: readonly Destination[]) => void,
  ) {
    this.#log = log;
    this.#onChange = onChange;
    this.#endpoints = newEndpoints(options);
    this.current = this.#now();
  }

  /**
   * `change()` is called when the state of the pod has changed. Each simulated node uses the new state after its own
   * propagation time.
   */
  change({ isReady, isDeleted, exists }: PodState): void {
    this.#changedAt = this.#log.at();
    this.#endpoints = afterChange(
      this.#endpoints,
      this.#changedAt,
      exists ? conditionsOf({ isReady, isDeleted }) : undefined,
    );
  }

  /**
   * If a simulated node sends new connections to another destination than at the last call of `update()`, `update()`
   * notifies the clients.
   */
  update(): void {
    const next = this.#now();
    const changed = next.flatMap((route, node) => (route === this.current[node] ? [] : [node]));
    if (changed.length === 0) return;
    this.current = next;
    for (const node of changed)
      this.#log.add('endpointChanged', { node: `node-${String(node + 1)}`, sendsTo: next[node] });
    this.#onChange(next);
  }

  /**
   * untilLearnt returns how long it takes until every simulated node has applied the latest change of the pod's
   * endpoint, in milliseconds.
   */
  untilLearnt(): number {
    const slowest = Math.max(...this.#endpoints.nodes.map(({ propagation }) => propagation));
    return Math.max(0, this.#changedAt + slowest - this.#log.at());
  }

  #now(): Destination[] {
    return Array.from({ length: nodeCount }, (_, node) => destination(this.#endpoints, node, this.#log.at()));
  }
}
