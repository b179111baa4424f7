// Tests the image without running it: its configuration and its files.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readPage } from '../../support/markdown.ts';
import { compressedBytes, filesOf, type File } from './contents.ts';
import { lockedFor } from './lock.ts';
import { ask, build, healthcheckOf, image, inspectImage, uniqueName } from './runtime.ts';

const { Config: config, RootFS: layers } = await inspectImage(image);
const files = await filesOf(image);
const dockerfile = readPage('docker/Dockerfile');

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(readPage('package.json')) as Manifest;

test('H-176 H-110 HC-35 the user of the image is a number, and not root', () => {
  assert.equal(config.User, '65532:65532');
});

test('H-171 HC-35 the image declares SIGTERM as its stop signal', () => {
  assert.equal(config.StopSignal.replace('15', 'SIGTERM'), 'SIGTERM');
  assert.match(dockerfile, /^STOPSIGNAL SIGTERM$/m);
});

test('H-168 H-170 HC-35 the image starts node by its full path, without a shell, npm or an init process', () => {
  const [program, ...args] = config.Entrypoint;
  assert.equal(program, '/nodejs/bin/node');
  assert.deepEqual(args, ['--require', '/app/docker/pid-1.cjs', '/app/examples/reference-service/main.ts']);
  for (const path of args.filter((arg) => !arg.startsWith('--'))) {
    assert.ok(
      files.some((file) => `/${file.path}` === path),
      path,
    );
  }
  assert.equal(config.Cmd?.length ?? 0, 0);
});

test('H-168 the image sets NODE_ENV to production, the working folder to /app, and exposes the ports 8080 and 8081', () => {
  assert.equal(config.WorkingDir, '/app');
  assert.ok(config.Env.includes('NODE_ENV=production'));
  assert.deepEqual(Object.keys(config.ExposedPorts).sort(), ['8080/tcp', '8081/tcp']);
});

test('H-172 the health check of the image runs `lameduck probe` for readiness, without a shell', async () => {
  const { Test, Interval, Timeout, StartPeriod, Retries } =
    (await healthcheckOf(image)) ?? assert.fail('the image must have a health check');
  assert.deepEqual(Test, ['CMD', '/nodejs/bin/node', '/app/dist/cli/main.js', 'probe', 'readyz']);
  assert.deepEqual(
    [Interval, Timeout, StartPeriod].map((nanoseconds) => nanoseconds / 1e9),
    [10, 3, 20],
  );
  assert.equal(Retries, 3);
});

