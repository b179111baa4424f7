// Test cases of `lameduck restarts`: an old and a new manifest, and the effect on the pods if the new manifest replaces
// the old one. One effect is that the pods restart. The test cases run with and without a cluster.
import { deployment, image, pairsNamespace, rows, type RestartPair } from './restart-pair.ts';
import { otherRestartPairs } from './other-restart-pairs.ts';

const inTemplate = 'spec.template.spec.';
const container = `${inTemplate}containers[0].`;

/** restartPairs lists all pairs of an old and a new manifest with which `lameduck restarts` is tested. */
export const restartPairs: readonly RestartPair[] = [
  ...rows(deployment, [
    ['more replicas', 'replicas: 2', 'replicas: 3', 'nothing'],
    ['fewer replicas', 'replicas: 2', 'replicas: 1', 'nothing'],
    [
      'a namespace that only one manifest states',
      '  name: shop',
      `  name: shop\n  namespace: ${pairsNamespace}`,
      'nothing',
    ],
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
      'an empty object in a pointer field',
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
  ...otherRestartPairs,
];
