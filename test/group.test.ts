// Tests a primary of node:cluster and its workers. They share the process signal, the probe port and the final log
// line. ROUNDS sets how many shutdowns under load run.
import assert from 'node:assert/strict';
import { describe, it, test, type TestContext } from 'node:test';
import { get, newAccount, post, runClient } from './support/closed-loop-client.ts';
import { socketPath } from './support/debug-socket.ts';
import { disposed } from './support/disposed.ts';
import { registered } from './support/under-register.ts';
import { HeldRequest } from './support/held-request.ts';
import { probe } from './support/probe-client.ts';
import { reservePort } from './support/reserved-port.ts';
import { ProcessUnderTest, type Line } from './support/process-under-test.ts';
import { until } from './support/until.ts';

const rounds = Number(process.env['ROUNDS'] ?? 1);
const clientCount = 30;
const endedWell = { code: 0, signal: null };

interface WorkerEnd {
  readonly pid: number;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly record?: { readonly reason: string; readonly exitCode: number; readonly requests: { readonly cut: number } };
}

/** Starts the fixture, a primary with workers, and resolves when its workers are ready. */
async function start(t: TestContext, env: Readonly<Record<string, string>> = {}): Promise<ProcessUnderTest> {
  const program = disposed(t, new ProcessUnderTest('runs-a-group.ts', { WORKERS: '2', ...env }));
  await program.port();
  const ready = (): Line[] => program.lines.filter(({ name }) => name === 'HasBeenReady');
  const workers = Number(env['WORKERS'] ?? 2);
  if (env['BARE'] === undefined) await until(() => ready().length === workers + 1);
  return program;
}

/** Waits for the exit of the primary, and returns its final log line. */
async function finalLine(program: ProcessUnderTest): Promise<Line & { readonly workers: readonly WorkerEnd[] }> {
  await program.exit;
  const line = program.lines.find(({ schema, pid }) => schema === 'lameduck/shutdown/v1' && pid === program.pid);
  assert.ok(line !== undefined, program.output);
  return line as Line & { readonly workers: readonly WorkerEnd[] };
}

const workerPids = (program: ProcessUnderTest): number[] =>
  program.lines.filter(({ msg }) => msg === 'worker listens').map(({ pid }) => Number(pid));

const lifecycles = [
  ['lameduck([]) in the primary', {}],
  ['lameduck([]) in the primary and no lameduck() in its workers', { ONLY_PRIMARY: '1' }],
  ['lameduck/register', registered({ UNDER_REGISTER: '1' })],
] as const;

for (const [who, env] of lifecycles) {
  describe(`with ${who}, a primary of node:cluster shuts down its workers, and responds to probes on behalf of its workers`, () => {
    for (let round = 1; round <= rounds; round++) {
      it('P-071 thirty closed-loop clients lose no request if a cluster primary with four workers receives SIGTERM', async (t) => {
        const program = await start(t, { ...env, WORKERS: '4', LAMEDUCK_SHUTDOWN_DELAY_DURATION: '1s' });
        const port = await program.port();
        const account = newAccount();
        const stop = new AbortController();
        const clients = Array.from({ length: clientCount }, async (_, index) =>
          runClient({ port, request: index % 2 === 0 ? get : post, account, stop: stop.signal }),
        );
        await until(() => account.answered >= 10 * clientCount);
        program.kill('SIGTERM');
        assert.deepEqual(await program.exit, endedWell, program.output);
        await Promise.all(clients);
        assert.deepEqual({ lost: account.lost, failed: account.failed }, { lost: [], failed: 0 });
        const { workers } = await finalLine(program);
        assert.deepEqual(
          workers.map(({ exitCode, signal, record }) => [exitCode, signal, record?.reason, record?.requests.cut]),
          Array.from({ length: 4 }, () => [0, null, 'SIGTERM', 0]),
        );
      });
    }

    it('P-071 during its shutdown, the cluster primary waits until each worker has completed its request in flight, and forks no new worker for a worker that has exited', async (t) => {
      const program = await start(t, env);
      const request = await HeldRequest.open(t, await program.port());
      program.kill('SIGTERM');
      await until(() => program.lines.filter(({ name }) => name === 'HTTPServerStoppedListening').length === 3);
      assert.equal(await request.release(), 'served');
      assert.deepEqual(await program.exit, endedWell);
      const forked = program.lines.filter(({ msg }) => msg === 'forked again').map(({ isDead }) => isDead);
      assert.deepEqual(forked, [true, true]);
      assert.deepEqual(new Set((await finalLine(program)).workers.map(({ pid }) => pid)), new Set(workerPids(program)));
    });

    it('P-071 the cluster primary opens one debug socket for all its workers, and no worker opens one, not even during the shutdown', async (t) => {
      const program = await start(t, { ...env, LAMEDUCK_DEBUG_SOCKET_PATH: socketPath(t) });
      await program.line('the debug socket', ({ msg }) => msg === 'debug socket listens');
      program.kill('SIGTERM');
      assert.deepEqual(await program.exit, endedWell);
      const lines = program.lines.filter(({ msg }) => msg?.startsWith('debug socket') === true);
      assert.deepEqual(
        lines.map(({ msg, pid }) => [msg, pid]),
        [['debug socket listens', program.pid]],
      );
    });

    it('P-071 the cluster primary serves the probe port for its workers, and passes /readyz if at least one worker is ready', async (t) => {
      const port = await reservePort();
      const program = await start(t, { ...env, LAMEDUCK_PROBE_PORT: String(port) });
      await until(() => program.lines.some(({ msg }) => msg === 'probe port listens'));
      const { status, body } = await probe(port, '/readyz?verbose');
      assert.equal(status, 200);
      assert.match(body, /^\[\+\]workers ok$/m);
      assert.equal((await probe(port, '/livez')).status, 200);
      const owners = program.lines.filter(({ msg }) => msg === 'probe port listens').map(({ pid }) => pid);
      assert.deepEqual(owners, [program.pid]);
      program.kill('SIGTERM');
      await program.exit;
    });
  });
}

