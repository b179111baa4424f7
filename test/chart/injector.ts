// The injector before a real API server: policies that are bound to one namespace, and the pods that they make. Nothing is
// kept but the policies: every pod is created with a server-side dry run, which admission changes as it does a real one.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { feed, run } from '../support/command-line.ts';
import { root } from '../support/markdown.ts';
import { objects, type KubernetesObject, type Values } from './chart.ts';
import { annotation, changed, labelled, podWith, type Pod } from './injected-pods.ts';

const { KUBECTL: kubectl = 'kubectl', KUBECONFIG: kubeconfig, CHART_CLUSTER: wish } = process.env;

/** The folder of the chart. */
export const injectorChart = join(root, 'helm', 'lameduck-injector');

/** Whether there is no cluster, and none is required. */
export const skip =
  kubeconfig !== undefined || kubectl !== 'kubectl' || wish === 'required' ? false : 'no cluster: set KUBECONFIG';

/** restricted are labels of a namespace that enforces the strictest pod security. */
export const restricted = { 'pod-security.kubernetes.io/enforce': 'restricted' };

/** rendered returns the objects that the chart makes of values. */
export function rendered(values: Values = {}, args: readonly string[] = []): Promise<KubernetesObject[]> {
  return objects(values, { chart: injectorChart, release: 'injector', args });
}

/** Injector is one policy, whose binding is narrowed to namespaces of its own. */
export class Injector {
  readonly name = `injector-${randomBytes(3).toString('hex')}`;
  readonly #objects: KubernetesObject[] = [];

  /** start installs the policy and resolves when the API server applies it. */
  static async start(values: Values = {}, labels: Readonly<Record<string, string>> = {}): Promise<Injector> {
    const injector = new Injector();
    await injector.#install(values, labels);
    return injector;
  }

  /** startEach starts an injector for each way of delivery, in namespaces of the strictest pod security. */
  static startEach(): Promise<readonly [byVolume: Injector, byContainer: Injector]> {
    const image = 'registry.example/lameduck:1';
    return Promise.all([
      Injector.start({ image }, restricted),
      Injector.start({ image, delivery: 'initContainer', allPods: true }, restricted),
    ]);
  }

  /** stop deletes everything. */
  async stop(): Promise<void> {
    const kinds = 'mutatingadmissionpolicies,mutatingadmissionpolicybindings';
    await run(kubectl, 'delete', kinds, `--selector=app.kubernetes.io/instance=${this.name}`, '--ignore-not-found');
    await run(kubectl, 'delete', 'namespace', this.name, '--ignore-not-found', '--wait=false');
  }

  /** create resolves with the pod as the API server would keep it; it rejects when the API server rejects the pod. */
  async create(pod: Pod): Promise<Pod> {
    const whole = { apiVersion: 'v1', kind: 'Pod', ...pod, metadata: { name: 'one', ...pod.metadata } };
    const args = ['--namespace', this.name, 'create', '--dry-run=server', '--output=json', '--filename=-'];
    return JSON.parse((await feed(JSON.stringify(whole), kubectl, ...args)).output) as Pod;
  }

  /** inject creates the pod with the label. */
  inject(pod: Pod): Promise<Pod> {
    return this.create(labelled(pod));
  }

  /** untouched creates the pod with the label that excludes it. */
  untouched(pod: Pod): Promise<Pod> {
    return this.create(labelled(pod, 'disabled'));
  }

  /** skipped returns the reason why a pod is skipped, which is all that is changed of such a pod. */
  async skipped(pod: Pod): Promise<string | undefined> {
    const [made, same] = await Promise.all([this.inject(pod), this.untouched(pod)]);
    assert.deepEqual(changed(same, made), ['metadata.annotations.lameduck/skipped']);
    return annotation(made, 'skipped');
  }

  /** apply keeps the pod. Its image does not exist. */
  async apply(pod: Pod): Promise<void> {
    await apply({
      apiVersion: 'v1',
      kind: 'Pod',
      ...pod,
      metadata: { name: 'kept', namespace: this.name, ...pod.metadata },
    });
  }

  /** deployment resolves with what the API server would keep of a Deployment of such pods. */
  async deployment({ metadata, spec }: Pod): Promise<string> {
    const labels = { app: 'one', ...metadata.labels };
    const whole = {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'one', labels } },
      spec: { selector: { matchLabels: { app: 'one' } }, template: { metadata: { ...metadata, labels }, spec } },
    };
    const args = ['--namespace', this.name, 'create', '--dry-run=server', '--output=json', '--filename=-'];
    return (await feed(JSON.stringify(whole), kubectl, ...args)).output;
  }

  /** metrics resolves with the metrics of the API server. */
  metrics(): Promise<string> {
    return run(kubectl, 'get', '--raw', '/metrics');
  }

  /** breaks replaces the expression of a variable, and resolves when the API server injects no longer. */
  async breaks(variable: string, expression: string): Promise<void> {
    const policy = this.#objects.find(({ kind }) => kind === 'MutatingAdmissionPolicy');
    const spec = policy?.['spec'] as { variables: { name: string }[] };
    const variables = spec.variables.map((one) => (one.name === variable ? { ...one, expression } : one));
    await apply({ ...policy, spec: { ...spec, variables } });
    await this.#injects(false);
  }

  /** bindAgain binds the policy a second time. */
  async bindAgain(): Promise<void> {
    const binding = this.#objects.find(({ kind }) => kind.endsWith('Binding'));
    assert.ok(binding);
    await apply({ ...binding, metadata: { ...binding.metadata, name: `${this.name}-again` } });
  }

  /** add adds another policy to the namespace. */
  async add(values: Values): Promise<void> {
    for (const object of await this.#narrowed(values, `${this.name}-other`)) await apply(object);
  }

  async #install(values: Values, labels: Readonly<Record<string, string>>): Promise<void> {
    await apply({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: this.name, labels: { 'lameduck/inject': 'enabled', ...labels } },
    });
    this.#objects.push(...(await this.#narrowed(values, this.name)));
    for (const object of this.#objects) await apply(object);
    await run(kubectl, 'wait', '--for=create', '--timeout=30s', '--namespace', this.name, 'serviceaccount/default');
    await this.#injects(true);
  }

  async #narrowed(values: Values, name: string): Promise<KubernetesObject[]> {
    const all = await objects(values, { chart: injectorChart, release: name });
    const here = { key: 'kubernetes.io/metadata.name', operator: 'In', values: [this.name] };
    return all.map((object) => {
      const metadata = {
        ...object.metadata,
        labels: { ...object.metadata.labels, 'app.kubernetes.io/instance': this.name },
      };
      if (object.kind === 'MutatingAdmissionPolicy') return { ...object, metadata };
      const { matchResources, ...spec } = object['spec'] as { matchResources: { namespaceSelector: object } };
      const namespaceSelector = { ...matchResources.namespaceSelector, matchExpressions: [here] };
      return { ...object, metadata, spec: { ...spec, matchResources: { namespaceSelector } } };
    });
  }

  // The API server learns of a policy by a watch.
  async #injects(expected: boolean): Promise<void> {
    const since = performance.now();
    while ((annotation(await this.inject(podWith()), 'injected') !== undefined) !== expected) {
      assert.ok(performance.now() - since < 30_000, 'the API server does not know the policy after 30 s');
      await setTimeout(100);
    }
  }
}

async function apply(object: object): Promise<void> {
  await feed(JSON.stringify(object), kubectl, 'apply', '--filename=-');
}
