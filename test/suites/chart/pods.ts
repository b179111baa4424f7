// Reads the parts of a pod that the tests of the chart check.
import type { KubernetesObject } from './chart.ts';

export interface Probe {
  httpGet: { path: string; port: string };
  periodSeconds: number;
  timeoutSeconds: number;
  failureThreshold: number;
  successThreshold: number;
  terminationGracePeriodSeconds?: number;
}

export interface Container {
  name: string;
  image: string;
  env: { name: string; value?: string; valueFrom?: object }[];
  envFrom?: object[];
  command?: string[];
  args?: string[];
  ports: { name: string; containerPort: number }[];
  readinessProbe: Probe;
  livenessProbe: Probe;
  startupProbe: Probe;
  lifecycle?: { preStop: { sleep: { seconds: number } } };
  terminationMessagePath?: string;
  terminationMessagePolicy: string;
  resources: object;
  securityContext: object;
  volumeMounts: { name: string; mountPath: string }[];
}

export interface PodTemplate {
  metadata: { labels: Record<string, string>; annotations?: Record<string, string> };
  spec: {
    terminationGracePeriodSeconds: number;
    enableServiceLinks: boolean;
    automountServiceAccountToken: boolean;
    serviceAccountName: string;
    securityContext: Record<string, unknown>;
    containers: [Container, ...Container[]];
    topologySpreadConstraints?: { matchLabelKeys: string[]; whenUnsatisfiable: string }[];
    [field: string]: unknown;
  };
}

export interface DeploymentSpec {
  replicas?: number;
  minReadySeconds: number;
  progressDeadlineSeconds: number;
  strategy: { type: string; rollingUpdate?: { maxSurge: number | string; maxUnavailable: number | string } };
  selector: { matchLabels: Record<string, string> };
  template: PodTemplate;
}

export function specOf(deployment: KubernetesObject): DeploymentSpec {
  return deployment['spec'] as DeploymentSpec;
}

/** containerOf returns the server's container in a Deployment. */
export function containerOf(deployment: KubernetesObject): Container {
  return specOf(deployment).template.spec.containers[0];
}

/** environmentOf returns the environment variables of a Deployment's container. */
export function environmentOf(deployment: KubernetesObject): Record<string, string | undefined> {
  return Object.fromEntries(containerOf(deployment).env.map(({ name, value }) => [name, value]));
}
