// Runs the whole release command in a copy of the repository.
import assert from 'node:assert/strict';
import { cpSync, existsSync, lstatSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { test, type TestContext } from 'node:test';
import { CommandUnderTest } from '../support/command-under-test.ts';
import { disposed } from '../support/disposed.ts';
import { root } from '../support/markdown.ts';

const folder = mkdtempSync(join(tmpdir(), 'lameduck-release-test-'));
const tree = join(folder, 'tree');
const repository = 'https://github.com/Owner/lameduck';
const left = ['node_modules', '.git', 'dist', 'release'];

async function printed(t: TestContext, command: string, ...args: string[]): Promise<string> {
  const run = disposed(t, new CommandUnderTest(command, args, { cwd: tree, env: identity }));
  assert.deepEqual(await run.exit, { code: 0, signal: null }, run.output);
  return run.output;
}

const identity = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((who) => [
    [`GIT_${who}_NAME`, 'Somebody'],
    [`GIT_${who}_EMAIL`, 'somebody@example.com'],
  ]),
);

test('npm run release sets the version, creates a Git tag, and writes the files to publish', async (t) => {
  t.after(() => {
    rmSync(folder, { recursive: true });
  });
  cpSync(root, tree, { recursive: true, filter: (path) => !left.includes(relative(root, path)) });
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  await printed(t, 'git', 'init', '--quiet');
  await printed(t, 'git', 'add', '--all');
  await printed(t, 'git', 'commit', '--quiet', '--message', 'all');
  const before = await printed(t, 'git', 'rev-parse', 'HEAD');

  const release = ['run', '--silent', 'release', '--', '9.1.0', '--repository', repository];
  const dry = await printed(t, 'npm', ...release, '--dry-run');
  assert.match(dry, /^build: release 9\.1\.0$/m);
  assert.match(dry, /^release\/lameduck-9\.1\.0\.tgz$/m);
  assert.equal(await printed(t, 'git', 'rev-parse', 'HEAD'), before);
  assert.ok(!existsSync(join(tree, 'release')));

  await printed(t, 'npm', ...release);
  assert.match(
    await printed(t, 'git', 'show', '--no-patch', '--format=%s', 'v9.1.0^{commit}'),
    /^build: release 9\.1\.0$/m,
  );
  assert.equal(await printed(t, 'git', 'status', '--porcelain', '--untracked-files=no'), '');
  // After the release of a new version of lameduck, no chart and no expected manifest in the tests may contain the old
  // version number.
  assert.equal(
    await printed(t, 'git', 'grep', '--name-only', '-e', 'lameduck-0\\.', '--', 'helm', 'test/suites/chart').catch(
      () => '',
    ),
    '',
  );

  const tarball = join('release', 'lameduck-9.1.0.tgz');
  const files = (await printed(t, 'tar', '--list', '--file', tarball)).split('\n');
  for (const file of ['docs/README.md', 'docs/settings.md', 'CHANGELOG.md', 'sbom.cdx.json', 'dist/index.cjs']) {
    assert.ok(files.includes(`package/${file}`), file);
  }
  const packed = JSON.parse(
    await printed(t, 'tar', '--extract', '--to-stdout', '--file', tarball, 'package/package.json'),
  ) as object;
  assert.partialDeepStrictEqual(packed, { version: '9.1.0', bugs: `${repository}/issues` });
  const { components, metadata } = JSON.parse(readFileSync(join(tree, 'release', 'sbom.cdx.json'), 'utf8')) as {
    components: { name: string }[];
    metadata: { component: { version: string } };
  };
  assert.equal(metadata.component.version, '9.1.0');
  const names = components.map(({ name }) => name);
  assert.ok(names.includes('undici') && names.includes('prom-client') && !names.includes('fastify'), names.join(' '));
  const values = (chart: string): string => readFileSync(join(tree, 'release', 'charts', chart, 'values.yaml'), 'utf8');
  assert.match(values('lameduck-injector'), /^image: ghcr\.io\/owner\/lameduck-injector:9\.1\.0$/m);
  assert.match(values('lameduck'), /^ {2}repository: ghcr\.io\/owner\/lameduck-reference-service$/m);
  assert.ok(lstatSync(join(tree, 'release', 'charts', 'lameduck-library')).isDirectory());
});
