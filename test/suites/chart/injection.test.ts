import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, test } from 'node:test';
import { object, run } from './chart.ts';
import { containerOf, environmentOf, specOf, type Container } from './pods.ts';

describe('with inject.enabled, the chart adds an init container that copies the package as a whole or not at all', () => {
  let work: string;
  let from: string;
  let to: string;
  let script: readonly string[];

  before(async () => {
    work = mkdtempSync(join(tmpdir(), 'injection-'));
    from = join(work, 'image');
    to = join(work, 'volume');
    for (const folder of ['dist/cli', 'node_modules/pino']) mkdirSync(join(from, folder), { recursive: true });
    mkdirSync(to);
    for (const file of ['package.json', 'dist/register.cjs', 'node_modules/pino/pino.js']) {
      writeFileSync(join(from, file), file);
    }
    const { initContainers } = specOf(await object('Deployment', { inject: { enabled: true } })).template.spec;
    const [{ command }] = initContainers as [Required<Container>];
    assert.deepEqual([command[0], ...command.slice(3)], ['/nodejs/bin/node', '/app', '/opt/lameduck']);
    script = command.slice(1, 3);
  });

  after(() => {
    rmSync(work, { recursive: true });
  });

  it('the init container copies the package and its dependencies to a temporary folder, and renames the folder when the copy is complete', async () => {
    const { code, errors } = await run(process.execPath, [...script, from, to]);
    assert.equal(code, 0, errors);
    assert.deepEqual(readdirSync(to), ['package']);
    assert.equal(readFileSync(join(to, 'package/dist/register.cjs'), 'utf8'), 'dist/register.cjs');
    assert.equal(readFileSync(join(to, 'package/node_modules/pino/pino.js'), 'utf8'), 'node_modules/pino/pino.js');
  });

  it('the init container that copies the package makes the copy readable for a server that runs as another user', () => {
    assert.equal(statSync(join(to, 'package')).mode & 0o777, 0o755);
  });

  it('the init container that copies the package changes nothing when it runs again, for example after a restart of the node', async () => {
    writeFileSync(join(from, 'dist/register.cjs'), 'another one');
    const { code, errors } = await run(process.execPath, [...script, from, to]);
    assert.equal(code, 0, errors);
    assert.equal(readFileSync(join(to, 'package/dist/register.cjs'), 'utf8'), 'dist/register.cjs');
  });

  it('the init container that copies the package fails if its image lacks a part of the package, and then leaves no folder from which Node could load the package', async () => {
    const other = join(work, 'other');
    mkdirSync(other);
    rmSync(join(from, 'node_modules'), { recursive: true });
    const { code } = await run(process.execPath, [...script, from, other]);
    assert.notEqual(code, 0);
    assert.ok(!readdirSync(other).includes('package'));
  });
});

test('M-07 with delivery imageVolume, the pod mounts the image of lameduck as a volume, and has no init container, so this image needs no Node', async () => {
  const inject = { enabled: true, delivery: 'imageVolume', image: 'registry.example/lameduck:1.4.2' };
  const deployment = await object('Deployment', { inject });
  const { initContainers, volumes } = specOf(deployment).template.spec;
  assert.equal(initContainers, undefined);
  assert.deepEqual(
    (volumes as { name: string }[]).find(({ name }) => name === 'lameduck'),
    {
      name: 'lameduck',
      image: { reference: 'registry.example/lameduck:1.4.2', pullPolicy: 'IfNotPresent' },
    },
  );
  const mount = { name: 'lameduck', mountPath: '/opt/lameduck/package', readOnly: true };
  assert.deepEqual(containerOf(deployment).volumeMounts[0], { ...mount, subPath: 'app' });
  assert.match(environmentOf(deployment)['NODE_OPTIONS'] ?? '', /=\/opt\/lameduck\/package\/dist\/register\.cjs$/);
  const atRoot = await object('Deployment', { inject: { ...inject, from: '/' } });
  assert.deepEqual(containerOf(atRoot).volumeMounts[0], mount);
});

test('H-108 the init container that copies the package does not run as root, even if the pod does', async () => {
  const userOf = async (podSecurityContext: object): Promise<unknown> => {
    const { spec } = specOf(await object('Deployment', { inject: { enabled: true }, podSecurityContext })).template;
    const [{ securityContext }] = spec['initContainers'] as [{ securityContext: { runAsUser?: number } }];
    return securityContext.runAsUser;
  };
  assert.equal(await userOf({ runAsUser: 0 }), 65_532);
  assert.equal(await userOf({ runAsUser: 1000 }), undefined);
  assert.equal(await userOf({}), undefined);
});

test('with inject.enabled, the container keeps the folder /tmp of its image, unless its root file system is read-only', async () => {
  const paths = async (values: object): Promise<string[]> =>
    containerOf(await object('Deployment', { inject: { enabled: true }, ...values })).volumeMounts.map(
      ({ mountPath }) => mountPath,
    );
  assert.deepEqual(await paths({}), ['/opt/lameduck', '/run/lameduck']);
  const readOnly = { securityContext: { readOnlyRootFilesystem: true } };
  assert.deepEqual(await paths(readOnly), ['/tmp', '/opt/lameduck', '/run/lameduck']);
  const own = {
    extraVolumes: [{ name: 'tmp', emptyDir: {} }],
    extraVolumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
  };
  assert.deepEqual(await paths(own), ['/opt/lameduck', '/run/lameduck', '/tmp']);
  const { spec } = specOf(
    await object('Deployment', { inject: { enabled: true }, lameduck: { enabled: false } }),
  ).template;
  assert.ok(!('volumes' in spec) && !('volumeMounts' in spec.containers[0]));
});

test('M-07 the chart renders an image volume for Kubernetes 1.35', async () => {
  const values = { inject: { enabled: true, delivery: 'imageVolume' } };
  await object('Deployment', values, { args: ['--kube-version', '1.35.0-gke.1'] });
});
