import assert from 'node:assert/strict';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isDevelopment, type Launch } from '../../src/process/development.ts';

const plain: Launch = { execArgv: [], hasTerminal: false, hasChannel: false, isClusterWorker: false, parent: ['sh'] };
const nodemon = ['node', '/app/node_modules/.bin/nodemon', 'server.js', ''];

/**
 * The ways in which a developer starts a process: a title, the environment variables, and how the process is launched.
 */
const developed: readonly (readonly [string, Readonly<Record<string, string>>, Launch])[] = [
  ['node --watch', { WATCH_REPORT_DEPENDENCIES: '1' }, plain],
  ['a terminal on standard input', {}, { ...plain, hasTerminal: true }],
  ['nodemon', {}, { ...plain, hasChannel: true, parent: nodemon }],
  ['the file of nodemon', {}, { ...plain, hasChannel: true, parent: ['node', 'C:\\app\\nodemon\\bin\\nodemon.js'] }],
  ['an IPC channel outside Linux', {}, { ...plain, hasChannel: true, parent: undefined }],
  ['node --import tsx', {}, { ...plain, execArgv: ['--import', 'tsx'] }],
  ['tsx', {}, { ...plain, execArgv: ['--import', 'file:///app/node_modules/tsx/dist/loader.mjs'] }],
  ['node -r ts-node/register', {}, { ...plain, execArgv: ['-r', 'ts-node/register/transpile-only'] }],
  ['ts-node on Windows', {}, { ...plain, execArgv: ['--require', 'C:\\app\\node_modules\\ts-node\\dist\\bin.js'] }],
];

for (const [title, environment, launch] of developed) {
  test(`P-107 a process that a developer starts with ${title} is in development mode, except in production, in a cluster or under PM2`, () => {
    assert.equal(isDevelopment(environment, launch), true);
    assert.equal(isDevelopment({ ...environment, NODE_ENV: 'development' }, launch), true);
    assert.equal(isDevelopment({ ...environment, NODE_ENV: 'production' }, launch), false);
    assert.equal(isDevelopment({ ...environment, KUBERNETES_SERVICE_HOST: '10.0.0.1' }, launch), false);
    assert.equal(isDevelopment({ ...environment, pm_id: '0' }, launch), false);
  });
}

test('P-107 a process that is started by node, without a watcher or a terminal, is not in development mode', () => {
  assert.equal(isDevelopment({}, plain), false);
  assert.equal(isDevelopment({ NODE_ENV: 'development' }, plain), false);
  assert.equal(isDevelopment({}, { ...plain, hasChannel: true, isClusterWorker: true, parent: undefined }), false);
  assert.equal(isDevelopment({}, { ...plain, parent: nodemon }), false);
  assert.equal(isDevelopment({}, { ...plain, execArgv: ['--import', 'my-tsx-hooks', '--title=tsxed'] }), false);
});

test('P-107 a forked process is in development mode only if NODE_ENV says so, or a watcher forked it', async (t) => {
  const forker = { ...plain, hasChannel: true, parent: ['node', '/app/nodemon-of-ours.js', ''] };
  assert.equal(isDevelopment({}, forker), false);
  assert.equal(isDevelopment({ NODE_ENV: 'development' }, forker), true);
  // On Linux, lameduck can see that the parent of this process is Node's test runner, and not a watcher such as nodemon.
  // On other systems, lameduck cannot see the parent, and assumes a watcher.
  assert.equal(await answerOf(t, 'is-developed-in-a-fork.ts'), process.platform !== 'linux');
  assert.equal(await answerOf(t, 'is-developed-in-a-fork.ts', 'cluster'), false);
});

async function answerOf(t: TestContext, fixture: string, ...args: readonly string[]): Promise<unknown> {
  const path = fileURLToPath(new URL(`../fixtures/${fixture}`, import.meta.url));
  const child: ChildProcess = fork(path, args, { env: {}, execArgv: [] });
  t.after(() => child.kill());
  const [answer] = (await once(child, 'message')) as [unknown];
  return answer;
}
