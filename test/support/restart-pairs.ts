// Pairs of manifests, with the effect of applying the second over the first. They test `lameduck restarts`, without and
// with a cluster.
import type { EffectKind } from '../../src/cli/restarts/effects.ts';

export interface RestartPair {
  readonly title: string;
  readonly before: string;
  readonly after: string;
  readonly effect: EffectKind;
  /** The fields that cause the effect. */
  readonly causes: readonly string[];
}

const image = 'shop:1';

/** deployment is the manifest that each pair changes. */
export const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop
  labels: { app: shop }
spec:
  replicas: 2
  selector:
    matchLabels: { app: shop }
  template:
    metadata:
      labels: { app: shop }
    spec:
      containers:
        - name: shop
          image: ${image}
          env:
            - { name: A, value: "1" }
            - { name: B, value: "2" }
          ports:
            - containerPort: 8080
          resources:
            requests: { cpu: 500m, memory: 1Gi }
          readinessProbe:
            httpGet: { port: 8080 }
      volumes:
        - name: files
          configMap: { name: shop }
`;

const pod = `apiVersion: v1
kind: Pod
metadata:
  name: alone
spec:
  initContainers:
    - { name: prepare, image: ${image} }
    - { name: proxy, image: ${image}, restartPolicy: Always }
  containers:
    - { name: app, image: ${image} }
`;

const stateful = deployment
  .replace('kind: Deployment', 'kind: StatefulSet')
  .replace('spec:\n', 'spec:\n  serviceName: shop\n');

const job = `apiVersion: batch/v1
kind: Job
metadata: { name: once }
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - { name: once, image: ${image} }
`;

const configMap = `apiVersion: v1
kind: ConfigMap
metadata: { name: shop }
data:
  a: "1"
