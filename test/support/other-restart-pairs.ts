// Pairs of manifests of StatefulSets, Jobs, pods and ConfigMaps for `lameduck restarts`.
import { deployment, image, rows, type RestartPair } from './restart-pair.ts';

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

const numbersOf = (count: number): string => `completions: ${String(count)}\n  parallelism: ${String(count)}`;

const indexedJob = job.replace(
  'spec:\n  template',
  `spec:\n  completionMode: Indexed\n  backoffLimitPerIndex: 1\n  ${numbersOf(2)}\n  template`,
);

const limit = 'limits: { cpu: 0.1 }';

const configMap = `apiVersion: v1
kind: ConfigMap
metadata: { name: shop }
data:
  a: "1"
`;

const container = 'spec.template.spec.containers[0].';

/**
 * otherRestartPairs lists test cases of `lameduck restarts` for objects that are not Deployments. Each case has an old
 * and a new manifest.
 */
export const otherRestartPairs: readonly RestartPair[] = [
  ...rows(stateful, [
    ['another image of a StatefulSet', `image: ${image}`, `image: ${image}.1`, 'rolls', [`${container}image`]],
    ['fewer replicas of a StatefulSet', 'replicas: 2', 'replicas: 1', 'nothing'],
    ['the default number of the first pod', 'replicas: 2', 'replicas: 2\n  ordinals: { start: 0 }', 'nothing'],
    [
      'another number of the first pod',
      'replicas: 2',
      'replicas: 2\n  ordinals: { start: 5 }',
      'rolls',
      ['spec.ordinals.start'],
    ],
    ['another Service of a StatefulSet', 'serviceName: shop', 'serviceName: store', 'rejected', ['spec.serviceName']],
  ]),
  ...rows(stateful.replace('replicas: 2', 'replicas: 2\n  updateStrategy: { type: OnDelete }'), [
    ['another image with OnDelete', `image: ${image}`, `image: ${image}.1`, 'nothing', [`${container}image`]],
  ]),
  ...rows(job, [
    ['another image of a Job', `image: ${image}`, `image: ${image}.1`, 'rejected', [`${container}image`]],
    ['a suspended Job', 'spec:\n  template', 'spec:\n  suspend: true\n  template', 'nothing'],
    ['the default completions of a Job', 'spec:\n  template', 'spec:\n  completions: 1\n  template', 'nothing'],
    ['more parallelism of a Job', 'spec:\n  template', 'spec:\n  parallelism: 2\n  template', 'nothing'],
    [
      'other completions of a Job',
      'spec:\n  template',
      'spec:\n  completions: 2\n  template',
      'rejected',
      ['spec.completions'],
    ],
    [
      'another podReplacementPolicy of a Job',
      'spec:\n  template',
      'spec:\n  podReplacementPolicy: Failed\n  template',
      'nothing',
    ],
  ]),
  ...rows(indexedJob, [
    ['more completions and parallelism of an Indexed Job', numbersOf(2), numbersOf(3), 'nothing'],
    [
      'another backoffLimitPerIndex of an Indexed Job',
      'backoffLimitPerIndex: 1',
      'backoffLimitPerIndex: 2',
      'rejected',
      ['spec.backoffLimitPerIndex'],
    ],
  ]),
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
  ...rows(pod.replace(`name: app, image: ${image}`, `name: app, image: ${image}, resources: { ${limit} }`), [
    ['a resource request of a pod that equals its limit', limit, `${limit}, requests: { cpu: 100m }`, 'nothing'],
    [
      'a resource request of a pod that is lower than its limit',
      limit,
      `${limit}, requests: { cpu: 50m }`,
      'rejected',
      ['spec.containers[0].resources.requests.cpu'],
    ],
  ]),
  ...rows(configMap, [['other data of a ConfigMap', '"1"', '"2"', 'nothing', ['data.a']]]),
  ...rows(`${configMap}immutable: true\n`, [
    ['other data of an immutable ConfigMap', '"1"', '"2"', 'rejected', ['data.a']],
  ]),
];
