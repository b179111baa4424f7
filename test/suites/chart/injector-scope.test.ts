// Tests which pods the injector changes, and whether docs/injector.md lists every change. The tests need a real API
// server. Without an API server, the tests are skipped, or they fail if CHART_CLUSTER is `required`.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { unwrapped, wrapped } from '../../support/launcher-commands.ts';
import { firstColumn, readPage } from '../../support/markdown.ts';
import { annotation, changed, containerNamed, labelled, podWith } from './injected-pods.ts';
import { Injector, skip } from './injector.ts';

const hook = { exec: { command: ['node', '/opt/lameduck/package/dist/cli/main.js', 'stop'] } };

describe(
  'the injector changes only pods that its selector matches, and no other objects',
  { skip, concurrency: 2 },
  () => {
    let byVolume: Injector;
    let byContainer: Injector;

    before(async () => {
      [byVolume, byContainer] = await Injector.startEach();
    });

    after(async () => {
      await Promise.all([byVolume, byContainer].map((one) => one.stop()));
    });

    it("M-14 the API server's metrics count the errors of the injector's policy", async () => {
      await byVolume.inject(podWith());
      const counted = `apiserver_mutating_admission_policy_check_duration_seconds_count{.*error_type="no_error".*policy="${byVolume.name}"`;
      assert.match(await byVolume.metrics(), new RegExp(counted));
    });

    it('M-15 the injector changes only pods, so a Deployment stays as it was applied', async () => {
      assert.doesNotMatch(await byVolume.deployment(labelled(podWith())), /opt\/lameduck|lameduck\/injected/);
    });

    it('M-15 kubectl apply of the original manifest to an injected pod is rejected, because it would change fields of a running pod that cannot change', async () => {
      const given = labelled(podWith({}, { terminationGracePeriodSeconds: 10 }));
      await byVolume.apply(given);
      await assert.rejects(byVolume.apply(given), /pod updates may not change fields/);
    });

    it("a pod without the injector's label is changed only with allPods, and the label value `disabled` prevents every change", async () => {
      assert.equal(annotation(await byVolume.create(podWith()), 'injected'), undefined);
      assert.equal(annotation(await byContainer.create(podWith()), 'injected'), 'app');
      for (const injector of [byVolume, byContainer]) {
        assert.deepEqual(Object.keys((await injector.untouched(podWith())).metadata.annotations ?? {}), []);
      }
    });

    describe('the injector adds a preStop hook to containers in which a package manager or a shell starts Node', () => {
      const hookOf = async (container: object, injector = byVolume) =>
        containerNamed(await injector.inject(podWith(container))).lifecycle;

      it('the injector adds a preStop hook to containers that start npm, npx, yarn, pnpm or a shell', async () => {
        for (const program of [
          'npm',
          '/usr/local/bin/npm',
          'npx',
          'yarn',
          'pnpm',
          'sh',
          '/bin/sh',
          'bash',
          'ash',
          'dash',
        ]) {
          assert.deepEqual(await hookOf({ command: [program, 'start'] }), { preStop: hook }, program);
        }
        assert.deepEqual(await hookOf({ args: ['npm', 'start'] }), { preStop: hook });
        for (const container of wrapped) {
          assert.deepEqual(await hookOf(container), { preStop: hook }, JSON.stringify(container));
        }
      });

      it('the injector adds a preStop hook only to Node programs, and looks for the program first in command and then in args', async () => {
        for (const container of [
          {},
          { command: ['node', 'npm'] },
          { command: ['node'], args: ['npm'] },
          { command: ['npmrc'] },
          ...unwrapped,
        ]) {
          assert.equal(await hookOf(container), undefined, JSON.stringify(container));
        }
      });

      it("the injector keeps a container's own preStop hook, and its postStart hook", async () => {
        const sleep = { preStop: { sleep: { seconds: 3 } } };
        assert.deepEqual(await hookOf({ command: ['npm'], lifecycle: sleep }), sleep);
        const postStart = { postStart: { exec: { command: ['true'] } } };
        assert.deepEqual(await hookOf({ command: ['npm'], lifecycle: postStart }), { ...postStart, preStop: hook });
      });

      it('the injector adds no preStop hook to a pod without a probe port, because the hook finds the process through the probe port', async () => {
        assert.equal(
          await hookOf({ command: ['npm'], env: [{ name: 'LAMEDUCK_PROBE_PORT', value: 'off' }] }),
          undefined,
        );
      });

      it('with preStopHook `always`, the injector adds a preStop hook to every container, and with `never` to none', async (t) => {
        const start = async (preStopHook: string): Promise<Injector> => {
          const injector = await Injector.start({ preStopHook });
          t.after(() => injector.stop());
          return injector;
        };
        const [always, never] = await Promise.all([start('always'), start('never')]);
        assert.deepEqual(await hookOf({ command: ['node'] }, always), { preStop: hook });
        assert.equal(await hookOf({ command: ['npm'] }, never), undefined);
      });
    });

    it('docs/injector.md lists exactly the fields that the injector changes', async () => {
      const given = [
        podWith(),
        podWith(
          {
            command: ['npm'],
            env: [{ name: 'NODE_OPTIONS', value: 'a' }, { name: 'A' }],
            volumeMounts: [{ name: 'b', mountPath: '/b' }],
          },
          { volumes: [{ name: 'b', emptyDir: {} }] },
        ),
        podWith(
          { env: [{ name: 'NODE_OPTIONS', valueFrom: { configMapKeyRef: { name: 'a', key: 'b' } } }] },
          { terminationGracePeriodSeconds: 5 },
        ),
        podWith(
          { lifecycle: { postStart: { exec: { command: ['true'] } } }, command: ['sh'] },
          { restartPolicy: 'Never' },
        ),
        podWith({ lifecycle: { postStart: { exec: { command: ['true'] } } }, command: ['sh'] }),
      ];
      const seen = new Set<string>();
      for (const injector of [byVolume, byContainer]) {
        for (const one of given) {
          for (const path of changed(await injector.untouched(one), await injector.inject(one))) seen.add(path);
        }
      }
      assert.deepEqual([...seen].sort(), firstColumn(readPage('docs/injector.md'), 'field').sort());
    });
  },
);
