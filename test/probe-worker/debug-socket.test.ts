// Tests the debug socket of real processes: what it reports, what it changes, and at which paths it is not created.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chownSync, existsSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { DebugSocket } from '../../src/probe-worker/debug-socket.ts';
import { inspect, inspected, send, socketPath } from '../support/debug-socket.ts';
import { disposed } from '../support/disposed.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { ask } from '../support/measured.ts';
import { probe } from '../support/probe-client.ts';
import { ProcessUnderTest, type Line } from '../support/process-under-test.ts';
import { until } from '../support/until.ts';

const isAboutIt = ({ msg = '' }: Line): boolean => msg.startsWith('debug socket');

async function start(
  t: TestContext,
  path: string,
  env: Readonly<Record<string, string>> = {},
  fixture = 'blocks-for-a-while.ts',
): Promise<ProcessUnderTest> {
  const process = disposed(t, new ProcessUnderTest(fixture, { LAMEDUCK_DEBUG_SOCKET_PATH: path, ...env }));
  await process.ready();
  await process.line('the socket', isAboutIt);
  return process;
}

async function listening(t: TestContext, env?: Readonly<Record<string, string>>): Promise<[ProcessUnderTest, string]> {
  const path = socketPath(t);
  const process = await start(t, path, env);
  assert.deepEqual(
    process.lines.filter(isAboutIt).map(({ msg }) => msg),
    ['debug socket listens'],
  );
  return [process, path];
}

test('the debug socket waits up to 60 ms for the answer of the main thread, but does not wait if the probe thread already knows that the event loop is blocked', async () => {
  const clock = new FakeClock();
  let stalledMs = 0;
  const socket = new DebugSocket({
    clock,
    ask: () => undefined,
    stalledMs: () => stalledMs,
    stack: () => Promise.resolve([]),
  });
  const waitOf = async (): Promise<number> => {
    const since = clock.now();
    const answers: unknown[] = [];
    void socket.respond('/shutdown', 'POST').then((answer) => answers.push(answer));
    while (answers.length === 0) await clock.advance(1);
    return clock.now() - since;
  };
  assert.equal(await waitOf(), 60);
  stalledMs = 5_000;
  assert.ok((await waitOf()) <= 1);
});

test('without a probe port, a thread serves the debug socket, and only the user of the process can connect', async (t) => {
  const checkpoint = join(dirname(socketPath(t)), 'checkpoint.json');
  const [process, path] = await listening(t, { LAMEDUCK_CHECKPOINT_PATH: checkpoint });
  const { mode } = lstatSync(path);
  assert.equal(mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(dirname(path)), ['lameduck.sock']);
  const found = await inspected(path, ({ eventLoop: { isBlocked } }) => !isBlocked);
  assert.equal(found.schema, 'lameduck/inspect/v1');
  assert.deepEqual([found.pid, found.isHeldUnready, found.shutdown], [process.pid, false, undefined]);
  assert.deepEqual(
    found.signals.map(({ name }) => name),
    ['MuxAndDiscoveryComplete', 'HasBeenReady'],
  );
  assert.deepEqual(found.settings['debugSocketPath'], { value: path, source: 'LAMEDUCK_DEBUG_SOCKET_PATH' });
  assert.deepEqual(found.settings['destroyHookTimeout'], { value: '3s', source: 'default' });
  assert.deepEqual(found.eventLoop, { isBlocked: false, blockedMs: 0 });
  assert.deepEqual(found.previousRun, { outcome: 'none', phase: '' });
  assert.deepEqual(found.leadership, []);
});