for (const [who, env] of lifecycles) {
  test(`P-071 with ${who}, each cluster worker waits for the whole shutdown delay and completes its request in flight, even if the grace period of the pod is hardly longer than this delay`, async (t) => {
    const times = { LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '7', LAMEDUCK_SHUTDOWN_DELAY_DURATION: '1s' };
    const program = await start(t, { ...env, ...times });
    const request = await HeldRequest.open(t, await program.port());
    program.kill('SIGTERM');
    await until(() => program.lines.filter(({ name }) => name === 'HTTPServerStoppedListening').length === 3);
    assert.equal(await request.release(), 'served');
    assert.deepEqual(await program.exit, endedWell);
    const records = program.lines.filter(({ schema }) => schema === 'lameduck/shutdown/v1');
    const delays = records.map(({ phases }) => (phases as Record<string, number>)['AfterShutdownDelayDuration'] ?? 0);
    assert.equal(delays.length, 3);
    assert.ok(Math.min(...delays) > 900, delays.join());
  });
}

test('P-071 if a process group gets SIGTERM, closed-loop clients of cluster workers that do not call lameduck() lose no request', async (t) => {
  const program = await start(t, { ONLY_PRIMARY: '1', WORKERS: '4', LAMEDUCK_SHUTDOWN_DELAY_DURATION: '1s' });
  const port = await program.port();
  const account = newAccount();
  const stop = new AbortController();
  const clients = Array.from({ length: clientCount }, async () => runClient({ port, account, stop: stop.signal }));
  await until(() => account.answered >= 10 * clientCount);
  process.kill(-program.pid, 'SIGTERM');
  assert.deepEqual(await program.exit, endedWell, program.output);
  await Promise.all(clients);
  assert.deepEqual(account.lost, []);
});

test('P-071 if the cluster primary has no probe port, its workers have none either, even if they do not call lameduck()', async (t) => {
  // This shutdown delay is long enough for a worker to open a probe port. The test asserts that no worker opens one.
  const program = await start(t, { ONLY_PRIMARY: '1', LAMEDUCK_SHUTDOWN_DELAY_DURATION: '3s' });
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, endedWell);
  assert.deepEqual(
    program.lines.filter(({ msg }) => msg?.startsWith('probe port') === true),
    [],
  );
});

test('P-071 a process that a cluster worker forks does not load lameduck/register, although it inherits the options of the worker', async (t) => {
  const program = await start(t, { ONLY_PRIMARY: '1', WORKERS: '1', FORKING: '1' });
  const isOfForked = ({ msg }: Line): boolean => msg === 'forked process';
  const { execArgv, ownsEmit } = await program.line('the forked process', isOfForked);
  assert.match(String(execArgv), /cluster-worker\.cjs/);
  assert.equal(ownsEmit, false);
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, endedWell);
});

