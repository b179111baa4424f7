// Runs `lameduck inspect` on real processes.
import assert from 'node:assert/strict';
import { createServer as createHttpServer } from 'node:http';
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { test, type TestContext } from 'node:test';
import { pageOf } from '../../../src/cli/inspect/page.ts';
import type { Inspection } from '../../../src/inspection.ts';
import { signalNames } from '../../../src/lifecycle/graph.ts';
import { CommandUnderTest } from '../../support/command-under-test.ts';
import { inspected, socketPath } from '../../support/debug-socket.ts';
import { disposed } from '../../support/disposed.ts';
import { lameduck, main } from '../../support/lameduck-command.ts';
import { probe } from '../../support/probe-client.ts';
import { ProcessUnderTest } from '../../support/process-under-test.ts';

async function start(
  t: TestContext,
  path: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ProcessUnderTest> {
  const variables = { LAMEDUCK_DEBUG_SOCKET_PATH: path, ...env };
  const process = disposed(t, new ProcessUnderTest('is-killed-in-a-phase.ts', variables));
  await process.ready();
  await process.line('the socket', ({ msg }) => msg === 'debug socket listens');
  return process;
}

test('`lameduck inspect` prints the state of the process. It takes the path of the debug socket from the environment or from --socket', async (t) => {
  const path = socketPath(t);
  const { pid } = await start(t, path);
  const { code, output } = await lameduck(t, ['inspect', '--socket', path]);
  assert.equal(code, 0);
  assert.match(output, new RegExp(`^process +${String(pid)}, lameduck `));
  assert.match(output, /^state +running$/m);
  // On a busy machine, the main thread may answer late, and its event loop then counts as blocked.
  assert.match(output, /^event loop +(runs|blocked)/m);
  assert.match(output, /Z {2}HasBeenReady, after /);
  const byVariable = await lameduck(t, ['inspect'], { LAMEDUCK_DEBUG_SOCKET_PATH: path });
  assert.match(byVariable.output, new RegExp(`^process +${String(pid)},`));
});

test('`lameduck inspect` changes the readiness with --unready and --ready, begins the shutdown with --shutdown, and prints each lifecycle signal with --watch until the process ends', async (t) => {
  const path = socketPath(t);
  const process = await start(t, path, { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '1s', HANGS: 'pre-shutdown' });
  const port = await process.port();
  const { code, output } = await lameduck(t, ['inspect', '--socket', path, '--unready']);
  assert.equal(code, 0);
  assert.match(output, /^unready requested/);
  await inspected(path, ({ isHeldUnready }) => isHeldUnready);
  assert.equal((await probe(port, '/readyz')).status, 500);
  await lameduck(t, ['inspect', '--socket', path, '--ready']);
  await inspected(path, ({ isHeldUnready }) => !isHeldUnready);
  assert.equal((await probe(port, '/readyz')).status, 200);
  const args = [main, 'inspect', '--socket', path, '--shutdown', '--watch'];
  const watching = disposed(t, new CommandUnderTest(globalThis.process.execPath, args));
  await watching.printed(/^shutdown requested\nprocess [^]*AfterShutdownDelayDuration/);
  process.kill('SIGKILL');
  assert.deepEqual(await watching.exit, { code: 0, signal: null });
  assert.match(watching.output, /\nthe process has ended\n$/);
});

const hasScript = spawnSync('script', ['--version']).status === 0;

test(
  '`lameduck inspect --watch` redraws one page in a terminal',
  { skip: hasScript ? false : 'no script' },
  async (t) => {
    const path = socketPath(t);
    const program = await start(t, path, { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '2s' });
    const line = `stty rows 50 cols 120; '${process.execPath}' '${main}' inspect --socket '${path}' --watch`;
    const terminal = disposed(t, new CommandUnderTest('script', ['-qec', line, '/dev/null']));
    await terminal.printed(/state +running/);
    program.kill('SIGTERM');
    // `lameduck inspect --watch` moves the cursor up and draws its page again.
    await terminal.printed(/\[\d+A.\[J[^[]*shutting down: SIGTERM\s+budget +\[#*\.+\] \d+\.\ds of 28\.0s/);
    await terminal.printed(/the process has ended/);
  },
);

test('`lameduck inspect` exits with 1 if no process listens on the socket path, and prints the path and a hint', async (t) => {
  const path = socketPath(t);
  const missing = await lameduck(t, ['inspect', '--socket', path]);
  assert.equal(missing.code, 1);
  assert.match(
    missing.output,
    /^lameduck inspect: \/.*: there is no socket; set LAMEDUCK_DEBUG_SOCKET_PATH .*--socket\n$/,
  );
  const program = await start(t, path);
  program.kill('SIGKILL');
  await program.exit;
  const stale = await lameduck(t, ['inspect', '--socket', path]);
  assert.equal(stale.code, 1);
  assert.match(stale.output, /no process listens; the process that created the socket has ended\n$/);
  assert.match((await lameduck(t, ['inspect', '--socket', dirname(path)])).output, /^lameduck inspect: /);
});

test('`lameduck inspect` exits with 1 if the response comes from another program', async (t) => {
  const path = socketPath(t);
  const other = createHttpServer((_request, response) => response.end('null')).listen(path);
  t.after(() => other.close());
  const { code, output } = await lameduck(t, ['inspect', '--socket', path]);
  assert.deepEqual([code, output], [1, `lameduck inspect: ${path}: the answer is not from lameduck\n`]);
});

test('`lameduck inspect` with invalid arguments exits with 2', async (t) => {
  for (const args of [['--ready', '--unready'], ['now'], ['--sock', 'a']]) {
    assert.equal((await lameduck(t, ['inspect', ...args])).code, 2);
  }
  assert.equal((await lameduck(t, ['inspect', '--help'])).code, 0);
});

const found: Inspection = {
  schema: 'lameduck/inspect/v1',
  pid: 1,
  version: '1.0.0',
  ageMs: 1_200,
  isHeldUnready: false,
  eventLoop: { isBlocked: true, blockedMs: 4_000, stack: ['block (file:///app/main.js:12:3)'] },
  signals: [{ name: 'ShutdownInitiated', at: '2026-01-01T00:00:00.000Z', durationMs: 5_000 }],
  shutdown: { reason: 'SIGTERM', elapsedMs: 7_000, budgetMs: 28_000, remainingMs: 21_000 },
  requestsInFlight: 1,
  longRunningRequests: 0,
  oldestRequests: [{ method: 'GET', route: '/\x1b[2J', ageMs: 31_000, peer: '10.0.3.17:40022' }],
  runningHooks: [{ kind: 'destroy', name: 'pool', ageMs: 500 }],
  connections: { http1: 1, http2: 2, upgraded: 3 },
  settings: {
    probePort: { value: '8081', source: 'LAMEDUCK_PROBE_PORT' },
    probePaths: { value: 'on', source: 'default' },
  },
  leadership: [{ name: 'shop-worker', isLeader: true, slowpaths: 0, attemptMs: undefined, renewalAgeMs: undefined }],
  previousRun: { outcome: 'killed', phase: 'HasBeenReady' },
};

test('the page of `lameduck inspect` names unfinished work, and escapes control characters in a route', () => {
  assert.deepEqual(pageOf(found), [
    'process       1, lameduck 1.0.0',
    'state         shutting down: SIGTERM',
    'budget        [########......................] 7.0s of 28.0s, 21.0s left',
    'event loop    blocked for 4.0s; this page shows the state of 1.2s ago',
    'requests      1 in flight, 0 long-running',
    'connections   1 HTTP/1.1, 2 HTTP/2, 3 upgraded',
    'leadership    shop-worker: leader',
    'previous run  killed HasBeenReady',
    'signals       2026-01-01T00:00:00.000Z  ShutdownInitiated, after 5s',
    'waits for     destroy hook "pool" for 0.5s',
    '              GET /?[2J from 10.0.3.17:40022 for 31.0s',
    'stack         block (file:///app/main.js:12:3)',
    'settings      probePort 8081 (LAMEDUCK_PROBE_PORT)',
  ]);
});

test('the page of `lameduck inspect` shows every lifecycle signal in its first 24 lines, which fit into a small terminal', () => {
  const signals = signalNames.map((name) => ({ name, at: '2026-01-01T00:00:00.000Z', durationMs: 5_000 }));
  const oldestRequests = Array.from({ length: 20 }, () => ({ method: 'GET', route: '/', ageMs: 1, peer: '::1' }));
  const stack = Array.from({ length: 50 }, () => 'block (file:///app/main.js:12:3)');
  const eventLoop = { isBlocked: true, blockedMs: 4_000, stack };
  const shown = pageOf({ ...found, signals, oldestRequests, eventLoop })
    .slice(0, 23)
    .join('\n');
  for (const name of signalNames) assert.ok(shown.includes(`Z  ${name}, after`), shown);
  assert.match(shown, /^waits for +destroy hook "pool"/m);
});
