// Installs, upgrades and rolls back one Helm release of the chart, and returns the pods of this release.
//
//   HELM  optional: the command line for Helm if it is not `helm`
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { feed, run } from '../../support/command-line.ts';
import { instanceLabel, isServing, type Namespace, type Pod, type Run } from './kubernetes.ts';

/** The command line for Helm. */
export const helm = process.env['HELM'] ?? 'helm';
const chart = fileURLToPath(new URL('../../../helm/lameduck', import.meta.url));

/** Helm values of the chart. */
export type Values = Readonly<Record<string, unknown>>;

/** Release is one Helm release of the chart. The Kubernetes objects of the release have its name. */
export class Release {
  readonly namespace: Namespace;
  readonly name: string;
  /**
   * The number of pods of the Helm release before and after each event of the cluster test, such as a rolling update.
   */
  readonly replicas: number;
  /**
   * If true, the test clients open enough new connections to send at least one request per second to every pod of the
   * Helm release.
   */
  readonly isSpread: boolean;
  readonly #values: Values;

  constructor(namespace: Namespace, name: string, replicas: number, values: Values, isSpread = true) {
    this.namespace = namespace;
    this.name = name;
    this.replicas = replicas;
    this.isSpread = isSpread;
    this.#values = { fullnameOverride: name, replicaCount: replicas, minReadySeconds: 1, ...values };
  }

  /** Installs or upgrades the Helm release. A value in `more` overrides the value that the constructor received. */
  async apply(more: Values = {}): Promise<void> {
    const where = ['--namespace', this.namespace.name, '--values', '-'];
    await feed(JSON.stringify({ ...this.#values, ...more }), helm, 'upgrade', '--install', this.name, chart, ...where);
    await this.#rolledOut();
  }

  async rollBack(): Promise<void> {
    await run(helm, 'rollback', this.name, '--namespace', this.namespace.name);
    await this.#rolledOut();
  }

  async scale(replicas: number): Promise<void> {
    await this.namespace.kubectl('scale', `deployment/${this.name}`, `--replicas=${String(replicas)}`);
  }

  pods(): Pod[] {
    return [...this.namespace.pods.values()].filter(({ metadata }) => metadata.labels?.[instanceLabel] === this.name);
  }

  /**
   * All runs of the containers in the pods of this Helm release, including deleted pods. Each start of a container is
   * one run.
   */
  runs(): Run[] {
    return [...this.namespace.runs.values()].filter(({ instance }) => instance === this.name);
  }

  /**
   * Resolves with the ClusterIP of the Helm release's Service, which exists even without pods. Tests use the IP
   * address, because some clusters have no DNS.
   */
  async address(service = this.name): Promise<string> {
    const ip = await this.namespace.kubectl('get', 'service', service, '--output=jsonpath={.spec.clusterIP}');
    assert.match(ip, /^[\d.:a-f]+$/);
    return ip;
  }

  /** Returns whether the Helm release has exactly `replicas` pods, all of them ready and none terminating. */
  hasSettled(replicas: number): boolean {
    const pods = this.pods();
    return pods.length === replicas && pods.every(isServing);
  }

  async #rolledOut(): Promise<void> {
    await this.namespace.kubectl('rollout', 'status', `deployment/${this.name}`, '--timeout=180s');
  }
}
