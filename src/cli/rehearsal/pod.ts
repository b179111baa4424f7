// The rehearsed pod. Names and defaults are those of the Kubernetes pod specification. No side effects.
import type { ProbeType } from './streak.ts';

/** Handler is the action of a probe or a lifecycle hook, such as an HTTP request. */
export type Handler =
  | {
      readonly kind: 'http';
      readonly port: number;
      readonly path: string;
      readonly scheme: 'HTTP' | 'HTTPS';
      readonly headers: readonly { readonly name: string; readonly value: string }[];
    }
  | { readonly kind: 'tcp'; readonly port: number }
  | { readonly kind: 'grpc'; readonly port: number; readonly service: string }
  | { readonly kind: 'exec'; readonly command: readonly string[] }
  /**
   * `broken`: the kubelet cannot run the handler, for example because of an unknown port name. Every attempt is an
   * error (K-008).
   */
  | { readonly kind: 'broken'; readonly reason: string };

/** Hook is a preStop or postStart hook. */
export type Hook = Handler | { readonly kind: 'sleep'; readonly seconds: number };

/** Probe is one probe of a container. Times are in seconds, as in the pod specification. */
export interface Probe {
  readonly type: ProbeType;
  readonly handler: Handler;
  readonly initialDelaySeconds: number;
  readonly timeoutSeconds: number;
  readonly periodSeconds: number;
  readonly successThreshold: number;
  readonly failureThreshold: number;
  /**
   * terminationGracePeriodSeconds is the grace period with which the kubelet ends a container whose probe has failed.
   * If it is undefined, the pod's grace period applies.
   */
  readonly terminationGracePeriodSeconds: number | undefined;
}

/** ContainerSpec describes one container of the rehearsed pod. */
export interface ContainerSpec {
  readonly name: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** `ports` lists the port numbers of the container, in the order of the pod specification. */
  readonly ports: readonly number[];
  readonly probes: readonly Probe[];
  readonly preStop: Hook | undefined;
  readonly postStart: Hook | undefined;
  readonly stopSignal: NodeJS.Signals;
  /**
   * isDefault is true if there is no manifest. The container then has one probe, which connects to the port on which
   * the program listens.
   */
  readonly isDefault?: boolean;
  /** isSidecar is true for a sidecar: an init container with `restartPolicy: Always`. */
  readonly isSidecar: boolean;
}

/** PodSpec describes the rehearsed pod. */
export interface PodSpec {
  /** `containers` lists first the sidecars, in the order of their start, and then the regular containers. */
  readonly containers: readonly ContainerSpec[];
  readonly terminationGracePeriodSeconds: number;
  readonly restartPolicy: 'Always' | 'OnFailure' | 'Never';
  /** servicePort is the container port to which the manifest's Service sends connections. */
  readonly servicePort?: number | undefined;
}

/** containerDefaults are the values of the container fields that a specification does not set. */
export const containerDefaults = {
  env: {},
  ports: [],
  probes: [],
  preStop: undefined,
  postStart: undefined,
  stopSignal: 'SIGTERM',
  isSidecar: false,
} as const;

/** probeDefaults are the defaults of a probe in Kubernetes (K-002). */
export const probeDefaults = {
  initialDelaySeconds: 0,
  timeoutSeconds: 1,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: 3,
  terminationGracePeriodSeconds: undefined,
} as const;

/** defaultGracePeriodSeconds is the grace period of a pod that sets no `terminationGracePeriodSeconds`. */
export const defaultGracePeriodSeconds = 30;

/**
 * `unstartable` contains the exit codes of a shell and of `unshare` for a command that does not exist or cannot be
 * executed.
 */
export const unstartable: readonly unknown[] = [126, 127];

/** probeOf returns the probe of one type, or undefined if the container has none. */
export function probeOf({ probes }: ContainerSpec, type: ProbeType): Probe | undefined {
  return probes.find((probe) => probe.type === type);
}

/** shouldRestart tells whether the kubelet restarts a container that has exited with `code` (K-149). */
export function shouldRestart({ restartPolicy }: PodSpec, { isSidecar }: ContainerSpec, code: number): boolean {
  if (isSidecar || restartPolicy === 'Always') return true;
  return restartPolicy === 'OnFailure' && code !== 0;
}
