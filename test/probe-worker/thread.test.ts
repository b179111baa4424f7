// Tests how the probe thread ends, and which probes still get a response after that.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { systemClock } from '../../src/clock.ts';
import { passed } from '../../src/health/endpoint.ts';
import type { Answer } from '../../src/message.ts';
import { ProbePort } from '../../src/probe-worker/probe-port.ts';
import { completeSettings } from '../../src/settings/complete.ts';
import { disposed } from '../support/disposed.ts';
import { probe } from '../support/probe-client.ts';
import { reservePort } from '../support/reserved-port.ts';
import { registered } from '../support/under-register.ts';
import { ProcessUnderTest, type Line } from '../support/process-under-test.ts';

function unexpected(error: unknown): never {
  throw error;
}

/** `listening()` starts a probe port in this process, and resolves with its address. */
async function listening(
  t: TestContext,
  answer: (url: string) => Answer | Promise<Answer> | undefined,
  onFailure: (error: Error) => void = assert.ifError,
  onThreadFailure: (error: unknown) => (address: string) => void = unexpected,
): Promise<{ readonly port: number; readonly probePort: ProbePort }> {
  const port = await reservePort();
  const { promise, resolve } = Promise.withResolvers<string>();
  let onListening: (address: string) => void = resolve;
  const probePort = new ProbePort({
    settings: completeSettings({ probePort: port }, {}).settings,
    clock: systemClock,
    answer,
    shutdown: () => undefined,
    onListening: (address) => {
      onListening(address);
    },
    onThreadFailure: (error) => {
      onListening = onThreadFailure(error);
    },
    onFailure,
    onStallEnd: () => undefined,
  });
  // The probe thread does not keep its process alive, so it does not keep this test alive either.
  const holding = setInterval(() => undefined, 1_000);
  t.after(async () => {
    clearInterval(holding);
    await probePort.release();
  });
  probePort.open();
  await promise;
  return { port, probePort };
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

test('P-079 if the probe thread ends before it has answered a probe, the probe still gets its response from the main thread', async (t) => {
  const asked = Promise.withResolvers<undefined>();
  const answered = Promise.withResolvers<Answer>();
  const { port, probePort } = await listening(t, () => {
    asked.resolve(undefined);
    return answered.promise;
  });
  const probing = probe(port, '/readyz');
  await asked.promise;
  probePort.close();
  while (await isListening(port));
  answered.resolve({ ...passed, body: 'the last answer' });
  assert.equal((await probing).body, 'the last answer');
});

test('a connection that has sent only a part of its request delays the end of the probe thread by at most one second', async (t) => {
  const { port, probePort } = await listening(t, () => Promise.resolve(passed));
  const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined);
  socket.write('GET /livez HTTP/1.1\r\n');
  // The probe thread accepts connections in the order in which clients open them. `socket` connected before the probe
  // of /livez. So when the probe thread has answered this probe, it has also accepted `socket`.
  await probe(port, '/livez');
  const closed = once(socket, 'close');
  const since = performance.now();
  probePort.close();
  await closed;
  const took = performance.now() - since;
  assert.ok(took > 900 && took < 4_000, String(took));
});

for (const [what, end, message] of [
  ['is ended by the program', (thread: Worker) => void thread.terminate(), /^the probe thread has ended$/],
  [
    'fails',
    (thread: Worker) => {
      // The probe thread reads a property of each message, so it throws when it receives the message null.
      thread.postMessage(null);
    },
    /^Cannot read properties of null/,
  ],
] as const) {
  test(`if the probe thread ${what}, the main thread serves the probe port instead, and the failure of the probe thread is reported one time`, async (t) => {
    const failures: unknown[] = [];
    const again = Promise.withResolvers<string>();
    const made = once(process, 'worker') as Promise<[Worker]>;
    const { port } = await listening(
      t,
      (url) => (url === '/livez' ? { ...passed, body: 'from the main thread' } : undefined),
      assert.ifError,
      (error) => {
        failures.push(error);
        return again.resolve;
      },
    );
    const [thread] = await made;
    end(thread);
    await again.promise;
    assert.equal((await probe(port, '/livez')).body, 'from the main thread');
    assert.equal((await probe(port, '/nothing')).status, 404);
    assert.equal(failures.length, 1);
    assert.match((failures[0] as Error).message, message);
  });
}

void describe('a process that may not start a thread serves the probe port in its main thread', () => {
  // In a version of Node that knows --allow-net, a process that is started with --permission but without --allow-net cannot
  // listen.
  const network = ['--allow-net'].filter((flag) => process.allowedNodeEnvironmentFlags.has(flag));
  const flags = ['--permission', '--allow-fs-read=*', ...network];
  const warning = ({ msg }: Line): boolean => msg === 'probe thread failed';

  test('a process that is not permitted to start a thread serves the probe port in its main thread, with a warning', async (t) => {
    const port = await reservePort();
    const env = { LAMEDUCK_PROBE_PORT: String(port), LAMEDUCK_SHUTDOWN_DELAY_DURATION: '1s' };
    const program = disposed(t, new ProcessUnderTest('listens.ts', env, flags));
    const { level, err } = await program.line('the warning', warning);
    assert.equal(level, 40);
    assert.match((err as Error).message, /--allow-worker/);
    await program.line('the probe port', ({ msg }) => msg === 'probe port listens');
    assert.equal((await probe(port, '/readyz')).status, 200);
    program.kill('SIGTERM');
    await program.line('the signal', ({ name }) => name === 'ShutdownInitiated');
    assert.equal((await probe(port, '/readyz')).status, 500);
    assert.equal((await probe(port, '/livez')).status, 200);
    assert.deepEqual(await program.exit, { code: 0, signal: null });
  });

  test('if the probe port is in use, a process exits with 82, even if it is not permitted to start a thread', async (t) => {
    const taken = createServer().listen(0);
    t.after(() => taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const program = disposed(t, new ProcessUnderTest('listens.ts', { LAMEDUCK_PROBE_PORT: String(port) }, flags));
    assert.deepEqual(await program.exit, { code: 82, signal: null });
    assert.match(program.stderr, /LameduckError: probePort \d+: unable to listen: .*EADDRINUSE/);
  });

  test('with lameduck/register, a process that is not permitted to start a thread also serves the probe port in its main thread', async (t) => {
    const port = await reservePort();
    const env = registered({ LAMEDUCK_PROBE_PORT: String(port), IDIOM: 'exits at once' });
    const program = disposed(t, new ProcessUnderTest('knows-nothing.ts', env, flags));
    await program.line('the warning', warning);
    await program.line('the probe port', ({ msg }) => msg === 'probe port listens');
    assert.equal((await probe(port, '/readyz')).status, 200);
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, { code: 4, signal: null });
  });
});
