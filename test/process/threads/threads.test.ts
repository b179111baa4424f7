// Tests worker threads with a lifecycle. Node delivers process signals only to the main thread, which notifies the
// workers and waits for them.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { disposed } from '../../support/disposed.ts';
import { registered } from '../../support/under-register.ts';
import { HeldRequest } from '../../support/held-request.ts';
import { probe } from '../../support/probe-client.ts';
import { reservePort } from '../../support/reserved-port.ts';
import { ProcessUnderTest, type Line } from '../../support/process-under-test.ts';
import { until } from '../../support/until.ts';

const endedWell = { code: 0, signal: null };

interface ThreadEnd {
  readonly threadId: number;
  readonly exitCode: number;
  readonly record?: { readonly reason: string; readonly requests: { readonly answered: number; readonly cut: number } };
}

interface Threads {
  readonly program: ProcessUnderTest;
  readonly ports: readonly number[];
}

async function start(t: TestContext, env: Readonly<Record<string, string>> = {}): Promise<Threads> {
  const program = disposed(t, new ProcessUnderTest('serves-in-threads.ts', env));
  const listening = (): Line[] => program.lines.filter(({ msg }) => msg === 'listening');
  await until(() => listening().length === 2);
  return { program, ports: listening().map(({ port }) => Number(port)) };
}

/**
 * Waits for the exit of the process. Returns the final log lines of the threads, which are part of the main thread's
 * final log line.
 */
async function endsOf(program: ProcessUnderTest): Promise<readonly ThreadEnd[]> {
  await program.exit;
  const isOfMainThread = ({ schema, threadId }: Line): boolean =>
    schema === 'lameduck/shutdown/v1' && threadId === undefined;
  const line = program.lines.find(isOfMainThread);
  assert.ok(line !== undefined, program.output);
  return (line['threads'] ?? []) as readonly ThreadEnd[];
}

/**
 * Sends probes of /readyz to `port` until the response has `status`. After a worker thread has started, /readyz can fail
 * for some time: it fails until the first answer of the thread has arrived.
 */
async function readyzHas(status: number, port: number): Promise<void> {
  while ((await probe(port, '/readyz')).status !== status);
}

const count = (program: ProcessUnderTest, matches: (line: Line) => boolean): number =>
  program.lines.filter(matches).length;

for (const [when, env] of [
  ['before', {}],
  ['after', { THREADS_FIRST: '1' }],
] as const) {
  test(`P-072 the main thread waits until its worker threads have also shut down, whether the program started them before or after the call of lameduck([]): ${when}`, async (t) => {
    const { program, ports } = await start(t, env);
    const request = await HeldRequest.open(t, ports[0] ?? 0);
    program.kill('SIGTERM');
    await until(() => count(program, ({ name }) => name === 'HTTPServerStoppedListening') === 3);
    assert.equal(await request.release(), 'served');
    assert.deepEqual(await program.exit, endedWell, program.output);
    const ends = await endsOf(program);
    assert.deepEqual(
      ends.map(({ exitCode, record }) => [exitCode, record?.reason, record?.requests.cut]),
      Array.from({ length: 2 }, () => [0, 'SIGTERM', 0]),
    );
    assert.equal(
      ends.reduce((sum, { record }) => sum + (record?.requests.answered ?? 0), 0),
      1,
    );
    for (const { threadId } of ends)
      for (const message of ['pool ended', 'own listener', 'shutdown ended'])
        assert.equal(
          count(program, (line) => line.msg === message && line['threadId'] === threadId),
          1,
          message,
        );
    // The message listeners of lameduck must not keep a worker thread alive. So no thread may have logged that its
    // event loop is not empty.
    assert.deepEqual(
      count(program, ({ msg }) => msg === 'event loop not empty'),
      0,
    );
  });
}

test('P-072 the main thread opens the probe port, and worker threads do not', async (t) => {
  const port = await reservePort();
  const { program } = await start(t, { LAMEDUCK_PROBE_PORT: String(port) });
  await program.line('probe port', ({ msg }) => msg === 'probe port listens');
  await readyzHas(200, port);
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, endedWell, program.output);
  assert.equal(
    count(program, ({ msg }) => msg === 'probe port listens'),
    1,
  );
  assert.equal(
    count(program, ({ level }) => Number(level) > 30),
    0,
    program.output,
  );
});