test('H-173 HC-37 the labels of the image name its purpose, version, creation time and base', () => {
  const labels = Object.fromEntries(
    Object.entries(config.Labels).map(([name, value]) => [name.replace('org.opencontainers.image.', ''), value]),
  );
  assert.equal(labels['version'], manifest.version);
  assert.equal(labels['licenses'], 'Apache-2.0');
  assert.equal(labels['base.name'], /^ARG RUNTIME_BASE=(.*)$/m.exec(dockerfile)?.[1]);
  assert.match(labels['created'] ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  for (const name of ['title', 'description']) assert.notEqual(labels[name] ?? '', '', name);
});

test('H-162 H-163 HC-35 the image contains no shell, no package manager and no setuid or setgid program', () => {
  const unwanted =
    /^(sh|bash|dash|ash|zsh|busybox|toybox|env|npm|npx|yarn|pnpm|corepack|apt|apt-get|dpkg|apk|curl|wget)$/;
  const found = files.filter(({ mode, path }) => mode.startsWith('-') && unwanted.test(path.split('/').at(-1) ?? ''));
  assert.deepEqual(found, []);
  assert.deepEqual(
    files.filter(({ mode }) => /^-..s|^-.....s/.test(mode)),
    [],
  );
  assert.deepEqual(
    files.filter(({ path }) => path.includes('ld-musl')),
    [],
  );
  assert.ok(
    files.some(({ path }) => path === 'nodejs/bin/node'),
    'this image has a list of files',
  );
});

test('H-176 neither a shell nor npm can be started in the image, under any name', async () => {
  for (const program of ['sh', '/bin/sh', '/bin/bash', 'npm', '/usr/local/bin/npm', '/usr/bin/env']) {
    await assert.rejects(
      ask('run', '--rm', '--network', 'none', '--entrypoint', program, image),
      /not found|no such file/i,
    );
  }
});

test('H-168 HC-35 the files of the program belong to root and are read-only', () => {
  const code = files.filter(({ path }) => path === 'app' || path.startsWith('app/'));
  assert.ok(code.length > 100);
  for (const { mode, owner, path } of code) {
    assert.equal(owner, '0/0', path);
    // A COPY in the Dockerfile creates folders that only root can write to.
    if (!mode.startsWith('l')) assert.match(mode, /^(-r-x|dr[w-]x)r-xr-x$/, path);
  }
});

test('H-166 HC-36 the image contains every runtime dependency and no development dependency', () => {
  const ofTheService = ['fastify', 'undici'];
  const installed = files.flatMap(({ path }) => {
    const [, folder] = /^app\/((?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/@]+)\/package\.json$/.exec(path) ?? [];
    return folder === undefined ? [] : [folder];
  });
  assert.deepEqual(installed.sort(), lockedFor([...Object.keys(manifest.dependencies), ...ofTheService]));
  const commands = dockerfile.match(/\bnpm (ci|prune|install)\b.*/g) ?? [];
  // The Dockerfile has three npm commands: one in each of the stages base, dependencies and package.
  assert.equal(commands.length, 3);
  for (const command of commands) assert.match(command, /--ignore-scripts/);
});

test("H-164 H-176 HC-36 the program's folder contains only listed files: no settings of npm, secrets, tests or source maps", () => {
  const paths = files.flatMap(({ path }) => (path.startsWith('app/') ? [path.slice('app/'.length)] : []));
  const top = new Set(paths.map((path) => path.split('/')[0] ?? ''));
  assert.deepEqual([...top].sort(), ['dist', 'docker', 'examples', 'node_modules', 'package.json']);
  const own = paths.filter((path) => !path.startsWith('node_modules/'));
  assert.deepEqual(
    own.filter((path) => /\.(map|pem|key|test\.[jt]s)$/.test(path)),
    [],
  );
  assert.deepEqual(
    paths.filter((path) => /(^|\/)(\.env|\.npmrc|\.package-lock\.json|package-lock\.json)$/.test(path)),
    [],
  );
  assert.deepEqual(paths.filter((path) => /^(docker|examples)\/.*\.[cm]?[jt]s$/.test(path)).sort(), [
    'docker/pid-1.cjs',
    ...['app', 'job', 'main', 'upstream'].map((name) => `examples/reference-service/${name}.ts`),
  ]);
});

test('H-164 HC-36 Dockerfile.dockerignore includes exactly those files that the Dockerfile copies', () => {
  const [first, ...permitted] = readPage('docker/Dockerfile.dockerignore').trimEnd().split('\n');
  assert.equal(first, '*');
  const copied = [...dockerfile.matchAll(/^COPY (?!.*--from=)(.*) \S+$/gm)].flatMap(([, sources = '']) =>
    sources.split(' ').filter((word) => !word.startsWith('--')),
  );
  assert.ok(copied.length > 4);
  assert.deepEqual(new Set(copied.map((source) => `!${source}`)), new Set(permitted));
});

test("H-167 outside the program's folder, the image has exactly the files of its base image, and its history contains no secret of the build", async () => {
  const outside = (list: readonly File[]): File[] => list.filter(({ path }) => !/^app(\/|$)/.test(path));
  const ofTheBase = await filesOf(String(config.Labels['org.opencontainers.image.base.name']));
  assert.deepEqual(outside(files), ofTheBase);
  const history = await ask('history', '--no-trunc', '--format', '{{.CreatedBy}}', image);
  assert.match(history, /ENTRYPOINT/);
  assert.doesNotMatch(history, /token|password|\/\/[^ /]*@/i);
});

test('H-165 HC-36 the Dockerfile takes both base images from build arguments, whose defaults have the major Node version of the project', () => {
  const from = [...dockerfile.matchAll(/^FROM (\S+) AS (\S+)$/gm)].map(([, name = '', stage = '']) => [stage, name]);
  assert.equal(from.length, dockerfile.match(/^FROM /gm)?.length);
  assert.deepEqual(
    from.map(([stage = '', name = '']) => `${stage}: ${name.replace(/^\$\{(.*)\}$/, '$1')}`),
    [
      'base: BUILD_BASE',
      'dependencies: base',
      'build: base',
      'package: base',
      'injector: scratch',
      'runtime: RUNTIME_BASE',
    ],
  );
  const bases = [...dockerfile.matchAll(/^ARG \w+_BASE=(.*)$/gm)].map(([, name = '']) => name);
  const majors = bases.map((name) => /node(?:js)?:?(\d+)/.exec(name)?.[1]);
  const [ours] = /\d+/.exec(manifest.devDependencies['node'] ?? '') ?? [];
  assert.deepEqual(majors, [ours, ours]);
});

test('H-165 another base image can be passed as an argument, and a label names it', async (t) => {
  const [base, name] = [`localhost/${uniqueName()}`, `localhost/${uniqueName()}`];
  const folder = await mkdtemp(join(tmpdir(), 'another-base-'));
  t.after(async () => {
    await rm(folder, { recursive: true });
    await ask('image', 'rm', '--force', name, base);
  });
  // The base image of this test must differ from the default base image. If it were the default base image under a
  // second name, buildah would use its cached image. The label of the cached image has the first name.
  const recipe = join(folder, 'Dockerfile');
  const usual = String(config.Labels['org.opencontainers.image.base.name']);
  await writeFile(recipe, `FROM ${usual}\nLABEL another.base="${base}"\n`);
  await build(base, recipe, folder);
  await build(name, 'docker/Dockerfile', '.', '--build-arg', `RUNTIME_BASE=${base}`);
  assert.equal((await inspectImage(name)).Config.Labels['org.opencontainers.image.base.name'], base);
});

test('H-175 H-176 HC-38 a build without the cache of an earlier build has the same layers', async (t) => {
  const name = `localhost/${uniqueName()}`;
  t.after(() => ask('image', 'rm', '--force', name));
  await build(name, 'docker/Dockerfile', '.', '--no-cache');
  const again = await inspectImage(name);
  assert.ok(again.RootFS.Layers.length > 2);
  assert.deepEqual(again.RootFS.Layers, layers.Layers);
  assert.deepEqual(again.Config, config);
});

test('H-161 H-176 HC-38 the compressed image does not exceed its size limit', async (t) => {
  const bytes = await compressedBytes(image);
  const [, limit] = /at most (\d+) MB compressed/.exec(readPage('docs/image.md')) ?? [];
  t.diagnostic(`${String(Math.round(bytes / 1e6))} MB`);
  assert.ok(bytes < Number(limit) * 1e6, `the compressed image has ${String(bytes)} bytes`);
});
