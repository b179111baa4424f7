// The pod that is rehearsed, with the names and defaults of its specification. Pure.
import type { ProbeType } from './streak.ts';

/** Handler is what a probe or a lifecycle hook does. */
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
  /** A handler that the kubelet cannot run, such as one with an unknown port name: every attempt is an error (K-008). */
  | { readonly kind: 'broken'; readonly reason: string };

/** Hook is a `preStop` or `postStart` hook. */
export type Hook = Handler | { readonly kind: 'sleep'; readonly seconds: number };

/** Probe is one probe of a container. Times are in seconds, as in the specification. */
export interface Probe {
  readonly type: ProbeType;
  readonly handler: Handler;
  readonly initialDelaySeconds: number;
  readonly timeoutSeconds: number;
  readonly periodSeconds: number;
  readonly successThreshold: number;
  readonly failureThreshold: number;
  /** The grace period of a kill by this probe; undefined means that of the pod. */
  readonly terminationGracePeriodSeconds: number | undefined;
}

/** ContainerSpec is one container of the pod. */
export interface ContainerSpec {
  readonly name: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Port numbers that the specification declares, in its order. */
  readonly ports: readonly number[];
  readonly probes: readonly Probe[];
  readonly preStop: Hook | undefined;
  readonly postStart: Hook | undefined;
  readonly stopSignal: NodeJS.Signals;
  /** Whether the container is of no manifest: its only probe follows the port on which it listens. */
  readonly isDefault?: boolean;
  /** A sidecar is an init container with `restartPolicy: Always`. */
  readonly isSidecar: boolean;
}

/** PodSpec is the pod. */
export interface PodSpec {
  readonly name: string;
  /** Sidecars first, in their start order. */
  readonly containers: readonly ContainerSpec[];
  readonly terminationGracePeriodSeconds: number;
  readonly restartPolicy: 'Always' | 'OnFailure' | 'Never';
  /** The port to which the Service of the manifest sends connections. */
  readonly servicePort?: number | undefined;
}

/** probeDefaults are the kubelet's (K-002). */
export const probeDefaults = {
  initialDelaySeconds: 0,
  timeoutSeconds: 1,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: 3,
  terminationGracePeriodSeconds: undefined,
} as const;

/** defaultGracePeriodSeconds is `terminationGracePeriodSeconds` of a pod that does not set it. */
export const defaultGracePeriodSeconds = 30;

/** probesOf returns the probe of a type, if the container has it. */
export function probeOf({ probes }: ContainerSpec, type: ProbeType): Probe | undefined {
  return probes.find((probe) => probe.type === type);
}

/** shouldRestart tells whether a container that exited with `code` is started again (K-149). */
export function shouldRestart({ restartPolicy }: PodSpec, { isSidecar }: ContainerSpec, code: number): boolean {
  if (isSidecar || restartPolicy === 'Always') return true;
  return restartPolicy === 'OnFailure' && code !== 0;
}
