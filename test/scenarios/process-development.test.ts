// Tests that a program does not wait for its clients when its developer restarts it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { silenceBeforeClose } from '../../src/http/drain/drain.ts';
import { disposed } from '../support/disposed.ts';
import { LoggingCommand } from '../support/process-under-test.ts';
import { assertRestartsAtOnce, Restarted } from '../support/restarted.ts';

const fixture = fileURLToPath(new URL('../fixtures/is-developed.ts', import.meta.url));
// How long the signal listener of `is-developed.ts` takes, in milliseconds.
const cleanup = 300;
const hasScript = spawnSync('script', ['--version']).status === 0;
const skip = hasScript ? false : 'there is no script(1) here, which opens a terminal';

void describe('in development, a program exits quickly when a tool restarts it', { concurrency: 2 }, () => {
  test('P-107 under node --watch a restart waits for neither the shutdown delay nor idle connections', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'lameduck-development-'));
    t.after(() => {
      rmSync(folder, { recursive: true });
    });
    const file = join(folder, 'main.mjs');
    const change = (): void => {
      writeFileSync(file, `import ${JSON.stringify(fixture)};\n`);
    };
    change();
    const restarted = new Restarted(t, process.execPath, ['--watch', file]);
    await assertRestartsAtOnce(t, () => restarted.restart(change));
  });

  test(
    'P-107 Ctrl-C in a terminal ends a program without waiting for the shutdown delay or for idle connections',
    { skip },
    async (t) => {
      // Switch off the terminal's echo. Otherwise the characters of Ctrl-C would become part of a log line.
      const command = `stty -echo; exec '${process.execPath}' '${fixture}'`;
      await assertRestartsAtOnce(t, async () => {
        const restarted = new Restarted(t, 'script', ['-qec', command, '/dev/null']);
        return restarted.restart(() => restarted.command.child.stdin?.write('\u0003'));
      });
    },
  );

  test('P-058, P-107 in development, if a tool such as node --watch restarts the process, a timer of the program does not delay the exit of the process', async (t) => {
    const env = { KEEPS: 'timer', WATCH_REPORT_DEPENDENCIES: '1' };
    await assertRestartsAtOnce(t, async () => {
      const restarted = new Restarted(t, process.execPath, [fixture], { env });
      return restarted.restart((pid) => process.kill(pid, 'SIGTERM'));
    });
  });

  for (const [title, text] of [
    ['a client that has sent half a request head', 'GET / HTT'],
    ['a client that never answers the FIN of the server', ''],
  ] as const) {
    test(`P-006, P-012, P-107 a client that does not cooperate does not delay a restart in development: ${title}`, async (t) => {
      const env = { WATCH_REPORT_DEPENDENCIES: '1' };
      await assertRestartsAtOnce(t, async () => {
        const restarted = new Restarted(t, process.execPath, [fixture], { env });
        const end = (pid: number): boolean => process.kill(pid, 'SIGTERM');
        return restarted.restart(end, (port) => {
          const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
          t.after(() => socket.destroy());
          socket.on('error', () => undefined).write(text);
        });
      });
    });
  }

  test('P-107 a restart in development waits for the promise of a signal listener, and for nothing else', async (t) => {
    const env = { KEEPS: 'listener', WATCH_REPORT_DEPENDENCIES: '1' };
    await assertRestartsAtOnce(
      t,
      async () => {
        const restarted = new Restarted(t, process.execPath, [fixture], { env });
        const took = await restarted.restart((pid) => process.kill(pid, 'SIGTERM'));
        assert.ok(restarted.command.lines.some(({ msg }) => msg === 'cleaned up'));
        return took;
      },
      cleanup,
    );
  });

  test('P-107 a delay that is set in the environment also applies in development', async (t) => {
    const env = { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '300ms', WATCH_REPORT_DEPENDENCIES: '1' };
    const restarted = new Restarted(t, process.execPath, [fixture], { env });
    assert.ok((await restarted.restart((pid) => process.kill(pid, 'SIGTERM'))).tookMs >= 300);
  });

  test("P-107 in development mode, the start line of the log says that the shutdown delay set in the program's code does not apply", async (t) => {
    const env = { WATCH_REPORT_DEPENDENCIES: '1' };
    const restarted = new Restarted(t, process.execPath, [fixture], { env });
    const started = await restarted.command.line('the start line', ({ msg = '' }) =>
      msg.startsWith('lifecycle started'),
    );
    assert.match(started.msg ?? '', /max\(shutdownDelayDuration 0s \(development\)/);
  });

  test('P-101, P-107 in development, a process logs only its start line and its final log line', async (t) => {
    const env = { WATCH_REPORT_DEPENDENCIES: '1' };
    const program = disposed(t, new LoggingCommand(process.execPath, [fixture], { env }));
    const { pid } = await program.line('the port', ({ msg }) => msg === 'listening');
    await program.line('the start line', ({ msg = '' }) => msg.startsWith('lifecycle started'));
    process.kill(Number(pid), 'SIGTERM');
    await program.exit;
    const own = program.lines
      .map(({ msg = '' }) => msg.split(':')[0])
      .filter((msg) => !['listening', 'exit'].includes(msg ?? ''));
    assert.deepEqual(own, ['lifecycle started', 'shutdown ended']);
  });

  for (const [where, env] of [
    ['with NODE_ENV=production', { NODE_ENV: 'production' }],
    ['in a cluster', { KUBERNETES_SERVICE_HOST: '10.0.0.1' }],
  ] as const) {
    test(`P-107 the drain has its full length ${where}, even if a watcher such as node --watch has started the program`, async (t) => {
      const program = { ...env, WATCH_REPORT_DEPENDENCIES: '1', LAMEDUCK_SHUTDOWN_DELAY_DURATION: '1ms' };
      const restarted = new Restarted(t, process.execPath, [fixture], { env: program });
      assert.ok((await restarted.restart((pid) => process.kill(pid, 'SIGTERM'))).tookMs >= silenceBeforeClose);
    });
  }
});
