// Tests the chart on a real cluster. Helm upgrades releases and rolls them back, and the test evicts, scales, deletes
// and kills their pods. Meanwhile, clients in Node.js, Go and Python send every kind of request. The clients never
// retry, and no request may be lost or refused.
//
// The test then upgrades a server without lameduck. This server loses requests, which shows that the clients notice a
// lost request.
//
//   CLUSTER_IMAGE_IMPORT, CLUSTER_PROXY_LAG  see images.ts and kube-proxy.ts
//   KUBECTL, HELM                            see kubernetes.ts and release.ts
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Job, Kind } from './programs/exchange.ts';
import { assertEndedWell, assertScraped, assertToldAlike, recordOf } from './ends.ts';
import { type EventName, eventNames, play, settle } from './events.ts';
import { importImages } from './images.ts';
import { type KubeProxy, kubeProxies, lagKubeProxies, setKubeProxies } from './kube-proxy.ts';
import { Namespace } from './kubernetes.ts';
import { Load, type Tallies } from './load.ts';
import { addPrograms, programs } from './program-pods.ts';
import { Release } from './release.ts';
import { Scraper } from './scraper.ts';
import { type Column, failed, sum, table } from './table.ts';

/**
 * True if the option `--all` of run.ts has set the variable ALL. Then every Helm release is tested with every event,
 * such as a node drain.
 */
const isWhole = process.env['ALL'] === '1';

const leastRequests = 200_000;

const namespace = new Namespace('rollout');
const stranger = { image: { repository: 'localhost/lameduck-strangers', tag: 'dev' }, inject: { enabled: true } };
const reference = new Release(namespace, 'reference', 3, {});
const protocols = new Release(namespace, 'protocols', 2, { ...stranger, args: ['protocols.js'] }, false);
const express = new Release(namespace, 'express', 2, { ...stranger, args: ['express.js'] });
const naive = new Release(namespace, 'naive', 2, {
  ...programs,
  command: ['/nodejs/bin/node', 'programs/naive-server.ts'],
  lameduck: { probePort: 'off' },
});
const releases = [reference, protocols, express];

const job = (release: string, stack: string, kind: Kind, url: string, clients: number, rest: number): Job => ({
  name: `${release}, ${stack}, ${kind}`,
  kind,
  url,
  clients,
  rest,
});

async function startLoad(): Promise<Load> {
  const [ofReference, ofProtocols, ofWebSockets, ofExpress] = (
    await Promise.all([reference.address(), protocols.address(), protocols.address('websockets'), express.address()])
  ).map((ip) => (ip.includes(':') ? `http://[${ip}]` : `http://${ip}`)) as [string, string, string, string];
  const node = (kind: Kind, clients = 3, rest = 100) => job('reference', 'Node', kind, ofReference, clients, rest);
  return Load.start(namespace, {
    node: [
      node('kept GET'),
      node('kept POST'),
      node('new GET'),
      node('new POST'),
      node('upload', 1, 500),
      node('slow', 2),
      node('event stream', 6, 0),
      job('protocols', 'Node', 'HTTP/2', ofProtocols, 4, 80),
      job('protocols', 'Node', 'WebSocket', ofWebSockets, 6, 150),
    ],
    go: [
      job('reference', 'Go', 'kept GET', ofReference, 8, 12),
      job('reference', 'Go', 'kept POST', ofReference, 8, 12),
      job('reference', 'Go', 'new GET', ofReference, 2, 100),
      job('protocols', 'Go', 'HTTP/2', ofProtocols, 4, 60),
      job('express', 'Go', 'kept POST', ofExpress, 3, 30),
      job('express', 'Go', 'new GET', ofExpress, 2, 120),
    ],
    python: [
      job('reference', 'Python', 'kept GET', ofReference, 2, 40),
      job('reference', 'Python', 'new POST', ofReference, 2, 120),
      job('express', 'Python', 'kept GET', ofExpress, 1, 40),
    ],
  });
}

/**
 * Asserts that no request has failed since the previous call of this function. The test calls the function after each
 * event of the cluster test, such as a node drain. A failure then shows during which event a request failed.
 */
function assertNothingFailed(load: Load): void {
  const failures = load.failures.splice(0);
  const first = failures.slice(0, 5).map((failure) => JSON.stringify(failure));
  assert.equal(failures.length, 0, `${String(failures.length)} requests failed, first:\n${first.join('\n')}`);
}

const update = ['rolling update'] as const;

/**
 * The events with which each Helm release is tested by default. The reference service is tested with all events. Each
 * other release is tested with the events that could affect its protocols or its clients.
 */
const plan = new Map<Release, readonly EventName[]>([
  [reference, eventNames],
  [protocols, [...update, 'pod deletion', 'node drain', 'SIGTERM inside']],
  [express, update],
]);

/**
 * The events of each Helm release on a fast kube-proxy, in a run without `--all`. If the test can also slow kube-proxy
 * down, all events of `plan` run on the slow kube-proxy, and only rolling updates on the fast one. If the test cannot,
 * all events of `plan` run on the fast kube-proxy.
 */
const promptPlan = kubeProxies.includes('slow')
  ? new Map<Release, readonly EventName[]>([reference, protocols].map((release) => [release, update]))
  : plan;

