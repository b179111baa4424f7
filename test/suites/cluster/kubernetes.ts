// Wraps kubectl, and observes one namespace from its creation to its deletion. It reads the pods, the endpoints, the
// Kubernetes events, and the complete log of each run of a container. The cluster must exist already, and KUBECONFIG
// must name it.
//
//   KUBECTL  optional: the command line for kubectl if it is not `kubectl` (minikube kubectl --)
import { EventEmitter, once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { feed, run } from '../../support/command-line.ts';
import { Api } from './api.ts';

const kubectl = process.env['KUBECTL'] ?? 'kubectl';

/** Pod is a pod with only those fields that the cluster tests read. */
export interface Pod {
  metadata: { uid: string; name: string; labels?: Record<string, string>; deletionTimestamp?: string };
  spec: { nodeName?: string; initContainers?: { name: string; restartPolicy?: string }[] };
  status: {
    podIP?: string;
    conditions?: { type: string; status: string }[];
    containerStatuses?: ContainerStatus[];
    initContainerStatuses?: ContainerStatus[];
  };
}

interface ContainerStatus {
  name: string;
  containerID?: string;
  restartCount: number;
  state: { running?: object; terminated?: Termination };
  lastState: { terminated?: Termination };
}

interface Termination {
  containerID: string;
  exitCode: number;
  reason: string;
}

interface EndpointSlice {
  metadata: { labels: Record<string, string> };
  endpoints: { conditions: { ready?: boolean }; targetRef?: { name: string } }[] | null;
}

interface Watched<T> {
  type: string;
  object: T;
}

/**
 * Run describes one run of a container: its log lines, and after its end its exit code and exit reason. The API server
 * has most of this information only while the pod exists.
 */
export interface Run {
  readonly pod: string;
  readonly container: string;
  /** The name of the Helm release whose chart created the pod. */
  readonly instance: string | undefined;
  readonly lines: string[];
  /**
   * The exit code of this run of the container. Watch events of the pod report it after the exit, until the next run of
   * the container has ended or the pod is deleted (P-122).
   */
  exitCode: number | undefined;
  exitReason: string | undefined;
  isLogComplete: boolean;
}

/** One change of a Service's ready endpoints: a pod was added (`isReady` is true) or removed. */
export interface EndpointChange {
  readonly service: string;
  readonly pod: string;
  readonly isReady: boolean;
  readonly at: number;
}

/** A Kubernetes event, such as the kubelet's event `Killing`. */
export interface KubernetesEvent {
  readonly reason: string;
  readonly message: string;
  readonly involvedObject: { name: string };
}

/** The pod label whose value is the name of the Helm release. The pods of the test clients do not have this label. */
export const instanceLabel = 'app.kubernetes.io/instance';

/** Namespace is one namespace of the cluster. It emits `line` for each line that a container in the namespace logs. */
export class Namespace extends EventEmitter<{ change: []; line: [run: Run, line: string] }> {
  /** The existing pods by UID, after the latest watch event. */
  readonly pods = new Map<string, Pod>();
  /** Every run of every container so far. The key is the container ID, which changes at each restart. */
  readonly runs = new Map<string, Run>();
  readonly endpointChanges: EndpointChange[] = [];
  readonly events: KubernetesEvent[] = [];
  readonly name: string;
  readonly #kubectl: string;
  readonly #ready = new Map<string, Set<string>>();
  #api: Api | undefined;

  /** Adds a random part to the title, so that two test runs with the same title use different namespaces. */
  constructor(title: string) {
    super();
    this.setMaxListeners(0);
    this.name = `${title}-${randomBytes(8).toString('hex')}`;
    this.#kubectl = `${kubectl} --namespace ${this.name}`;
  }

  async create(): Promise<void> {
    this.#api = await Api.start(this.#kubectl);
    await this.kubectl('create', 'namespace', this.name);
    await this.#watch('/api/v1', 'pods', (event: Watched<Pod>) => {
      this.#onPod(event);
    });
    await this.#watch('/apis/discovery.k8s.io/v1', 'endpointslices', ({ type, object }: Watched<EndpointSlice>) => {
      this.#onEndpoints(type === 'DELETED' ? { ...object, endpoints: null } : object);
    });
    await this.#watch('/api/v1', 'events', ({ object }: Watched<KubernetesEvent>) => {
      this.events.push(object);
      this.emit('change');
    });
  }

  /** Deletes the namespace, and stops the processes that observe it. */
  async delete(): Promise<void> {
    try {
      await this.kubectl('delete', 'namespace', this.name, '--ignore-not-found', '--wait=false');
    } finally {
      this.pods.clear();
      await this.#api?.stop();
    }
  }

  kubectl(...args: string[]): Promise<string> {
    return run(this.#kubectl, ...args);
  }

  /** Runs kubectl, which must succeed, and resolves with the warnings that it printed. */
  async complaintsOf(...args: string[]): Promise<string> {
    return (await feed('', this.#kubectl, ...args)).complaint;
  }

  /** Creates an object in the namespace. */
  async add(object: object): Promise<void> {
    await feed(JSON.stringify(object), this.#kubectl, 'create', '--filename', '-');
  }

  /** Creates the given object in the namespace, or changes the existing object to the given one. */
  async apply(object: object | string): Promise<void> {
    await feed(typeof object === 'string' ? object : JSON.stringify(object), this.#kubectl, 'apply', '--filename', '-');
  }

  /** Sends a request to a port of a pod. Resolves with the body of a 200, otherwise with undefined. */
  async ask(pod: string, port: number, path: string): Promise<string | undefined> {
    return this.#api?.get(`/api/v1/namespaces/${this.name}/pods/${pod}:${String(port)}/proxy${path}`);
  }

  /** Returns whether the pod is a ready endpoint of the Service. */
  isEndpoint(service: string, pod: string): boolean {
    return this.#ready.get(service)?.has(pod) === true;
  }

  /** Returns the events that say that the kubelet killed a container for a failed probe. */
  killsByProbe(): KubernetesEvent[] {
    return this.events.filter(
      ({ reason, message }) => reason === 'Killing' && / failed (liveness|startup) probe/.test(message),
    );
  }

  /**
   * Waits until the condition `claim` returns true. After `seconds`, rejects with an error that contains the text
   * `what`.
   */
  async until(what: string, seconds: number, claim: () => boolean): Promise<void> {
    const limit = AbortSignal.timeout(seconds * 1000);
    while (!claim()) {
      await once(this, 'change', { signal: limit }).catch(() => {
        throw new Error(`still waiting after ${String(seconds)} s: ${what}`);
      });
    }
  }

  async #watch(group: string, resource: string, onEvent: (event: Watched<never>) => void): Promise<void> {
    const lines = await this.#api?.follow(`${group}/namespaces/${this.name}/${resource}?watch=1`);
    lines?.on('line', (line) => {
      onEvent(JSON.parse(line) as Watched<never>);
    });
  }

  #onPod({ type, object: pod }: Watched<Pod>): void {
    const { uid } = pod.metadata;
    if (type === 'DELETED') this.pods.delete(uid);
    else this.pods.set(uid, pod);
    const { initContainerStatuses = [], containerStatuses = [] } = pod.status;
    const sidecars = pod.spec.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always') ?? [];
    // An init container that is not a sidecar serves nothing and has no final log line, for example the init container
    // that copies the package.
    const serving = initContainerStatuses.filter((status) => sidecars.some(({ name }) => name === status.name));
    for (const { name, containerID, state, lastState } of [...serving, ...containerStatuses]) {
      if (containerID && state.running && !this.runs.has(containerID)) void this.#begin(containerID, name, pod);
      for (const ended of [state.terminated, lastState.terminated]) {
        const known = ended && this.runs.get(ended.containerID);
        if (known) [known.exitCode, known.exitReason] = [ended.exitCode, ended.reason];
      }
    }
    this.emit('change');
  }

  async #begin(containerID: string, container: string, { metadata: { uid, name, labels } }: Pod): Promise<void> {
    const of: Run = {
      pod: name,
      container,
      instance: labels?.[instanceLabel],
      lines: [],
      exitCode: undefined,
      exitReason: undefined,
      isLogComplete: false,
    };
    this.runs.set(containerID, of);
    const path = `/api/v1/namespaces/${this.name}/pods/${name}/log?follow=true&container=${container}`;
    const onLine = (line: string) => {
      of.lines.push(line);
      this.emit('line', of, line);
      this.emit('change');
    };
    try {
      // On a busy node, the log stream of a container that has just started can end at once, without a line. The test
      // then requests the log again.
      do {
        const lines = await this.#api?.follow(path);
        if (lines) await once(lines.on('line', onLine), 'close');
      } while (of.lines.length === 0 && of.exitCode === undefined && this.pods.has(uid));
    } catch (error) {
      onLine(String(error));
    }
    of.isLogComplete = true;
    this.emit('change');
  }

  #onEndpoints({ metadata, endpoints }: EndpointSlice): void {
    const service = metadata.labels['kubernetes.io/service-name'] ?? '';
    const before = this.#ready.get(service) ?? new Set<string>();
    const ready = (endpoints ?? []).filter(({ conditions }) => conditions.ready);
    const now = new Set(ready.map(({ targetRef }) => targetRef?.name ?? ''));
    const change = (pod: string, isReady: boolean) =>
      this.endpointChanges.push({ service, pod, isReady, at: performance.now() });
    for (const pod of now) if (!before.has(pod)) change(pod, true);
    for (const pod of before) if (!now.has(pod)) change(pod, false);
    this.#ready.set(service, now);
    this.emit('change');
  }
}

/** isServing returns true if the pod is ready and its deletion has not been requested. */
export function isServing({ metadata, status }: Pod): boolean {
  const isReady = status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True');
  return isReady === true && metadata.deletionTimestamp === undefined;
}
