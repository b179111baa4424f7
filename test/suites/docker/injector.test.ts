// Tests the image that the injector mounts as an image volume. It contains only the package and its dependencies.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compressedBytes, filesOf } from './contents.ts';
import { ask, build, inspectImage, uniqueName } from './runtime.ts';

const megabyte = 2 ** 20;

test('HC-35 the stage `injector` contains the package and its dependencies, readable for every user and the same for every platform, without Node', async (t) => {
  const name = uniqueName();
  t.after(() => ask('image', 'rm', '--force', name));
  await build(name, 'docker/Dockerfile', '.', '--target', 'injector');
  const files = await filesOf(name);
  const paths = files.map(({ path }) => path);
  const folders = new Set(paths.map((path) => path.split('/').slice(0, 2).join('/')));
  assert.deepEqual([...folders].sort(), ['app', 'app/dist', 'app/node_modules', 'app/package.json']);
  for (const path of ['app/dist/register.cjs', 'app/dist/cli/main.js', 'app/node_modules/prom-client/package.json']) {
    assert.ok(paths.includes(path), path);
  }
  assert.deepEqual(
    paths.filter((path) => /\.node$|node_modules\/(fastify|typescript|node)\//.test(path)),
    [],
  );
  const { Config } = await inspectImage(name);
  assert.equal(Config.User, '65532:65532');
  assert.ok((await compressedBytes(name)) < 10 * megabyte);
});
