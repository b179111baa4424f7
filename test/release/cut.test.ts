// Tests the text that the release command writes to each file.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { changes, isNewer, nextStep, type Release } from '../../scripts/release/cut.ts';
import { root } from '../support/markdown.ts';

const repository = 'https://github.com/owner/lameduck';
const order: Release = { version: '0.2.0', date: '2026-11-23', repository };
const changed = (file: string, text: string, release = order): string =>
  changes(['express'], '0.1.0').get(file)?.(text, release) ?? '';

test('the release command sets the version in package.json, and three URLs that it derives from the address of the repository', () => {
  assert.deepEqual(JSON.parse(changed('package.json', '{ "version": "0.1.0", "type": "module" }')), {
    version: '0.2.0',
    type: 'module',
    homepage: `${repository}#readme`,
    bugs: `${repository}/issues`,
    repository: { type: 'git', url: `git+${repository}.git` },
  });
  const bare: Release = { version: '0.2.0', date: '2026-11-23' };
  assert.deepEqual(JSON.parse(changed('package.json', '{ "version": "0.1.0" }', bare)), { version: '0.2.0' });
});

test('the release command sets the version in the lock file and in the examples', () => {
  const lock =
    '{ "version": "0.1.0", "packages": { "": { "version": "0.1.0" }, "node_modules/a": { "version": "0.1.0" } } }';
  assert.deepEqual(JSON.parse(changed('package-lock.json', lock)), {
    version: '0.2.0',
    packages: { '': { version: '0.2.0' }, 'node_modules/a': { version: '0.1.0' } },
  });
  const example = '{ "dependencies": { "express": "^0.1.0", "lameduck": "^0.1.0" } }';
  assert.deepEqual(JSON.parse(changed('examples/express/package.json', example)), {
    dependencies: { express: '^0.1.0', lameduck: '^0.2.0' },
  });
});

test('the release command sets the version of the application chart and of the library chart, and adds the address of the repository only if it is missing', () => {
  const dependency = 'dependencies:\n  # beside it\n  - name: lameduck-library\n    version: 0.1.0\n';
  const text = `name: lameduck\ntype: application\nversion: 0.1.0\nappVersion: '0.0.0'\n${dependency}`;
  const expected = [
    'name: lameduck',
    'type: application',
    `home: ${repository}`,
    `sources: [${repository}]`,
    'version: 0.2.0',
    "appVersion: '0.2.0'",
    dependency.trimEnd().replace('0.1.0', '0.2.0'),
    '',
  ].join('\n');
  const once = changed('helm/lameduck/Chart.yaml', text);
  assert.equal(once, expected);
  assert.equal(changed('helm/lameduck/Chart.yaml', once), expected);
});

test('the release command adds a heading for the new version below [Unreleased] in the CHANGELOG, and a link for each of these two headings', () => {
  const first = changed('CHANGELOG.md', '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- One.\n', {
    ...order,
    version: '0.1.0',
  });
  assert.equal(
    first,
    '# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-11-23\n\n### Added\n\n- One.\n\n' +
      `[0.1.0]: ${repository}/releases/tag/v0.1.0\n[Unreleased]: ${repository}/compare/v0.1.0...HEAD\n`,
  );
  assert.throws(() => changed('CHANGELOG.md', first), /nothing under \[Unreleased\]/);
  const second = changed('CHANGELOG.md', first.replace('[Unreleased]\n\n', '[Unreleased]\n\n### Fixed\n\n- Two.\n\n'));
  assert.match(second, /## \[Unreleased\]\n\n## \[0\.2\.0\] - 2026-11-23\n\n### Fixed\n\n- Two\.\n\n## \[0\.1\.0\]/);
  assert.ok(
    second.endsWith(
      `[0.1.0]: ${repository}/releases/tag/v0.1.0\n[0.2.0]: ${repository}/releases/tag/v0.2.0\n` +
        `[Unreleased]: ${repository}/compare/v0.2.0...HEAD\n`,
    ),
    second,
  );
});

test('versions are compared number by number: the first number that differs decides which of two versions is newer', () => {
  assert.deepEqual(
    [isNewer('0.1.0', '0.0.0'), isNewer('0.10.0', '0.9.9'), isNewer('1.0.0', '0.9.0'), isNewer('0.1.0', '0.1.0')],
    [true, true, true, false],
  );
  assert.equal(isNewer('0.1.9', '0.2.0'), false);
});

test('the release command says how to publish a release; without the address of a repository, it says that GitHub cannot publish the release', () => {
  assert.equal(nextStep(order), 'publish version 0.2.0 with: git push --atomic origin HEAD v0.2.0');
  assert.match(
    nextStep({ version: '0.2.0', date: '2026-11-23' }),
    /^GitHub cannot publish version 0\.2\.0: .* --repository$/,
  );
});

test('the release command prints its usage for --help, and refuses an unknown option with its usage', () => {
  const run = (option: string) =>
    spawnSync(process.execPath, [join(root, 'scripts', 'release', 'main.ts'), option], { encoding: 'utf8' });
  const help = run('--help');
  assert.equal(help.status, 0, help.stderr);
  assert.match(help.stdout, /^Usage: npm run release -- VERSION/);
  const unknown = run('--force');
  assert.equal(unknown.status, 1);
  assert.match(unknown.stderr, /^Unknown option '--force'.*\nUsage: npm run release/);
});