describe('a real cluster loses no request during rolling updates and other events', () => {
  let load: Load;
  let scraper: Scraper;
  let tallies: Tallies = {};
  const columns: Column[] = [];

  before(async () => {
    await importImages('../../../docker/build-archive.sh', 'clients/build-archive.sh', 'strangers/build-archive.sh');
    await namespace.create();
    await addPrograms(namespace);
    scraper = await Scraper.start(
      namespace,
      releases.map(({ name }) => name),
    );
    await Promise.all(releases.map((release) => release.apply()));
    await namespace.kubectl('expose', 'deployment/protocols', '--name=websockets', '--port=80', '--target-port=8082');
    load = await startLoad();
    await settle({ namespace, releases, load });
  });

  after(async () => {
    try {
      await lagKubeProxies(0, 0);
    } finally {
      await namespace.delete();
    }
  });

  async function loseNothing(event: EventName, kubeProxy: KubeProxy, casts: readonly Release[]): Promise<void> {
    await play(event, kubeProxy, { namespace, load, releases: casts }, columns);
    assertNothingFailed(load);
  }

  for (const kubeProxy of kubeProxies) {
    const usual = kubeProxy === 'slow' ? plan : promptPlan;
    const casts = (event: EventName) => releases.filter((release) => isWhole || usual.get(release)?.includes(event));
    describe(`on a cluster with a ${kubeProxy} kube-proxy, no program that Helm has installed loses a request`, () => {
      before(() => setKubeProxies(kubeProxy, 1_800));

      for (const event of eventNames.filter((name) => casts(name).length > 0)) {
        it(`HC-33 with a ${kubeProxy} kube-proxy, no request is lost or refused during this event: ${event}`, () =>
          loseNothing(event, kubeProxy, casts(event)));
      }
    });
  }

  describe('at the end of the test, no test client has reported a failed request', () => {
    const ended = () => releases.flatMap((release) => release.runs()).filter(({ exitCode }) => exitCode !== undefined);

    before(async () => {
      const asked = () => sum(load.tallies, ({ requests }) => requests);
      await namespace.until('the clients have sent enough requests', 180, () => asked() >= leastRequests);
      tallies = await load.end();
      await namespace.until('every log is read to its end', 30, () => ended().every((one) => one.isLogComplete));
    });

    it('HC-33 no client loses a request or is refused, in at least 200 000 requests', (t) => {
      for (const line of table(columns, tallies)) t.diagnostic(line);
      assert.deepEqual(load.warnings, []);
      assertNothingFailed(load);
      assert.equal(sum(tallies, failed), 0);
      assert.ok(sum(tallies, ({ requests }) => requests) >= leastRequests);
    });

    it('before the server closes a keep-alive connection, it always sends Connection: close, a GOAWAY or the close code 1001', () => {
      // Go's HTTP/2 client does not report the GOAWAYs that it receives.
      const isKept = ({ name, kind }: Job) =>
        /kept|WebSocket/.test(kind) || (kind === 'HTTP/2' && name.includes('Node'));
      for (const { name, clients } of load.jobs.filter(isKept)) {
        const { connections = 0, toldToClose = 0 } = tallies[name] ?? {};
        const told = `${name}: ${String(connections)} connections, ${String(toldToClose)} of them told to close`;
        assert.ok(toldToClose > 0 && connections - toldToClose <= clients, told);
      }
    });

    it('every container exits before SIGKILL, within its shutdown budget, and its last log line is the final log line of lameduck', (t) => {
      const runs = ended();
      assert.ok(runs.length >= 20, `only ${String(runs.length)} containers have ended`);
      t.diagnostic(`${String(runs.length)} containers have ended`);
      for (const one of runs) assertEndedWell(one);
      assert.deepEqual(namespace.killsByProbe(), []);
    });

    it('the final log lines of the containers have the same numbers of answered requests as the clients counted', () => {
      for (const one of ended()) assertToldAlike(one, load);
      const told = (release: Release) =>
        release.runs().reduce((count, one) => count + (one.exitCode === 0 ? recordOf(one).longRunningEnded : 0), 0);
      const seen = (name: string) => tallies[name]?.toldToClose;
      assert.equal(told(reference), seen('reference, Node, event stream'));
      assert.equal(told(protocols), seen('protocols, Node, WebSocket'));
    });

    it('the metrics of every container can be scraped until the container exits', () => {
      assert.deepEqual(scraper.warnings, []);
      for (const one of ended()) assertScraped(one, scraper);
    });

    it('P-121 no container logs an error, or a warning about an environment variable', () => {
      const complaints = releases
        .flatMap((release) => release.runs())
        .flatMap(({ pod, lines }) =>
          lines.filter((line) => /"level":[56]0|"level":40.*LAMEDUCK_/.test(line)).map((line) => `${pod}: ${line}`),
        );
      assert.deepEqual(complaints, []);
    });

    it('the test clients count the requests that a server which calls only close() on SIGTERM loses or refuses during a rollout', async (t) => {
      await naive.apply();
      const url = `http://${await naive.address()}`;
      const naiveLoad = await Load.start(namespace, {
        go: [job('naive', 'Go', 'kept POST', url, 4, 15), job('naive', 'Go', 'new GET', url, 4, 15)],
        python: [job('naive', 'Python', 'kept GET', url, 2, 15)],
      });
      await settle({ namespace, releases: [naive], load: naiveLoad });
      await naive.apply({ podAnnotations: { revision: 'second' } });
      await namespace.until('a client has counted a loss', 60, () => naiveLoad.failures.length > 0);
      const seen = await naiveLoad.end();
      for (const line of table([], seen)) t.diagnostic(line);
      assert.ok(sum(seen, failed) > 0);
    });
  });
});
