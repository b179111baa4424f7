// Upgrades programs that Helm has installed, and that get their requests through nginx, HAProxy and Envoy. The clients
// and the proxies keep their connections open and never retry a request, so the clients notice every lost request.
//
//   CLUSTER_IMAGE_IMPORT, CLUSTER_PROXY_LAG, KUBECTL, HELM  see images.ts, kube-proxy.ts and release.ts
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { assertEndedWell } from './ends.ts';
import { play, settle } from './events.ts';
import { importImages } from './images.ts';
import { type KubeProxy, kubeProxies, lagKubeProxies, setKubeProxies } from './kube-proxy.ts';
import { Namespace } from './kubernetes.ts';
import { Load, type Tallies } from './load.ts';
import { addPrograms } from './program-pods.ts';
import type { Job, Kind } from './programs/exchange.ts';
import { Release } from './release.ts';
import { type Column, failed, sum, table } from './table.ts';

const image = 'localhost/lameduck-proxies:dev';
const leastRequests = 20_000;

/**
 * For each proxy, the configuration file and the command to which the path of the file is appended. The key is the
 * proxy's name in the chart value `lameduck.front`.
 */
const proxies = {
  nginx: { file: 'nginx.conf', command: ['/usr/sbin/nginx', '-e', 'stderr', '-c'] },
  haproxy: { file: 'haproxy.cfg', command: ['/usr/sbin/haproxy', '-f'] },
  envoy: { file: 'envoy.yaml', command: ['/usr/sbin/envoy', '--concurrency', '2', '--log-level', 'warning', '-c'] },
} as const;
type Proxy = keyof typeof proxies;
const names = Object.keys(proxies) as Proxy[];

const namespace = new Namespace('proxies');
const releaseOf = (proxy: Proxy) => new Release(namespace, `behind-${proxy}`, 2, { lameduck: { front: proxy } }, false);
const releases = new Map(names.map((proxy) => [proxy, releaseOf(proxy)]));

/**
 * Starts a proxy that forwards requests to the Service that a Helm release of the chart has created. Resolves with the
 * address of the proxy's pod.
 */
async function startProxy(proxy: Proxy, release: Release): Promise<string> {
  const { file, command } = proxies[proxy];
  const template = await readFile(new URL(`proxies/${file}`, import.meta.url), 'utf8');
  const data = { [file]: template.replaceAll('ADDRESS', await release.address()) };
  await namespace.add({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: proxy }, data });
  const container = {
    name: proxy,
    image,
    imagePullPolicy: 'IfNotPresent',
    command: [...command, `/etc/proxy/${file}`],
    readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
    volumeMounts: [{ name: 'configuration', mountPath: '/etc/proxy' }],
  };
  const volumes = [{ name: 'configuration', configMap: { name: proxy } }];
  const spec = { terminationGracePeriodSeconds: 1, volumes, containers: [container] };
  await namespace.add({ apiVersion: 'v1', kind: 'Pod', metadata: { name: proxy }, spec });
  const pod = () => [...namespace.pods.values()].find(({ metadata }) => metadata.name === proxy);
  const isReady = () => pod()?.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
  await namespace.until(`${proxy} sends requests to a pod`, 60, () => isReady() === true);
  const { podIP = '' } = pod()?.status ?? {};
  return podIP.includes(':') ? `[${podIP}]` : podIP;
}

function jobs(proxy: Proxy, address: string): Job[] {
  const job = (kind: Kind, clients: number, rest: number): Job => {
    return { name: `${proxy}, ${kind}`, kind, url: `http://${address}:8080`, clients, rest };
  };
  // The clients pause between requests, so that the connections between proxy and pod become idle.
  return [job('kept POST', 4, 20), job('new POST', 2, 60), job('kept GET', 4, 40), job('slow', 2, 2_000)];
}

describe('no request through nginx, HAProxy or Envoy is lost while the pods of a Helm release are replaced', () => {
  let load: Load;
  let tallies: Tallies = {};
  const columns: Column[] = [];
  const scene = () => ({ namespace, load, releases: [...releases.values()] });

  before(async () => {
    await importImages('../../../docker/build-archive.sh', 'clients/build-archive.sh', 'proxies/build-archive.sh');
    await namespace.create();
    await addPrograms(namespace);
    await Promise.all([...releases.values()].map((release) => release.apply()));
    const all = await Promise.all(
      [...releases].map(async ([proxy, release]) => jobs(proxy, await startProxy(proxy, release))),
    );
    load = await Load.start(namespace, { node: all.flat() });
    await settle(scene());
  });

  after(async () => {
    try {
      await lagKubeProxies(0, 0);
    } finally {
      await namespace.delete();
    }
  });

  const rollOut = async (kubeProxy: KubeProxy) => {
    await setKubeProxies(kubeProxy, 600);
    await play('rolling update', kubeProxy, scene(), columns);
    assert.deepEqual(load.failures.splice(0).slice(0, 5), []);
  };

  for (const kubeProxy of kubeProxies) {
    it(`no request through nginx, HAProxy or Envoy is lost or refused in a rolling update, with a ${kubeProxy} kube-proxy`, () =>
      rollOut(kubeProxy));
  }

  it('no client of nginx, HAProxy or Envoy has lost a request, and every pod has ended by itself', async (t) => {
    const ended = () =>
      scene().releases.flatMap((release) => release.runs().filter((one) => one.exitCode !== undefined));
    const asked = () => sum(load.tallies, ({ requests }) => requests);
    await namespace.until('the clients have sent enough requests', 180, () => asked() >= leastRequests);
    tallies = await load.end();
    await namespace.until('every log is read to its end', 30, () => ended().every((one) => one.isLogComplete));
    for (const line of table(columns, tallies)) t.diagnostic(line);
    assert.deepEqual([load.warnings, load.failures.slice(0, 5), sum(tallies, failed)], [[], [], 0]);
    assert.ok(ended().length >= 2 * names.length, `only ${String(ended().length)} containers have ended`);
    for (const one of ended()) assertEndedWell(one);
  });
});