test('P-072 /readyz of the main thread fails while a worker thread with a server is not ready', async (t) => {
  const port = await reservePort();
  const { program, ports } = await start(t, { LAMEDUCK_PROBE_PORT: String(port) });
  await program.line('probe port', ({ msg }) => msg === 'probe port listens');
  await readyzHas(200, port);
  assert.match((await probe(port, '/readyz?verbose')).body, /^\[\+\]worker-threads ok$/m);
  for (const [path, status] of [
    ['/unready', 500],
    ['/ready', 200],
  ] as const) {
    await probe(ports[1] ?? 0, path);
    await readyzHas(status, port);
    assert.equal((await probe(port, '/livez')).status, 200);
  }
});

test('P-072 while a worker thread is blocked, /readyz of the main thread uses the last answer of the worker thread', async (t) => {
  const port = await reservePort();
  const { program, ports } = await start(t, { LAMEDUCK_PROBE_PORT: String(port) });
  await program.line('probe port', ({ msg }) => msg === 'probe port listens');
  await readyzHas(200, port);
  await assert.rejects(probe(ports[0] ?? 0, '/block', { patience: 100 }));
  await assert.rejects(probe(ports[0] ?? 0, '/', { patience: 100 }));
  const { status, headers } = await probe(port, '/readyz/worker-threads');
  assert.deepEqual([status, headers['age']], [200, undefined]);
});

test('P-072 only the main thread writes the checkpoint file, and a worker thread logs that it writes none', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'lameduck-threads-'));
  t.after(() => {
    rmSync(folder, { recursive: true });
  });
  const path = join(folder, 'checkpoint.json');
  const { program } = await start(t, { LAMEDUCK_CHECKPOINT_PATH: path });
  const { err } = await program.line('the failure', ({ msg }) => msg === 'checkpoint failed');
  assert.match((err as Error).message, /only the main thread of a process/);
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, endedWell, program.output);
  assert.equal(
    count(program, ({ msg }) => msg === 'checkpoint failed'),
    2,
  );
  assert.match(readFileSync(path, 'utf8'), /"phase":"Exited","cleanExit":true/);
});

test('P-072 the main thread does not wait for a worker thread whose lifecycle has already ended', async (t) => {
  const { program, ports } = await start(t);
  await assert.rejects(probe(ports[0] ?? 0, '/shutdown', { patience: 10_000 }));
  await program.line('the end of the thread', ({ msg }) => msg === 'shutdown ended');
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, endedWell, program.output);
  assert.equal((await endsOf(program)).length, 1);
});

test('P-072 if a worker thread is blocked at the end of the drain, the process exits with code 80, and this exit ends the blocked thread', async (t) => {
  const { program, ports } = await start(t, {
    LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '7',
    LAMEDUCK_DESTROY_HOOK_TIMEOUT: '500ms',
  });
  void probe(ports[0] ?? 0, '/block', { patience: 100 }).catch(() => undefined);
  await assert.rejects(probe(ports[0] ?? 0, '/', { patience: 100 }));
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, { code: 80, signal: null }, program.output);
  assert.equal((await endsOf(program)).length, 1);
  const isUnfinished = ({ msg, method }: Line): boolean =>
    msg === 'request without an answer' && method === 'worker threads';
  assert.equal(count(program, isUnfinished), 1, program.output);
});

test('P-072 the main thread does not wait for a worker thread that was terminated', async (t) => {
  const { program, ports } = await start(t);
  await assert.rejects(probe(ports[0] ?? 0, '/terminate', { patience: 10_000 }));
  await until(() => count(program, ({ msg }) => msg === 'terminated') === 1);
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, endedWell, program.output);
  assert.equal((await endsOf(program)).length, 1);
});

test('P-072 without a lifecycle in the main thread, each worker thread logs that it receives no process signals', async (t) => {
  const { program } = await start(t, { ALONE: '1' });
  const isWarning = ({ msg }: Line): boolean => msg?.startsWith('a worker thread receives no process signals') === true;
  await until(() => count(program, isWarning) === 2);
  assert.equal(
    count(program, ({ level }) => level === 40),
    2,
  );
});

test('P-072 under lameduck/register, a worker thread that calls lameduck() shuts down together with the server of the main thread', async (t) => {
  const { program, ports } = await start(t, registered({ ALONE: '1', SERVES: '1' }));
  const request = await HeldRequest.open(t, ports[0] ?? 0);
  program.kill('SIGTERM');
  await until(() => count(program, ({ name }) => name === 'HTTPServerStoppedListening') === 3);
  assert.equal(await request.release(), 'served');
  await program.exit;
  assert.equal((await endsOf(program)).length, 2);
});