`;

const inTemplate = 'spec.template.spec.';
const container = `${inTemplate}containers[0].`;

type Row = readonly [title: string, from: string, to: string, effect: EffectKind, causes?: readonly string[]];

function rows(manifest: string, changes: readonly Row[]): RestartPair[] {
  return changes.map(([title, from, to, effect, causes = []]) => {
    const after = manifest.replace(from, to);
    if (after === manifest) throw new Error(`${title}: nothing is replaced`);
    return { title, before: manifest, after, effect, causes };
  });
}

/** restartPairs lists the pairs of manifests. */
export const restartPairs: readonly RestartPair[] = [
  ...rows(deployment, [
    ['more replicas', 'replicas: 2', 'replicas: 3', 'nothing'],
    ['another strategy', 'replicas: 2', 'replicas: 2\n  strategy: { type: Recreate }', 'nothing'],
    [
      'a label of the Deployment itself',
      'labels: { app: shop }\nspec',
      'labels: { app: shop, tier: web }\nspec',
      'nothing',
    ],
    [
      'a label of the pods',
      '      labels: { app: shop }\n    spec',
      '      labels: { app: shop, helm.sh/chart: shop-1.0.1 }\n    spec',
      ...(['rolls', ['spec.template.metadata.labels["helm.sh/chart"]']] as const),
    ],
    [
      'an annotation of the pods',
      '      labels: { app: shop }\n    spec',
      '      labels: { app: shop }\n      annotations: { checksum/config: a }\n    spec',
      ...(['rolls', ['spec.template.metadata.annotations']] as const),
    ],
    ['another image', `image: ${image}`, `image: ${image}.1`, 'rolls', [`${container}image`]],
    ['another value of a variable', 'value: "2"', 'value: "3"', 'rolls', [`${container}env[1].value`]],
    [
      'another order of the variables',
      '{ name: A, value: "1" }\n            - { name: B, value: "2" }',
      '{ name: B, value: "2" }\n            - { name: A, value: "1" }',
      ...(['rolls', [`${container}env`]] as const),
    ],
    [
      'defaults of the pod',
      '    spec:\n',
      '    spec:\n      terminationGracePeriodSeconds: 30\n      restartPolicy: Always\n      dnsPolicy: ClusterFirst\n      schedulerName: default-scheduler\n      securityContext: {}\n      hostNetwork: false\n',
      'nothing',
    ],
    [
      'defaults of the container',
      'image: shop',
      'imagePullPolicy: IfNotPresent\n          terminationMessagePolicy: File\n          stdin: false\n          args: []\n          image: shop',
      'nothing',
    ],
    ['defaults of a port', '- containerPort: 8080', '- { containerPort: 8080, protocol: TCP, hostPort: 0 }', 'nothing'],
    [
      'defaults of a probe',
      'httpGet: { port: 8080 }',
      'httpGet: { port: 8080, path: /, scheme: HTTP }\n            periodSeconds: 10\n            initialDelaySeconds: 0\n            timeoutSeconds: 0',
      'nothing',
    ],
    ['defaults of a volume', 'configMap: { name: shop }', 'configMap: { name: shop, defaultMode: 0644 }', 'nothing'],
    ['equal quantities', '{ cpu: 500m, memory: 1Gi }', '{ cpu: 0.5, memory: 1024Mi }', 'nothing'],
    ['another quantity', 'memory: 1Gi', 'memory: 1G', 'rolls', [`${container}resources.requests.memory`]],
    [
      'a field that is no default',
      '    spec:\n',
      '    spec:\n      automountServiceAccountToken: false\n',
      'rolls',
      [`${inTemplate}automountServiceAccountToken`],
    ],
    [
      'an empty object that is a pointer',
      '    spec:\n',
      '    spec:\n      affinity: {}\n',
      'rolls',
      [`${inTemplate}affinity`],
    ],
    [
      'another selector',
      'matchLabels: { app: shop }',
      'matchLabels: { app: store }',
      'rejected',
      ['spec.selector.matchLabels.app'],
    ],
    ['a paused Deployment', `replicas: 2`, `replicas: 2\n  paused: true`, 'nothing'],
  ]),
  {
    title: 'the hash that the controller sets',
    effect: 'nothing',
    causes: [],
    after: deployment,
    before: deployment.replace(
      'labels: { app: shop }\n    spec',
      'labels: { app: shop, pod-template-hash: abc }\n    spec',
    ),
  },
  {
    title: 'the annotation of kubectl rollout restart is removed',
    effect: 'rolls',
    after: deployment,
    before: deployment.replace(
      'labels: { app: shop }\n    spec',
      'labels: { app: shop }\n      annotations: { kubectl.kubernetes.io/restartedAt: "now" }\n    spec',
    ),
    causes: ['spec.template.metadata.annotations'],
  },
  ...rows(stateful, [
    ['another image of a StatefulSet', `image: ${image}`, `image: ${image}.1`, 'rolls', [`${container}image`]],
    ['another Service of a StatefulSet', 'serviceName: shop', 'serviceName: store', 'rejected', ['spec.serviceName']],
  ]),
  ...rows(stateful.replace('replicas: 2', 'replicas: 2\n  updateStrategy: { type: OnDelete }'), [
    ['another image with OnDelete', `image: ${image}`, `image: ${image}.1`, 'nothing', [`${container}image`]],
  ]),
  ...rows(job, [['another image of a Job', `image: ${image}`, `image: ${image}.1`, 'rejected', [`${container}image`]]]),
  ...rows(pod, [
    [
      'another image of a pod',
      `name: app, image: ${image}`,
      `name: app, image: ${image}.1`,
      'restarts-containers',
      ['spec.containers[0].image'],
    ],
    [
      'another image of a sidecar',
      `name: proxy, image: ${image}`,
      `name: proxy, image: ${image}.1`,
      'restarts-containers',
      ['spec.initContainers[1].image'],
    ],
    [
      'another image of an init container',
      `name: prepare, image: ${image}`,
      `name: prepare, image: ${image}.1`,
      'nothing',
      ['spec.initContainers[0].image'],
    ],
    [
      'a variable of a pod',
      `name: app, image: ${image}`,
      `name: app, image: ${image}, env: [{ name: A, value: a }]`,
      'rejected',
      ['spec.containers[0].env'],
    ],
    ['a label of a pod', 'name: alone', 'name: alone\n  labels: { app: alone }', 'nothing'],
  ]),
  ...rows(configMap, [['other data of a ConfigMap', '"1"', '"2"', 'nothing', ['data.a']]]),
  ...rows(`${configMap}immutable: true\n`, [
    ['other data of an immutable ConfigMap', '"1"', '"2"', 'rejected', ['data.a']],
  ]),
];
