// The servers that the comparison runs on a cluster and in a rehearsal, with their manifests and their command lines.
import { run } from '../../../../support/command-line.ts';
import { fileURLToPath } from 'node:url';
import { referenceImage } from '../../images.ts';
import { helm } from '../../release.ts';

const root = fileURLToPath(new URL('../../../../..', import.meta.url));

/** Server describes one server that is compared on the cluster and in a rehearsal. */
export interface Server {
  /**
   * The name of the server's Deployment and Service. The name also selects the server on the command line of main.ts.
   */
  readonly name: string;
  readonly title: string;
  /** The port on which the server listens. */
  readonly port: number;
  /** Whether the server uses lameduck. A server with lameduck must lose no request. */
  readonly hasLameduck?: boolean;
  /** `manifest()` resolves with the manifest of the server: the YAML text of its Deployment and its Service. */
  readonly manifest: () => Promise<string>;
  /**
   * `command()` returns the command line that starts the server in a rehearsal. `folder` is the folder with the built
   * servers.
   */
  readonly command: (folder: string) => readonly string[];
}

interface Described {
  readonly name: string;
  readonly title: string;
  readonly image: string;
  /**
   * `command()` returns the command line that starts the server. `folder` is the folder with the built servers, on this
   * machine or in the image.
   */
  readonly command: (folder: string) => readonly string[];
  readonly workingDir?: string;
  readonly here?: (folder: string) => readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly readiness?: object;
}

// The port of the first server. In a rehearsal, all servers listen on this machine, so each needs its own port.
const firstPort = 28_200;

const node = 'localhost/lameduck-servers-node:dev';
const python = 'localhost/lameduck-servers-python:dev';

const onNode = (way: string, name: string, title: string, readiness?: object): Described => ({
  name,
  title,
  image: node,
  command: (folder) => ['node', `${folder}/server.js`, way],
  ...(readiness && { readiness }),
});

const described: readonly Described[] = [
  onNode('nothing', 'bare', 'a bare `node:http` server'),
  onNode('close', 'close', '`server.close()` on SIGTERM'),
  onNode('terminus', 'terminus', '`@godaddy/terminus` 4.12.1', { httpGet: { path: '/readyz', port: 'http' } }),
  onNode('lightship', 'lightship', '`lightship` 9.0.4', { httpGet: { path: '/ready', port: 9000 } }),
  onNode('stoppable', 'stoppable', '`stoppable` 1.1.0'),
  {
    name: 'go',
    title: 'a Go `http.Server` with `Shutdown`',
    image: node,
    command: (folder) => [`${folder}/go-server`],
  },
  {
    name: 'uvicorn',
    title: 'Python with `uvicorn` 0.38.0',
    image: python,
    env: { PYTHONPATH: '/servers/python' },
    command: () => ['/python3', ...uvicorn],
    here: (folder) => ['env', `PYTHONPATH=${folder}/python:${folder}`, 'python3', ...uvicorn],
  },
  {
    name: 'npm',
    title: '`npm start` as PID 1, which starts the server with `server.close()`',
    image: node,
    command: (folder) => ['npm', '--prefix', `${folder}/npm`, 'start'],
  },
];

const uvicorn = ['-m', 'uvicorn', 'app:app', '--host', '0.0.0.0', '--port', portOf('uvicorn')];

/**
 * `servers` lists the servers that run on a cluster and in a rehearsal, in the order of the table in
 * docs/rehearsal-truth.md. The last server uses lameduck.
 */
export const servers: readonly Server[] = [
  ...described.map((one) => ({
    name: one.name,
    title: one.title,
    port: Number(portOf(one.name)),
    manifest: () => Promise.resolve(manifestOf(one)),
    command: one.here ?? one.command,
  })),
  {
    name: 'reference',
    title: 'the reference service, with lameduck',
    port: 8_080,
    hasLameduck: true,
    manifest: () =>
      run(
        helm,
        'template',
        'reference',
        '--no-hooks',
        `${root}helm/lameduck`,
        ...given('fullnameOverride=reference', 'replicaCount=2'),
      ),
    command: () => [process.execPath, `${root}examples/reference-service/main.ts`],
  },
];

function given(...values: string[]): string[] {
  const [repository = '', tag = ''] = referenceImage.split(':');
  const all = [...values, `image.repository=${repository}`, `image.tag=${tag}`];
  return all.flatMap((value) => ['--set', value]);
}

function portOf(name: string): string {
  return String(firstPort + described.findIndex((one) => one.name === name));
}

function manifestOf({ name, image, command, env = {}, readiness }: Described): string {
  const port = portOf(name);
  const labels = { 'app.kubernetes.io/instance': name };
  const container = {
    name: 'app',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: command('/servers'),
    env: Object.entries({ PORT: port, ...env }).map(([key, value]) => ({ name: key, value })),
    ports: [{ name: 'http', containerPort: Number(port) }],
    readinessProbe: { httpGet: { path: '/', port: 'http' }, ...readiness, periodSeconds: 1 },
  };
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      replicas: 2,
      minReadySeconds: 1,
      selector: { matchLabels: labels },
      strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: {
        metadata: { labels },
        // With service links, Kubernetes would set LIGHTSHIP_PORT for the Service called lightship, and the library
        // lightship would read it.
        spec: { enableServiceLinks: false, terminationGracePeriodSeconds: 15, containers: [container] },
      },
    },
  };
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { selector: labels, ports: [{ port: 80, targetPort: 'http' }] },
  };
  return `${JSON.stringify(deployment)}\n---\n${JSON.stringify(service)}\n`;
}
