// The programs with which the tests check the injector. None of the programs uses lameduck, and none shuts down
// gracefully without it.
import { strangersImage } from './images.ts';

/**
 * The image with npm and a shell, which start the test programs of `strangersImage`. The image sets the variable
 * NODE_OPTIONS.
 */
export const launchedImage = 'localhost/lameduck-launched:dev';

/** Program describes the Deployment of one program. The Deployment has two pods. */
export interface Program {
  readonly name: string;
  readonly containers: readonly { readonly name: string; readonly [field: string]: unknown }[];
  readonly annotations?: Readonly<Record<string, string>>;
  /** The name of the container that the injector changes, or undefined if the injector skips the pod. */
  readonly injected: string | undefined;
  /**
   * Whether the program runs on Node.js. The injector loads lameduck into a Node.js program, and the test fails if that
   * program loses a request.
   */
  readonly isNode: boolean;
}

const node = '/nodejs/bin/node';
const idle = `process.on('SIGTERM', () => process.exit()); setInterval(() => undefined, 1000)`;
// Without a CPU request, a container gets nearly no CPU time on a busy node. On such a node, `lameduck stop` once began 25
// seconds after the pod was deleted, and the kubelet sent SIGKILL during the shutdown delay.
const resources = { requests: { cpu: '50m' } };
const container = (name: string, image: string, more: object) => ({
  name,
  image,
  imagePullPolicy: 'IfNotPresent',
  resources,
  env: [{ name: 'PORT', value: '8080' }],
  ...more,
});
const app = (image: string, more: object) => container('app', image, more);
const beside = container('beside', strangersImage, { command: [node, '--eval', idle] });

/** `programs` lists every program with which the injector is tested. */
export const programs: readonly Program[] = [
  { name: 'express', containers: [app(strangersImage, { args: ['express.js'] })], injected: 'app', isNode: true },
  { name: 'koa', containers: [app(strangersImage, { args: ['koa.js'] })], injected: 'app', isNode: true },
  { name: 'npm', containers: [app(launchedImage, { command: ['npm', 'start'] })], injected: 'app', isNode: true },
  {
    name: 'shell',
    containers: [app(launchedImage, { command: ['sh', '-c', 'node koa.js; echo ended'] })],
    injected: 'app',
    isNode: true,
  },
  {
    name: 'options',
    containers: [app(launchedImage, { command: ['node', 'express.js'] })],
    injected: 'app',
    isNode: true,
  },
  {
    name: 'named',
    containers: [beside, app(strangersImage, { args: ['express.js'] })],
    annotations: { 'lameduck/container': 'app' },
    injected: 'app',
    isNode: true,
  },
  {
    name: 'unnamed',
    containers: [beside, app(strangersImage, { args: ['express.js'] })],
    injected: undefined,
    isNode: false,
  },
  {
    name: 'python',
    containers: [
      app('localhost/lameduck-clients:dev', {
        command: ['/python3', '-m', 'http.server', '8080'],
        readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
      }),
    ],
    injected: 'app',
    isNode: false,
  },
];

/** objectsOf returns the Deployment and the Service of a program. */
export function objectsOf({ name, containers, annotations = {} }: Program): object[] {
  const labels = { 'app.kubernetes.io/instance': name };
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name },
      spec: {
        replicas: 2,
        minReadySeconds: 2,
        strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
        selector: { matchLabels: labels },
        template: {
          metadata: { labels: { ...labels, 'lameduck/inject': 'enabled' }, annotations },
          spec: { containers },
        },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
    },
  ];
}