test('P-057, P-071 if a terminal sends a process signal to both the cluster primary and its workers, the signal counts once', async (t) => {
  const program = await start(t);
  const request = await HeldRequest.open(t, await program.port());
  process.kill(-program.pid, 'SIGINT');
  await until(() => program.lines.filter(({ name }) => name === 'HTTPServerStoppedListening').length === 3);
  assert.equal(await request.release(), 'served');
  assert.deepEqual(await program.exit, endedWell);
  const { workers } = await finalLine(program);
  assert.deepEqual(
    workers.map(({ record }) => record?.reason),
    ['SIGINT', 'SIGINT'],
  );
});

test('P-071, P-118 the cluster primary fails /livez while the event loop of a worker is blocked, and stays ready because of the other worker', async (t) => {
  const port = await reservePort();
  const env = { LAMEDUCK_PROBE_PORT: String(port), LAMEDUCK_LIVEZ_EVENT_LOOP_STALL_LIMIT: '6s' };
  const program = await start(t, env);
  await until(() => program.lines.some(({ msg }) => msg === 'probe port listens'));
  await probe(await program.port(), '/block', { patience: 100 }).catch(() => undefined);
  const isFailing = ({ msg, check }: Line): boolean => msg === 'check fails' && check === 'worker-event-loops';
  while (!program.lines.some(isFailing)) await probe(port, '/livez');
  assert.equal((await probe(port, '/readyz')).status, 200);
});

test('P-071 if the handler of a cluster worker never ends, the worker ends before the shutdown budget of the primary is over', async (t) => {
  const program = await start(t, {
    LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '7',
    LAMEDUCK_DESTROY_HOOK_TIMEOUT: '500ms',
  });
  await HeldRequest.open(t, await program.port());
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, { code: 80, signal: null });
  const { workers, durationMs } = await finalLine(program);
  assert.deepEqual(
    workers.map(({ exitCode }) => exitCode).toSorted((a, b) => Number(a) - Number(b)),
    [0, 80],
  );
  assert.ok(Number(durationMs) < 5_000, String(durationMs));
});

test('P-071 a cluster worker whose event loop is blocked is killed at the end of the drain, and the final log line names it', async (t) => {
  const program = await start(t, {
    LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '7',
    LAMEDUCK_DESTROY_HOOK_TIMEOUT: '500ms',
    WORKERS: '1',
  });
  await assert.rejects(probe(await program.port(), '/block', { patience: 100 }));
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, { code: 80, signal: null });
  const { workers } = await finalLine(program);
  assert.deepEqual(
    workers.map(({ exitCode, signal }) => [exitCode, signal]),
    [[null, 'SIGKILL']],
  );
});

test('P-071 a cluster worker without a lifecycle gets the process signal, and the primary waits until the worker has exited', async (t) => {
  const program = await start(t, { BARE: '1', LAMEDUCK_SHUTDOWN_DELAY_DURATION: '1s' });
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, endedWell);
  const { workers } = await finalLine(program);
  assert.deepEqual(
    workers.map(({ exitCode, signal }) => [exitCode, signal]),
    Array.from({ length: 2 }, () => [null, 'SIGTERM']),
  );
});

test('P-071 cluster workers without a lifecycle serve requests during the shutdown delay, and each client loses at most one request when they exit', async (t) => {
  const program = await start(t, { BARE: '1', WORKERS: '4', LAMEDUCK_SHUTDOWN_DELAY_DURATION: '3s' });
  const port = await program.port();
  await program.signaled('HasBeenReady');
  const account = newAccount();
  const stop = new AbortController();
  const clients = Array.from({ length: clientCount }, async () => runClient({ port, account, stop: stop.signal }));
  await until(() => account.answered >= 10 * clientCount);
  program.kill('SIGTERM');
  await program.signaled('ShutdownInitiated');
  assert.deepEqual(account.lost, []);
  assert.equal((await probe(port, '/')).status, 200);
  assert.deepEqual(await program.exit, endedWell);
  await Promise.all(clients);
  assert.ok(account.lost.length <= clientCount, String(account.lost.length));
});

