import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Container } from '../../../src/cli/rehearsal/container.ts';
import { descendants } from '../../../src/cli/rehearsal/processes.ts';
import { isolation, nodeProgram, whyNoNamespace } from '../../support/pod-under-test.ts';
import { until } from '../../support/until.ts';

const waits = 'setInterval(() => undefined, 1_000);';

function start(t: TestContext, command: readonly string[], isolated = isolation): Container {
  const container = new Container({ command, env: process.env, isolation: isolated });
  t.after(() => {
    container.killAll();
    return container.exited;
  });
  return container;
}

function printed(container: Container, text: string): Promise<void> {
  return until(() => container.output.includes(text));
}

test('K-100 PID 1 without a handler of its own ignores SIGTERM', { skip: whyNoNamespace }, async (t) => {
  const container = start(t, nodeProgram(`console.log('pid', process.pid); ${waits}`));
  await printed(container, 'pid 1');
  container.signal('SIGTERM');
  // Node's own handler removes itself and sends the signal again.
  await until(() => container.handles('SIGTERM') === false);
  const { output } = (await container.run(['echo', 'still here'])) as { output: string };
  assert.equal(output.trim(), 'still here');
  container.killAll();
  assert.deepEqual(await container.exited, { code: 137, signal: 'SIGKILL' });
});

test('K-100 without a PID namespace the process dies of a signal that it has no handler for', async (t) => {
  const container = start(t, nodeProgram(`console.log('up'); ${waits}`), []);
  await printed(container, 'up');
  container.signal('SIGTERM');
  assert.deepEqual(await container.exited, { code: 143, signal: 'SIGTERM' });
});

test('K-108 the exit code of the main process is that of the container', async (t) => {
  const container = start(t, nodeProgram('process.exit(7)'));
  assert.deepEqual(await container.exited, { code: 7, signal: undefined });
});

test('K-099 only the main process gets the stop signal', { skip: whyNoNamespace }, async (t) => {
  const child = `process.on('SIGTERM', () => console.log('child was signaled')); console.log('child'); ${waits}`;
  const container = start(
    t,
    nodeProgram(`
      import { spawn } from 'node:child_process';
      spawn(process.execPath, ['--eval', ${JSON.stringify(child)}], { stdio: 'inherit' });
      process.on('SIGTERM', () => { console.log('main was signaled'); setTimeout(() => process.exit(), 200); });
    `),
  );
  await printed(container, 'child');
  container.signal('SIGTERM');
  await container.exited;
  assert.match(container.output, /main was signaled/);
  assert.doesNotMatch(container.output, /child was signaled/);
});

for (const isolated of [isolation, []]) {
  const where = isolated.length > 0 ? 'in a PID namespace' : 'without a PID namespace';
  test(`a process that has left its process tree ends with its container, ${where}`, async (t) => {
    const container = start(
      t,
      nodeProgram(`
        import { spawn } from 'node:child_process';
        spawn('sh', ['-c', 'setsid sleep 1000 & echo escaped'], { stdio: 'inherit', detached: true });
        setTimeout(() => console.log('up'), 300);
        ${waits}
      `),
      isolated,
    );
    await printed(container, 'up');
    const escaped = descendants(process.pid).length;
    container.killAll();
    await container.exited;
    const isAlive = (): boolean => container.pids.length > 0;
    assert.equal(isAlive(), false, `${String(escaped)} descendants before`);
  });
}

test('a command that does not exist exits with 127', async (t) => {
  const container = start(t, ['no-such-command']);
  assert.equal((await container.exited).code, 127);
});

test('K-037 a command that does not exist inside the container is not started', async (t) => {
  const container = start(t, nodeProgram(`console.log('up'); ${waits}`));
  await printed(container, 'up');
  assert.equal((await container.run(['no-such-command'])).kind, 'notStarted');
});
