// The type of a case, and how its pod is created.
/** Place says where Node and the program are installed. */
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

/** Case is one pod with the time of its deletion. */
export interface Case {
  readonly name: string;
  /** The end of the sentence “This pod runs a server that …”. */
  readonly title: string;
  readonly spec: (place: Place) => Spec;
  /** Seconds from the first log line of the pod to its deletion, or in a rehearsal to its eviction. */
  readonly endsAfter: number;
  /**
   * Whether the pod is deleted while a postStart hook runs. During the hook, the kubelet returns no log of the
   * container. So the time of the deletion counts from the kubelet's event `Started` instead of the first log line.
   */
  readonly isInPostStart?: boolean;
  /** The grace period of the deletion, in seconds. */
  readonly gracePeriodSeconds?: number;
  /** Whether the kubelet evicts the pod. If it does, the kubelet decides when the eviction begins. */
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

// The next free port. All containers of a rehearsal listen on this machine, so each needs its own port.
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

/** everySecond is the timing of a probe: the probe runs every second, and its first failure takes effect. */
export const everySecond = { periodSeconds: 1, failureThreshold: 1 };

/** `alone()` returns a pod with one container. */
export function alone(described: Described, spec: Partial<Spec> = {}): Case['spec'] {
  const make = containers(described);
  return (place) => ({ terminationGracePeriodSeconds: 10, ...spec, containers: make(place) });
}

/** together returns a pod with several regular containers. */
export function together(terminationGracePeriodSeconds: number, ...all: readonly Described[]): Case['spec'] {
  const make = containers(...all);
  return (place) => ({ terminationGracePeriodSeconds, containers: make(place) });
}

/** withSidecars returns a pod with sidecars. The last container is the regular one. */
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