test('the debug socket reports what a shutdown waits for', async (t) => {
  const path = socketPath(t);
  const process = await start(t, path, { ADAPTER: 'node:http' }, 'serve.ts');
  const client = connect(await process.port(), '127.0.0.1').on('error', () => undefined);
  t.after(() => client.destroy());
  client.write('GET /hang HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await inspected(path, ({ requestsInFlight }) => requestsInFlight === 1);
  process.kill('SIGTERM');
  // On a busy machine, the debug socket may answer with the state of a moment ago.
  const { shutdown, oldestRequests, connections } = await inspected(
    path,
    ({ signals }) => signals.at(-1)?.name === 'HTTPServerStoppedListening',
  );
  assert.equal(shutdown?.reason, 'SIGTERM');
  assert.equal(shutdown.budgetMs, 28_000);
  assert.ok(shutdown.remainingMs > 0 && shutdown.remainingMs <= 28_000);
  assert.deepEqual(
    oldestRequests.map(({ method, route }) => [method, route]),
    [['GET', '/hang']],
  );
  assert.deepEqual(connections, { http1: 1, http2: 0, upgraded: 0 });
});

test('the debug socket names the hook that a shutdown waits for', async (t) => {
  const path = socketPath(t);
  const process = await start(t, path, { HANGS: 'pre-shutdown' }, 'is-killed-in-a-phase.ts');
  process.kill('SIGTERM');
  await process.signaled('AfterShutdownDelayDuration');
  const { runningHooks } = await inspected(
    path,
    (found) => found.signals.at(-1)?.name === 'AfterShutdownDelayDuration',
  );
  assert.deepEqual(
    runningHooks.map(({ kind, name }) => [kind, name]),
    [['pre-shutdown', 'hangs']],
  );
});

describe('the debug socket responds while the event loop is blocked', () => {
  /**
   * `blocked()` starts a program, blocks the event loop of this program for four seconds, and returns the path of its
   * debug socket.
   */
  async function blocked(t: TestContext, env: Readonly<Record<string, string>>, fixture?: string): Promise<string> {
    const path = socketPath(t);
    const process = await start(t, path, env, fixture);
    await ask(await process.port(), '/block?ms=4000');
    await inspected(path, ({ eventLoop: { isBlocked } }) => isBlocked);
    return path;
  }

  test('the debug socket of a blocked process responds within 100 ms, and reports how long the event loop has been blocked', async (t) => {
    const path = await blocked(t, {});
    const took: number[] = [];
    let before = 0;
    for (let round = 0; round < 5; round++) {
      const since = performance.now();
      const { eventLoop, ageMs, signals } = await inspect(path);
      took.push(performance.now() - since);
      assert.equal(eventLoop.isBlocked, true);
      assert.ok(eventLoop.blockedMs >= before && ageMs > 0);
      before = eventLoop.blockedMs;
      assert.equal(signals.length, 2);
    }
    assert.ok(Math.min(...took) < 100, took.join(' '));
    await inspected(path, ({ eventLoop: { isBlocked } }) => !isBlocked);
  });

  test('with debugSocketStack, the debug socket shows the stack of a blocking loop in JavaScript, and the loop then continues', async (t) => {
    const path = await blocked(t, { LAMEDUCK_DEBUG_SOCKET_STACK: 'true', SPIN: '1' });
    const [one, other] = await Promise.all([inspect(path, '/?stack'), inspect(path, '/?stack')]);
    for (const { eventLoop } of [one, other]) {
      assert.match(eventLoop.stack?.join('\n') ?? '', /^block \(.*blocks-for-a-while\.ts:\d+:\d+\)$/m);
    }
    const { eventLoop } = await inspected(path, ({ eventLoop: { isBlocked } }) => !isBlocked, '/?stack');
    assert.equal(eventLoop.stackProblem, 'the event loop is not blocked');
  });

  test('with debugSocketStack, the debug socket responds without a stack after two seconds if native code blocks the event loop', async (t) => {
    const path = await blocked(t, { LAMEDUCK_DEBUG_SOCKET_STACK: 'true' }, 'sleeps-in-a-child.ts');
    const since = performance.now();
    const { eventLoop } = await inspect(path, '/?stack');
    assert.equal(eventLoop.stackProblem, 'the main thread is running native code, which a debugger cannot pause');
    assert.ok(performance.now() - since < 3_000);
    await inspected(path, ({ eventLoop: { isBlocked } }) => !isBlocked);
  });

  test('without debugSocketStack, the debug socket shows no stack', async (t) => {
    const path = await blocked(t, { SPIN: '1' });
    assert.equal((await inspect(path, '/?stack')).eventLoop.stackProblem, 'debugSocketStack is not set');
  });
});

test('POST /ready on the debug socket makes /readyz fail and pass again, and POST /shutdown begins one drain', async (t) => {
  const [process, path] = await listening(t, { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '2s' });
  const port = await process.port();
  assert.equal((await probe(port, '/readyz')).status, 200);
  const { status, body } = await send(path, '/ready?state=unready', 'POST');
  assert.equal(status, 202);
  // On a busy machine, the main thread may answer late, and its event loop then counts as blocked.
  assert.match(body, /^\{"requested":"unready","isBlocked":(false|true)\}\n$/);
  await inspected(path, ({ isHeldUnready }) => isHeldUnready);
  assert.equal((await probe(port, '/readyz')).status, 500);
  assert.equal((await probe(port, '/livez')).status, 200);
  await send(path, '/ready?state=ready', 'POST');
  await inspected(path, ({ isHeldUnready }) => !isHeldUnready);
  assert.equal((await probe(port, '/readyz')).status, 200);
  await send(path, '/shutdown', 'POST');
  // Wait for more than 100 ms. A second process signal within 100 ms of the first one has no effect.
  await inspected(path, ({ shutdown }) => (shutdown?.elapsedMs ?? 0) > 150);
  await send(path, '/shutdown', 'POST');
  assert.deepEqual(await process.exit, { code: 0, signal: null });
  assert.equal((await process.finalLine())['reason'], 'SIGTERM');
  const actions = process.lines.filter(({ msg }) => msg === 'debug socket request').map(({ action }) => action);
  assert.deepEqual(actions, ['unready', 'ready', 'shutdown', 'shutdown']);
});

test('the debug socket rejects requests with an unknown path, value or method', async (t) => {
  const [, path] = await listening(t);
  const statuses = async (method: string, urls: readonly string[]): Promise<number[]> =>
    Promise.all(urls.map(async (url) => (await send(path, url, method)).status));
  assert.deepEqual(
    await statuses('POST', ['/', '/ready', '/ready?state=maybe', '//', '/metrics']),
    [405, 404, 404, 404, 404],
  );
  assert.deepEqual(await statuses('GET', ['/shutdown', '/ready?state=ready', '/%']), [405, 405, 404]);
});

describe(
  'if lameduck cannot use the debug socket path, it logs one line, and the process continues to serve requests',
  { concurrency: 3 },
  () => {
    const cases: Readonly<Record<string, readonly [prepare: (path: string) => unknown, reason: RegExp]>> = {
      'a file': [
        (path) => {
          writeFileSync(path, 'mine');
        },
        /not a Unix socket/,
      ],
      'a folder': [
        (path) => {
          mkdirSync(path);
        },
        /not a Unix socket/,
      ],
      'a link to nothing': [
        (path) => {
          symlinkSync('/nowhere', path);
        },
        /not a Unix socket/,
      ],
      'a file in place of the folder': [
        (path) => {
          writeFileSync(dirname(path), '');
        },
        /ENOTDIR/,
      ],
      'a missing folder': [() => undefined, /ENOENT/],
    };
    for (const [name, [prepare, reason]] of Object.entries(cases)) {
      test(`if there is an obstacle such as ${name} at the debug socket path, lameduck logs one line, and the process continues to serve requests`, async (t) => {
        const below = ['a missing folder', 'a file in place of the folder'].includes(name);
        const path = below ? join(dirname(socketPath(t)), 'below', 'socket') : socketPath(t);
        prepare(path);
        await refused(await start(t, path), reason);
      });
    }

    // Even root cannot create a file in /sys.
    test(
      'a debug socket path in a folder without write permission causes one log line',
      { skip: existsSync('/sys/kernel') ? false : 'needs /sys' },
      async (t) => {
        await refused(await start(t, '/sys/lameduck.sock'), /EACCES|EPERM|EROFS/);
      },
    );

    test('if the debug socket path is a link to the socket of another process, one log line says so, and the other process keeps its debug socket', async (t) => {
      const [first, target] = await listening(t);
      const path = socketPath(t);
      symlinkSync(target, path);
      await refused(await start(t, path), /not a Unix socket/);
      assert.equal((await inspect(path)).pid, first.pid);
    });

    test('a debug socket path that is too long causes one log line, and no file is created', async (t) => {
      const long = join(dirname(socketPath(t)), 'a'.repeat(80), 's');
      mkdirSync(dirname(long));
      await refused(await start(t, long), /at most \d+ bytes/);
      assert.deepEqual(readdirSync(dirname(long)), []);
    });

    test('if the path is the debug socket of another process, one log line is written, and that process keeps its socket', async (t) => {
      const [first, path] = await listening(t);
      await refused(await start(t, path), /another process listens on the socket/);
      assert.equal((await inspect(path)).pid, first.pid);
      assert.deepEqual(readdirSync(dirname(path)), ['lameduck.sock']);
    });

    test(
      'if the debug socket of another user already exists at the configured path, the process opens none and logs this once',
      { skip: process.geteuid?.() === 0 ? false : 'only root can change the owner of a file' },
      async (t) => {
        const path = socketPath(t);
        const other = createServer().listen(path);
        await once(other, 'listening');
        chownSync(path, 65_532, 65_532);
        t.after(() => other.close());
        await refused(await start(t, path), /belongs to user ID 65532/);
      },
    );
  },
);

async function refused(process: ProcessUnderTest, reason: RegExp): Promise<void> {
  const [line, ...others] = process.lines.filter(isAboutIt);
  assert.deepEqual([line?.msg, line?.['level'], others], ['debug socket failed', 40, []]);
  assert.match((line?.['err'] as Error).message, reason);
  assert.equal((await probe(await process.port(), '/readyz')).status, 200);
  process.kill('SIGTERM');
  assert.deepEqual(await process.exit, { code: 0, signal: null });
}

test('a process replaces the debug socket that a killed process has left at the same path', async (t) => {
  const [killed, path] = await listening(t);
  killed.kill('SIGKILL');
  await killed.exit;
  assert.ok(lstatSync(path).isSocket());
  const next = await start(t, path);
  assert.equal((await inspect(path)).pid, next.pid);
});

test('if a lifecycle has ended and its process continues, the debug socket is removed', async (t) => {
  const path = socketPath(t);
  const process = await start(t, path, {}, 'shuts-itself-down.ts');
  process.child.stdin?.end();
  await process.line('its end', ({ msg }) => msg === 'shut down');
  await until(() => readdirSync(dirname(path)).length === 0);
});
