// One release of the chart. Helm installs it, changes it and rolls it back, and the class observes its pods.
//
//   HELM  optional: the command line for Helm if it is not `helm`
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { feed, run } from '../../support/command-line.ts';
import { instanceLabel, isServing, type Namespace, type Pod, type Run } from './kubernetes.ts';

/** The command line for Helm. */
export const helm = process.env['HELM'] ?? 'helm';
const chart = fileURLToPath(new URL('../../../helm/lameduck', import.meta.url));

/** Values of the chart, as in a values file. */
export type Values = Readonly<Record<string, unknown>>;

/** Release is an installed release of the chart. Its objects have the name of the release. */
export class Release {
  readonly namespace: Namespace;
  readonly name: string;
  /** The number of pods of the release before and after each event on the cluster. */
  readonly replicas: number;
  /** Whether clients that open a new connection for each request reach every pod of the release within a second. */
  readonly isSpread: boolean;
  readonly #values: Values;

  constructor(namespace: Namespace, name: string, replicas: number, values: Values, isSpread = true) {
    this.namespace = namespace;
    this.name = name;
    this.replicas = replicas;
    this.isSpread = isSpread;
    this.#values = { fullnameOverride: name, replicaCount: replicas, minReadySeconds: 1, ...values };
  }

  /** Installs the release, or upgrades it. The given values are added to the values of the release. */
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

  /** The runs of the release's containers. There is one run for each start of a container, also in deleted pods. */
  runs(): Run[] {
    return [...this.namespace.runs.values()].filter(({ instance }) => instance === this.name);
  }

  /**
   * The ClusterIP of the release's Service, which exists even without pods. Tests use the IP address, because some
   * clusters have no DNS.
   */
  async address(service = this.name): Promise<string> {
    const ip = await this.namespace.kubectl('get', 'service', service, '--output=jsonpath={.spec.clusterIP}');
    assert.match(ip, /^[\d.:a-f]+$/);
    return ip;
  }

  /** Returns whether the release has this number of pods, all of them serve, and none is terminating. */
  hasSettled(replicas: number): boolean {
    const pods = this.pods();
    return pods.length === replicas && pods.every(isServing);
  }

  async #rolledOut(): Promise<void> {
    await this.namespace.kubectl('rollout', 'status', `deployment/${this.name}`, '--timeout=180s');
  }
}
