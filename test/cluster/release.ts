// One release of the chart: installed, changed and rolled back by Helm, and known by what its pods do.
//
//   HELM  optional: how to call Helm where its name is not enough
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { feed, run } from '../support/command-line.ts';
import { instanceLabel, isServing, type Namespace, type Pod, type Run } from './kubernetes.ts';

/** How Helm is called. */
export const helm = process.env['HELM'] ?? 'helm';
const chart = fileURLToPath(new URL('../../helm/lameduck', import.meta.url));

/** Values of the chart, as a file would have them. */
export type Values = Readonly<Record<string, unknown>>;

/** A release whose objects have its own name. */
export class Release {
  readonly namespace: Namespace;
  readonly name: string;
  /** How many pods it has before and after whatever is done to it. */
  readonly replicas: number;
  /** Whether clients with a new connection for each request reach every pod within a second. */
  readonly isSpread: boolean;
  readonly #values: Values;

  constructor(namespace: Namespace, name: string, replicas: number, values: Values, isSpread = true) {
    this.namespace = namespace;
    this.name = name;
    this.replicas = replicas;
    this.isSpread = isSpread;
    this.#values = { fullnameOverride: name, replicaCount: replicas, minReadySeconds: 1, ...values };
  }

  /** Installs the release, or changes it to the same values with these on top. */
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

  /** The runs of its containers, also of pods that have gone. */
  runs(): Run[] {
    return [...this.namespace.runs.values()].filter(({ instance }) => instance === this.name);
  }

  /** The address of its service, which is there before and after all pods; not every cluster has DNS. */
  async address(service = this.name): Promise<string> {
    const ip = await this.namespace.kubectl('get', 'service', service, '--output=jsonpath={.spec.clusterIP}');
    assert.match(ip, /^[\d.:a-f]+$/);
    return ip;
  }

  /** Whether the release has this number of pods, all of them serve, and none is terminating. */
  hasSettled(replicas: number): boolean {
    const pods = this.pods();
    return pods.length === replicas && pods.every(isServing);
  }

  async #rolledOut(): Promise<void> {
    await this.namespace.kubectl('rollout', 'status', `deployment/${this.name}`, '--timeout=180s');
  }
}
