import assert from 'node:assert/strict';
import { lstatSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, describe, it, test } from 'node:test';
import { parse } from 'yaml';
import { root } from '../../support/markdown.ts';
import {
  complaint,
  chart,
  helms,
  object,
  objects,
  refusals,
  run,
  type KubernetesObject,
  type Values,
} from './chart.ts';
import { addWorkloads, createOwnChart, shownValues } from './own-chart.ts';
import { containerOf, environmentOf, specOf } from './pods.ts';

/**
 * Sets of chart values under the key `lameduck`. With each set, the library chart must render the same grace period,
 * settings and probes as the application chart.
 */
const blocks: Readonly<Record<string, Values>> = {
  'no values': {},
  'the values that the README shows': shownValues().lameduck,
  'every term': {
    preStopSeconds: 4,
    shutdownDelayDuration: '20s',
    longestRequestDuration: '1m500ms',
    preShutdownHookTimeout: '25s',
    destroyHookTimeout: '2s',
    marginDuration: '7s',
  },
  'settings of other kinds': {
    shutdownSendRetryAfter: true,
    maxRequestsInflight: 1_000_000,
    goawayChance: 0.001,
    terminationMessagePath: '/dev/termination-log',
    metricsPath: false,
  },
  'no probe port': { probePort: 'off' },
};

for (const helm of helms) libraryWith(helm);

/**
 * Fails unless the pods of `workload` and of `theirs` have the same grace period, settings, probes and lifecycle hooks.
 * `theirs` is an object of the application chart. The probes of a Job are not compared.
 */
function assertSamePod(workload: KubernetesObject, theirs: KubernetesObject, port: string | number): void {
  assert.equal(
    specOf(workload).template.spec.terminationGracePeriodSeconds,
    specOf(theirs).template.spec.terminationGracePeriodSeconds,
  );
  const settings = Object.entries(environmentOf(theirs)).filter(([variable]) => variable.startsWith('LAMEDUCK_'));
  assert.deepEqual(environmentOf(workload), Object.fromEntries(settings));
  for (const probe of ['readinessProbe', 'livenessProbe', 'startupProbe'] as const) {
    const expected = containerOf(theirs)[probe];
    const moved = { ...expected, httpGet: { ...expected.httpGet, port } };
    assert.deepEqual(containerOf(workload)[probe], workload.kind === 'Job' ? undefined : moved, workload.kind);
  }
  for (const field of ['lifecycle', 'terminationMessagePolicy', 'terminationMessagePath'] as const) {
    assert.deepEqual(containerOf(workload)[field], containerOf(theirs)[field], workload.kind);
  }
}

function libraryWith(helm: string): void {
  describe(`the library chart works in a chart made by helm create, with ${basename(helm)}`, { concurrency: 2 }, () => {
    const own = { parent: '' };
    const folder = (): string => join(own.parent, 'shop');

    before(async () => {
      own.parent = await createOwnChart(helm);
      addWorkloads(own.parent);
    });

    after(() => {
      rmSync(own.parent, { recursive: true });
    });

    for (const [name, lameduck] of Object.entries(blocks)) {
      it(`H-043 HC-01 the library chart renders the grace period, settings and probes of the application chart, also for a StatefulSet and a Job, with this set of values: ${name}`, async () => {
        const given = lameduck['probePort'] === 'off' ? { ...lameduck, probePaths: 'on' } : lameduck;
        const [mine, theirs] = await Promise.all([
          objects({ lameduck: given }, { helm, chart: folder() }),
          // The library chart renders no volumes, and a debug socket needs a volume. So the compared chart gets no
          // debug socket either.
          object('Deployment', { lameduck: given, runFolder: { enabled: false } }, { helm }),
        ]);
        const kinds = ['Deployment', 'StatefulSet', 'Job'];
        const workloads = mine.filter(({ kind }) => kinds.includes(kind));
        assert.deepEqual(workloads.map(({ kind }) => kind).sort(), kinds.sort());
        for (const workload of workloads) assertSamePod(workload, theirs, given['probePort'] === 'off' ? 'http' : 8081);
      });
    }

    it('H-072 a field under lameduck.probes of the library chart overrides only the same field of the default probe', async () => {
      const probes = { startup: { failureThreshold: 90 } };
      const { startupProbe } = containerOf(
        await object('Deployment', { lameduck: { probes } }, { helm, chart: folder() }),
      );
      assert.deepEqual([startupProbe.failureThreshold, startupProbe.periodSeconds], [90, 1]);
    });

    it('H-059 HC-03 the library chart rejects all invalid values in one message, with their paths', async () => {
      const lameduck = {
        front: 'aws',
        shutdownDelayDuration: '1s',
        longestRequest: '1m',
        probes: { liveness: { path: '/readyz' } },
      };
      const lines = await refusals({ lameduck }, { helm, chart: folder() });
      assert.deepEqual(
        lines.map((line) => line.split(' ')[0]),
        ['lameduck.longestRequest', 'lameduck.shutdownDelayDuration', 'lameduck.probes.liveness.path'],
      );
      assert.match(lines[0] ?? '', /is not a value of the block lameduck; correct the name/);
      assert.match(await complaint({ lameduck: true }, { helm, chart: folder() }), /must be a map/);
    });

    it('H-059 the library chart rejects invalid probes with an error message of its own, together with other invalid values', async () => {
      const probes = {
        readiness: 5,
        liveness: { periodSecond: 4, path: 7 },
        startup: null,
        ready: {},
      };
      const lines = await refusals({ lameduck: { probes, marginDuration: '1s' } }, { helm, chart: folder() });
      assert.deepEqual(
        lines.map((line) => line.split(' ')[0]),
        [
          'lameduck.probes.liveness.path',
          'lameduck.probes.liveness.periodSecond',
          'lameduck.probes.readiness',
          'lameduck.probes.ready',
          'lameduck.marginDuration',
        ],
      );
      const [line = ''] = await refusals({ lameduck: { probes: 5 } }, { helm, chart: folder() });
      assert.equal(line, 'lameduck.probes (5): must be a map; write it as { startup: { failureThreshold: 90 } }');
    });

    it('helm lint accepts a chart that uses the library chart', async () => {
      const { code, output } = await run(helm, ['lint', '--strict', folder()]);
      assert.equal(code, 0, output);
    });
  });
}

test('the application chart contains the library chart, so a checkout of the repository can be installed without a download', () => {
  const { dependencies } = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8')) as { dependencies: object[] };
  assert.deepEqual(dependencies, [{ name: 'lameduck-library', version: '0.1.0' }]);
  const folder = join(chart, 'charts', 'lameduck-library');
  assert.ok(lstatSync(folder).isDirectory());
  assert.equal(realpathSync(join(root, 'helm', 'lameduck-library')), realpathSync(folder));
});