test('P-071 the cluster primary warns once about workers that listen without a lifecycle, and the warning names the remedy', async (t) => {
  const program = await start(t, { BARE: '1', LAMEDUCK_SHUTDOWN_DELAY_DURATION: '1s' });
  const isWarning = ({ msg }: Line): boolean => msg === 'worker listens without a lifecycle';
  const { level, pid, workerPid, hint } = await program.line('the warning', isWarning);
  assert.deepEqual([level, pid], [40, program.pid]);
  assert.ok(workerPids(program).includes(Number(workerPid)));
  assert.match(String(hint), /^call lameduck\(server\) in the workers, or start .* --import lameduck\/register: /);
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, endedWell);
  assert.equal(program.lines.filter(isWarning).length, 1);
});

test('P-071 if the primary of a cluster has no lifecycle, a worker warns that its shutdown will lose requests, even if the primary forwards the process signal', async (t) => {
  const program = disposed(t, new ProcessUnderTest('runs-a-cluster.ts', { OWN_PORTS: 'off off' }));
  const { level, pid, hint } = await program.line('the warning', ({ msg }) => msg === 'primary has no lifecycle');
  assert.equal(level, 40);
  assert.notEqual(pid, program.pid);
  assert.match(String(hint), /^call lameduck\(\[\]\) in the primary, or .* forwards SIGTERM, requests are still lost$/);
});

for (const [how, env] of [
  ['SCHED_NONE', { NODE_CLUSTER_SCHED_POLICY: 'none' }],
  ['workers that each have a listening socket', { EXCLUSIVE: '1' }],
] as const) {
  test(`P-071 with ${how}, a cluster primary under lameduck/register exits only after its workers have sent all their responses`, async (t) => {
    const settings = { UNDER_REGISTER: '1', WORKERS: '1', LAMEDUCK_SHUTDOWN_DELAY_DURATION: '1s' };
    const program = disposed(t, new ProcessUnderTest('runs-a-group.ts', { ...registered(settings), ...env }));
    const { port } = await program.line('a listening worker', ({ msg }) => msg === 'worker listens');
    const request = await HeldRequest.open(t, Number(port));
    const isReady = ({ name, pid }: Line): boolean => name === 'HasBeenReady' && pid === program.pid;
    await program.line('the readiness of the primary', isReady);
    program.kill('SIGTERM');
    await program.signaled('AfterShutdownDelayDuration');
    assert.equal(await request.release(), 'served');
    assert.deepEqual(await program.exit, endedWell, program.output);
    const { workers } = await finalLine(program);
    assert.deepEqual([workers[0]?.exitCode, workers[0]?.signal], [0, null]);
  });
}

test('P-071 if the program saved cluster.fork() before lameduck replaced it, and calls it during the shutdown, the new worker is killed, and the primary does not wait for it', async (t) => {
  const program = await start(t, { COPIED_FORK: '1' });
  const workers = workerPids(program);
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, endedWell, program.output);
  assert.ok(program.lines.some(({ msg, isDead }) => msg === 'forked again' && isDead === false));
  assert.deepEqual(workerPids(program), workers);
  assert.deepEqual(new Set((await finalLine(program)).workers.map(({ pid }) => pid)), new Set(workers));
});

test('P-071 a cluster worker that is alive after its own shutdown gets the process signal that the primary receives', async (t) => {
  const program = await start(t, { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '0s' });
  const port = await program.port();
  await probe(port, '/shutdown');
  await program.line('the shutdown of a worker', ({ msg }) => msg === 'ended by hand');
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, endedWell);
  const { workers } = await finalLine(program);
  const endOf = (reason: string): unknown[] =>
    workers.filter(({ record }) => record?.reason === reason).map(({ exitCode, signal }) => [exitCode, signal]);
  assert.deepEqual(endOf('SIGTERM'), [[0, null]]);
  assert.deepEqual(endOf('by hand'), [[null, 'SIGTERM']]);
});

test('P-071 if a cluster worker is already shutting down when the primary receives the process signal, the worker completes that shutdown and then exits', async (t) => {
  const program = await start(t, { WORKERS: '1', LAMEDUCK_SHUTDOWN_DELAY_DURATION: '0s' });
  const port = await program.port();
  const request = await HeldRequest.open(t, port);
  await probe(port, '/shutdown');
  const begun = (): Line[] => program.lines.filter(({ name }) => name === 'ShutdownInitiated');
  await until(() => begun().length === 1);
  program.kill('SIGTERM');
  await until(() => begun().length === 2);
  assert.equal(await request.release(), 'served');
  assert.deepEqual(await program.exit, endedWell);
  const [worker] = (await finalLine(program)).workers;
  assert.deepEqual([worker?.record?.reason, worker?.exitCode, worker?.signal], ['by hand', null, 'SIGTERM']);
});
