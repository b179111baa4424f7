// Tests a primary of node:cluster with its workers. They share the process signal, the probe port and the final line.
// ROUNDS is the number of shutdowns under load.
import assert from 'node:assert/strict';
import { describe, it, test, type TestContext } from 'node:test';
import { get, newAccount, post, runClient } from './support/closed-loop-client.ts';
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

/** Starts the fixture with a primary, and resolves when its workers have been ready. */
async function start(t: TestContext, env: Readonly<Record<string, string>> = {}): Promise<ProcessUnderTest> {
  const program = disposed(t, new ProcessUnderTest('runs-a-group.ts', { WORKERS: '2', ...env }));
  await program.port();
  const ready = (): Line[] => program.lines.filter(({ name }) => name === 'HasBeenReady');
  const workers = Number(env['WORKERS'] ?? 2);
  if (env['BARE'] === undefined) await until(() => ready().length === workers + 1);
  return program;
}

/** The final line of the primary, after its exit. */
async function finalLine(program: ProcessUnderTest): Promise<Line & { readonly workers: readonly WorkerEnd[] }> {
  await program.exit;
  const line = program.lines.find(({ schema, pid }) => schema === 'lameduck/shutdown/v1' && pid === program.pid);
  assert.ok(line !== undefined, program.output);
  return line as Line & { readonly workers: readonly WorkerEnd[] };
}

const workerPids = (program: ProcessUnderTest): number[] =>
  program.lines.filter(({ msg }) => msg === 'worker listens').map(({ pid }) => Number(pid));

for (const [who, env] of [
  ['lameduck([]) in the primary', {}],
  ['lameduck/register', registered({ UNDER_REGISTER: '1' })],
] as const) {
  describe(`a primary of node:cluster, ${who}`, () => {
    for (let round = 1; round <= rounds; round++) {
      it('P-071 thirty closed-loop clients lose no request at SIGTERM to a primary with four workers', async (t) => {
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

    it('P-071 the primary waits for the request in flight of a worker, and replaces no worker', async (t) => {
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

    it('P-071 the primary serves the probe port for its workers, and is ready when one of them is', async (t) => {
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

test('P-057, P-071 a signal that a terminal sends to the primary and its workers counts once', async (t) => {
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

test('P-071, P-118 the primary fails /livez while the event loop of a worker is blocked, and stays ready because of the other worker', async (t) => {
  const port = await reservePort();
  const env = { LAMEDUCK_PROBE_PORT: String(port), LAMEDUCK_LIVEZ_EVENT_LOOP_STALL_LIMIT: '6s' };
  const program = await start(t, env);
  await until(() => program.lines.some(({ msg }) => msg === 'probe port listens'));
  await probe(await program.port(), '/block', { patience: 100 }).catch(() => undefined);
  const isFailing = ({ msg, check }: Line): boolean => msg === 'check fails' && check === 'worker-event-loops';
  while (!program.lines.some(isFailing)) await probe(port, '/livez');
  assert.equal((await probe(port, '/readyz')).status, 200);
});

test('P-071 a worker whose handler never ends is ended within the budget of the primary', async (t) => {
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

test('P-071 a worker without a lifecycle gets the signal, and the primary waits for its end', async (t) => {
  const program = await start(t, { BARE: '1' });
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, endedWell);
  const { workers } = await finalLine(program);
  assert.deepEqual(
    workers.map(({ exitCode, signal }) => [exitCode, signal]),
    Array.from({ length: 2 }, () => [null, 'SIGTERM']),
  );
});

test('P-071 a worker that is still alive after its own shutdown is sent the process signal that the primary receives', async (t) => {
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
