import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeLauncher, launcherWarning } from '../../src/process/launcher.ts';

const npm = {
  npm_lifecycle_event: 'start',
  npm_config_user_agent: 'npm/11.0.0 node/v24.0.0 linux x64 workspaces/false',
};
const pnpm = { npm_lifecycle_event: 'serve', npm_config_user_agent: 'pnpm/10.0.0 npm/? node/v24.0.0 linux x64' };

const throughShell = /^started through a shell by "npm run start", which does not forward process signals: /;
const byManager =
  /^started by "npm run start", which forwards process signals to this process only in some versions of the package manager and with some shells: /;

for (const parent of [
  ['sh', '-c', 'node server.js', ''],
  ['/bin/sh', '-c', 'node server.js', ''],
  ['bash', '-ec', 'node server.js', ''],
  ['/bin/ash', '/docker-entrypoint.sh', ''],
]) {
  test(`P-065 a warning says that a shell may not forward process signals: ${parent.join(' ')}`, () => {
    assert.match(describeLauncher(parent, npm) ?? '', throughShell);
    assert.match(
      describeLauncher(parent, {}) ?? '',
      /^started through a shell, which does not forward process signals: /,
    );
  });
}

for (const parent of [
  ['npm run start', '', ''],
  ['/usr/bin/node', '/usr/lib/node_modules/npm/bin/npm-cli.js', 'start', ''],
  ['node', '/app/.yarn/releases/yarn-4.5.0.cjs', 'start', ''],
]) {
  test(`P-065 if a package manager has started the program, a warning says that it forwards process signals only with some versions and shells: ${parent.join(' ')}`, () => {
    assert.match(describeLauncher(parent, npm) ?? '', byManager);
  });
}

test('P-065 if pnpm starts the program, the warning about a launcher names pnpm and not npm', () => {
  assert.match(describeLauncher(['node', '/usr/bin/pnpm', 'serve', ''], pnpm) ?? '', /^started by "pnpm run serve", /);
});

for (const parent of [
  ['bash', ''],
  ['-bash', ''],
  ['/bin/zsh', '-l', ''],
  ['/bin/bash', '--init-file', '/usr/share/code/shellIntegration-bash.sh', ''],
  ['node', '/app/node_modules/.bin/nodemon', 'server.js', ''],
  ['/root/.npm/_npx/1/node_modules/.bin/tsx', 'server.ts', ''],
  ['/usr/bin/containerd-shim-runc-v2', '-namespace', 'k8s.io', ''],
  [],
]) {
  test(`P-065 a parent other than a shell or a package manager causes no warning, whatever variables are inherited: ${parent.join(' ')}`, () => {
    assert.equal(describeLauncher(parent, npm), undefined);
  });
}

test('P-065 if the parent process cannot be identified, a warning about a launcher is logged only if the environment variables of a package manager are set', () => {
  assert.match(describeLauncher(undefined, npm) ?? '', byManager);
  assert.equal(describeLauncher(undefined, {}), undefined);
});

test('P-065 no warning about a launcher is logged for the process of this test, because its parent process is `node`', () => {
  assert.equal(launcherWarning(npm), undefined);
});
