// A program that its developer restarts again and again: a restart does not wait until clients have left.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { linger } from '../../src/http/drain.ts';
import { disposed } from '../support/disposed.ts';
import { LoggingCommand, type Line } from '../support/process-under-test.ts';

const fixture = fileURLToPath(new URL('../fixtures/is-developed.ts', import.meta.url));
const hasScript = spawnSync('script', ['--version']).status === 0;
const skip = hasScript ? false : 'there is no script(1) here, which opens a terminal';

/** The longest that a restart may wait, in milliseconds. */
const longestRestart = 100;
// A machine that is busy with other tests may take longer, but not five times in a row.
const attempts = 5;

/** Restarted is a program that is started once or, by a watcher, again and again. */
class Restarted {
  readonly command: LoggingCommand;
  readonly #test: TestContext;
  #seen = 0;

  constructor(t: TestContext, ...command: ConstructorParameters<typeof LoggingCommand>) {
    this.#test = t;
    this.command = disposed(t, new LoggingCommand(...command));
  }

  /** restart calls `end` while a browser has idle connections, and resolves with how many milliseconds the process took. */
  async restart(end: (pid: number) => void): Promise<number> {
    const { port, pid } = await this.#next('listening');
    await this.#next('HasBeenReady');
    await this.#openIdle(Number(port));
    end(Number(pid));
    const { time: since } = await this.#next('ShutdownInitiated');
    assert.equal((await this.#next('shutdown ended'))['exitCode'], 0);
    return Number((await this.#next('exit'))['time']) - Number(since);
  }

  /** next resolves with the next line that has this message, or names this lifecycle signal. */
  async #next(what: string): Promise<Line> {
    const { lines } = this.command;
    const line = await this.command.line(
      what,
      (one) => lines.indexOf(one) >= this.#seen && [one.msg, one['name']].includes(what),
    );
    this.#seen = lines.indexOf(line) + 1;
    return line;
  }

  // A browser keeps a connection that it has used, and opens another one ahead of time.
  async #openIdle(port: number): Promise<void> {
    const [used, preconnected] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    for (const socket of [used, preconnected]) this.#test.after(() => socket.destroy());
    used.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await Promise.all([once(used, 'data'), once(preconnected, 'connect')]);
  }
}

async function assertRestartsAtOnce(restart: () => Promise<number>): Promise<void> {
  const waits: number[] = [];
  while (waits.length < attempts && !waits.some((wait) => wait <= longestRestart)) waits.push(await restart());
  assert.ok(Math.min(...waits) <= longestRestart, `waited ${waits.join(', ')} ms`);
}

void describe('development', { concurrency: 2 }, () => {
  test('P-107 under node --watch a restart waits for neither the delay nor idle connections', async (t) => {
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
    await assertRestartsAtOnce(() => restarted.restart(change));
  });

  test('P-107 Ctrl-C in a terminal waits for neither the delay nor idle connections', { skip }, async (t) => {
    // Without its echo of Ctrl-C, which would be part of a log line.
    const command = `stty -echo; exec '${process.execPath}' '${fixture}'`;
    await assertRestartsAtOnce(async () => {
      const restarted = new Restarted(t, 'script', ['-qec', command, '/dev/null']);
      return restarted.restart(() => restarted.command.child.stdin?.write('\u0003'));
    });
  });

  test('P-107 a delay that the environment asks for is kept in development', async (t) => {
    const env = { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '300ms', WATCH_REPORT_DEPENDENCIES: '1' };
    const restarted = new Restarted(t, process.execPath, [fixture], { env });
    assert.ok((await restarted.restart((pid) => process.kill(pid, 'SIGTERM'))) >= 300);
  });

  test('P-107 the start line says that a delay of the code is replaced in development', async (t) => {
    const env = { WATCH_REPORT_DEPENDENCIES: '1' };
    const restarted = new Restarted(t, process.execPath, [fixture], { env });
    const started = await restarted.command.line('the start line', ({ sources }) => sources !== undefined);
    assert.match(started.msg ?? '', /max\(shutdownDelayDuration 0s \(development\)/);
    assert.equal((started['sources'] as Record<string, string>)['shutdownDelayDuration'], 'development');
  });

  for (const [where, env] of [
    ['with NODE_ENV=production', { NODE_ENV: 'production' }],
    ['in a cluster', { KUBERNETES_SERVICE_HOST: '10.0.0.1' }],
  ] as const) {
    test(`P-107 ${where} a watcher does not make the drain shorter`, async (t) => {
      const program = { ...env, WATCH_REPORT_DEPENDENCIES: '1', LAMEDUCK_SHUTDOWN_DELAY_DURATION: '1ms' };
      const restarted = new Restarted(t, process.execPath, [fixture], { env: program });
      assert.ok((await restarted.restart((pid) => process.kill(pid, 'SIGTERM'))) >= linger);
    });
  }
});
