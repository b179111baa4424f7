import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { Container } from '../../../src/cli/rehearsal/container.ts';
import { allProcesses, descendants, hasEnded } from '../../../src/cli/rehearsal/processes.ts';
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

function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1]);
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${String(pid)}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

function printed(container: Container, text: string): Promise<void> {
  return until(() => container.output.includes(text));
}

test('K-100, K-220 PID 1 without its own signal handler ignores SIGTERM', { skip: whyNoNamespace }, async (t) => {
  const container = start(t, nodeProgram(`console.log('pid', process.pid); ${waits}`));
  await printed(container, 'pid 1');
  container.signal('SIGTERM');
  // Node's built-in handler for SIGTERM removes itself and then sends the signal again.
  await until(() => container.handles('SIGTERM') === false);
  const { output } = (await container.run(['echo', 'still here'])) as { output: string };
  assert.equal(output.trim(), 'still here');
  container.killAll();
  assert.deepEqual(await container.exited, { code: 137, signal: 'SIGKILL' });
});

test('K-100 a process that is not PID 1 of a PID namespace dies of a signal for which it has no handler', async (t) => {
  const container = start(t, nodeProgram(`console.log('up'); ${waits}`), []);
  await printed(container, 'up');
  container.signal('SIGTERM');
  assert.deepEqual(await container.exited, { code: 143, signal: 'SIGTERM' });
});

test('K-108, K-222 the exit code of a container is that of its main process', async (t) => {
  const container = start(t, nodeProgram('process.exit(7)'));
  assert.deepEqual(await container.exited, { code: 7, signal: undefined });
});

test('K-108 the exit code of a killed container does not depend on how much the container prints', async (t) => {
  const container = start(
    t,
    nodeProgram(`
      const some = 'x'.repeat(65_536);
      const print = () => {
        process.stdout.write(some);
        process.stderr.write(some, () => setImmediate(print));
      };
      print();
    `),
  );
  await printed(container, 'xxx');
  container.signal('SIGKILL');
  assert.deepEqual(await container.exited, { code: 137, signal: 'SIGKILL' });
});

test('the rehearsal removes colours and other control characters from the output of a container', async (t) => {
  const text = '\u001b[31mError:\u001b[0m\u001b]0;title\u0007 it \u001b[2Jfailed\u0000\u0008\r\n\tat x';
  const container = start(t, nodeProgram(`console.log(${JSON.stringify(text)})`));
  await container.exited;
  await printed(container, 'Error: it failed\n\tat x\n');
});

test(
  'K-099, K-219 the stop signal is sent only to the main process of a container, not to its child processes',
  { skip: whyNoNamespace },
  async (t) => {
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
  },
);

for (const isolated of [isolation, []]) {
  const where = isolated.length > 0 ? 'in a PID namespace' : 'without a PID namespace';
  test(`when a container ends, its processes are killed even if they are no descendants of the main process, ${where}`, async (t) => {
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
    assert.equal(isAlive(), false, `the container had ${String(escaped)} descendants before it was killed`);
  });
}

test('a container whose command does not exist exits with 127', async (t) => {
  const container = start(t, ['no-such-command']);
  assert.equal((await container.exited).code, 127);
});

test('K-037 if the command of an exec probe does not exist in the container, the container runtime cannot start the probe', async (t) => {
  const container = start(t, nodeProgram(`console.log('up'); ${waits}`));
  await printed(container, 'up');
  assert.equal((await container.run(['no-such-command'])).kind, 'notStarted');
});

test(
  'K-037 an exec probe in a container whose main process has just exited is not started',
  { skip: whyNoNamespace },
  async (t) => {
    const container = start(t, nodeProgram(`console.log('up'); ${waits}`));
    await printed(container, 'up');
    const main = container.pid ?? 0;
    const parent = parentOf(main);
    // While the parent process is suspended, it cannot reap the exited main process of the container.
    process.kill(parent, 'SIGSTOP');
    try {
      process.kill(main, 'SIGKILL');
      await until(() => hasEnded(main));
      assert.equal((await container.run(['true'])).kind, 'notStarted');
    } finally {
      process.kill(parent, 'SIGCONT');
    }
  },
);

test('K-036 the command of an exec probe is killed when its timeout expires', async (t) => {
  const container = start(t, nodeProgram(`console.log('up'); ${waits}`));
  await printed(container, 'up');
  const duration = `1000.${String(process.pid)}`;
  assert.deepEqual(await container.run(['sleep', duration], 200), { kind: 'timedOut' });
  await until(() => !allProcesses().some((pid) => commandLine(pid).includes(duration)));
});
