// The type Case, which describes one pod that runs on a cluster and in a rehearsal, and functions that create the
// specification of this pod.
/** Place has the path of Node and the path of the test program. */
export interface Place {
  readonly node: string;
  readonly program: string;
}

/** SpecContainer is a container of a pod, without the fields that depend on the cluster. */
export interface SpecContainer {
  readonly name: string;
  readonly command: readonly string[];
  readonly env: readonly { name: string; value: string }[];
}

/** Spec is the specification of a pod. */
export interface Spec {
  readonly terminationGracePeriodSeconds: number;
  readonly restartPolicy?: string;
  readonly initContainers?: readonly SpecContainer[];
  readonly containers: readonly SpecContainer[];
}

/** Case is one pod that runs on the cluster and in a rehearsal, and the time at which the pod is deleted or evicted. */
export interface Case {
  readonly name: string;
  /**
   * A text about the pod's server that completes the sentence “This pod runs a server that …” in
   * docs/rehearsal-truth.md.
   */
  readonly title: string;
  readonly spec: (place: Place) => Spec;
  /** Seconds from the first log line of the pod to its deletion, or in a rehearsal to its eviction. */
  readonly endsAfter: number;
  /**
   * True if the pod is deleted while its postStart hook runs. During this hook, the kubelet returns no log of the
   * container, so the test cannot wait for the first log line. For such a pod, `endsAfter` counts from the kubelet's
   * event `Started`.
   */
  readonly isInPostStart?: boolean;
  /**
   * The grace period that the request for the deletion of the pod contains, in seconds. By default, the request
   * contains none.
   */
  readonly gracePeriodSeconds?: number;
  /**
   * True if the kubelet evicts the pod, because the pod fills its disk. On the cluster, the kubelet chooses the time of
   * the eviction. In a rehearsal, `endsAfter` sets this time.
   */
  readonly isEvicted?: boolean;
}

type Variables = Readonly<Record<string, string | number>>;
type Get = (path: string, rest?: object) => object;

interface Described {
  readonly env?: Variables;
  /** `exec` returns the command of a probe or hook that sends a GET for a path to the server. */
  readonly rest?: (tools: { get: Get; exec: Get; port: number }) => object;
  readonly name?: string;
}

// The port of the next container. In a rehearsal, all containers listen on this machine, so each needs its own port.
let nextPort = 28_100;

function containers(...all: readonly Described[]): (place: Place) => SpecContainer[] {
  const numbered = all.map((one) => ({ ...one, port: nextPort++ }));
  return ({ node, program }) =>
    numbered.map(({ name = 'app', env = {}, rest, port }) => {
      const variables = { NAME: name, PORT: port, ...env };
      const command = [node, program];
      return {
        name,
        command,
        env: Object.entries(variables).map(([key, value]) => ({ name: key, value: String(value) })),
        ...rest?.({
          port,
          get: (path, more) => ({ httpGet: { port, path }, ...more }),
          exec: (path, more) => ({ exec: { command: [...command, 'check', path] }, timeoutSeconds: 5, ...more }),
        }),
      };
    });
}

/**
 * everySecond has the fields of a probe that runs every second and counts as failed after one failure
 * (`failureThreshold: 1`).
 */
export const everySecond = { periodSeconds: 1, failureThreshold: 1 };

/** `alone()` returns the specification of a pod with one container. */
export function alone(described: Described, spec: Partial<Spec> = {}): Case['spec'] {
  const make = containers(described);
  return (place) => ({ terminationGracePeriodSeconds: 10, ...spec, containers: make(place) });
}

/** `together()` returns the specification of a pod with one regular container for each element of `all`. */
export function together(terminationGracePeriodSeconds: number, ...all: readonly Described[]): Case['spec'] {
  const make = containers(...all);
  return (place) => ({ terminationGracePeriodSeconds, containers: make(place) });
}

/**
 * withSidecars returns the specification of a pod in which all containers are sidecars, except the last container of
 * `all`.
 */
export function withSidecars(terminationGracePeriodSeconds: number, ...all: readonly Described[]): Case['spec'] {
  const make = containers(...all);
  return (place) => {
    const made = make(place);
    const sidecars = made.slice(0, -1).map((one) => ({ ...one, restartPolicy: 'Always' }));
    return { terminationGracePeriodSeconds, initContainers: sidecars, containers: made.slice(-1) };
  };
}

/** commandOf returns a preStop hook that runs the same command as the given exec probe. */
export function commandOf(probe: object): object {
  return 'exec' in probe ? { exec: probe.exec } : {};
}
