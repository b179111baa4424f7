// Installs the policies of the injector in a real API server, bound to one namespace. The API server stores no pods:
// the tests create pods as a server-side dry run, in which the policies change the pods as usual.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { feed, run } from '../../support/command-line.ts';
import { root } from '../../support/markdown.ts';
import { objects, type KubernetesObject, type Values } from './chart.ts';
import { annotation, changed, labelled, podWith, type Pod } from './injected-pods.ts';

const { KUBECTL: kubectl = 'kubectl', KUBECONFIG: kubeconfig, CHART_CLUSTER: wish } = process.env;

/** The folder of the chart `lameduck-injector`. */
export const injectorChart = join(root, 'helm', 'lameduck-injector');

/**
 * If no cluster is configured and none is required, `skip` has the reason why the tests are skipped. Otherwise it is
 * false.
 */
export const skip =
  kubeconfig !== undefined || kubectl !== 'kubectl' || wish === 'required' ? false : 'no cluster: set KUBECONFIG';

/** `restricted` has the labels of a namespace that enforces pod security `restricted`. */
export const restricted = { 'pod-security.kubernetes.io/enforce': 'restricted' };

/** `rendered()` returns the objects that the injector chart renders for values. */
export function rendered(values: Values = {}, args: readonly string[] = []): Promise<KubernetesObject[]> {
  return objects(values, { chart: injectorChart, release: 'injector', args });
}

/** Injector is the admission policy of the chart, installed once. Its binding matches only the namespaces of the test. */
export class Injector {
  readonly name = `injector-${randomBytes(8).toString('hex')}`;
  readonly #objects: KubernetesObject[] = [];

  /** `start()` installs the policy and resolves when the API server applies it. */
  static async start(values: Values = {}, labels: Readonly<Record<string, string>> = {}): Promise<Injector> {
    const injector = new Injector();
    await injector.#install(values, labels);
    return injector;
  }

  /**
   * startEach starts two injectors: one delivers lameduck by an image volume, the other by an init container. The
   * namespaces of both enforce pod security `restricted`.
   */
  static startEach(): Promise<readonly [byVolume: Injector, byContainer: Injector]> {
    const image = 'registry.example/lameduck:1';
    return Promise.all([
      Injector.start({ image }, restricted),
      Injector.start({ image, delivery: 'initContainer', allPods: true }, restricted),
    ]);
  }

  /** `stop()` deletes the policies, bindings and namespaces. */
  async stop(): Promise<void> {
    const kinds = 'mutatingadmissionpolicies,mutatingadmissionpolicybindings';
    await run(kubectl, 'delete', kinds, `--selector=app.kubernetes.io/instance=${this.name}`, '--ignore-not-found');
    await run(kubectl, 'delete', 'namespace', this.name, '--ignore-not-found', '--wait=false');
  }

  /**
   * `create()` resolves with the pod that the API server would store, and rejects if the API server rejects the pod.
   */
  async create(pod: Pod): Promise<Pod> {
    const whole = { apiVersion: 'v1', kind: 'Pod', ...pod, metadata: { name: 'one', ...pod.metadata } };
    const args = ['--namespace', this.name, 'create', '--dry-run=server', '--output=json', '--filename=-'];
    return JSON.parse((await feed(JSON.stringify(whole), kubectl, ...args)).output) as Pod;
  }

  /** `inject()` creates the pod with the label that enables the injector. */
  inject(pod: Pod): Promise<Pod> {
    return this.create(labelled(pod));
  }

  /** `untouched()` creates the pod with the label that disables the injector. */
  untouched(pod: Pod): Promise<Pod> {
    return this.create(labelled(pod, 'disabled'));
  }

  /**
   * `skipped()` returns the reason why the injector skips a pod. It fails if the injector changes anything except the
   * annotation with this reason.
   */
  async skipped(pod: Pod): Promise<string | undefined> {
    const [made, same] = await Promise.all([this.inject(pod), this.untouched(pod)]);
    assert.deepEqual(changed(same, made), ['metadata.annotations.lameduck/skipped']);
    return annotation(made, 'skipped');
  }

  /**
   * `apply()` creates the pod in the cluster, not as a dry run. The image of the pod does not exist, so the pod never
   * starts.
   */
  async apply(pod: Pod): Promise<void> {
    await apply({
      apiVersion: 'v1',
      kind: 'Pod',
      ...pod,
      metadata: { name: 'kept', namespace: this.name, ...pod.metadata },
    });
  }

  /**
   * `deployment()` resolves with a Deployment that has this pod as its pod template, in the form in which the API
   * server would store the Deployment.
   */
  async deployment({ metadata, spec }: Pod): Promise<string> {
    const labels = { app: 'one', ...metadata.labels };
    const whole = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'one', labels },
      spec: { selector: { matchLabels: { app: 'one' } }, template: { metadata: { ...metadata, labels }, spec } },
    };
    const args = ['--namespace', this.name, 'create', '--dry-run=server', '--output=json', '--filename=-'];
    return (await feed(JSON.stringify(whole), kubectl, ...args)).output;
  }

  metrics(): Promise<string> {
    return run(kubectl, 'get', '--raw', '/metrics');
  }

  /**
   * `breaks()` replaces the CEL expression of a variable in the injector's policy with an invalid expression. It
   * resolves when the API server no longer injects pods.
   */
  async breaks(variable: string, expression: string): Promise<void> {
    const policy = this.#objects.find(({ kind }) => kind === 'MutatingAdmissionPolicy');
    const spec = policy?.['spec'] as { variables: { name: string }[] };
    const variables = spec.variables.map((one) => (one.name === variable ? { ...one, expression } : one));
    await apply({ ...policy, spec: { ...spec, variables } });
    await this.#injects(false);
  }

  /** bindAgain binds the injector's policy to the namespace with a second MutatingAdmissionPolicyBinding. */
  async bindAgain(): Promise<void> {
    const binding = this.#objects.find(({ kind }) => kind.endsWith('Binding'));
    assert.ok(binding);
    await apply({ ...binding, metadata: { ...binding.metadata, name: `${this.name}-again` } });
  }

  /**
   * `add()` installs a second admission policy of the injector. It selects the same namespace as the first admission
   * policy.
   */
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

  // The API server receives a new policy through a watch, with some delay. So wait until the policy takes effect.
  async #injects(expected: boolean): Promise<void> {
    const since = performance.now();
    while ((annotation(await this.inject(podWith()), 'injected') !== undefined) !== expected) {
      assert.ok(performance.now() - since < 30_000, 'the API server still does not apply the policy after 30 s');
      await setTimeout(100);
    }
  }
}

async function apply(object: object): Promise<void> {
  await feed(JSON.stringify(object), kubectl, 'apply', '--filename=-');
}
