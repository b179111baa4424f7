// The end of the probe thread, with those that it still serves.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { systemClock } from '../../src/clock.ts';
import { passed } from '../../src/health/endpoint.ts';
import type { Answer } from '../../src/message.ts';
import { ProbePort } from '../../src/probe-worker/probe-port.ts';
import { completeSettings } from '../../src/settings/complete.ts';
import { disposed } from '../support/disposed.ts';
import { freePort, probe } from '../support/probe-client.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';

/** listening is a probe port of this process, and where it listens. */
async function listening(
  t: TestContext,
  answer: () => Promise<Answer>,
  onFailure: (error: Error) => void = assert.ifError,
): Promise<{ readonly port: number; readonly probePort: ProbePort }> {
  const port = await freePort();
  const { promise, resolve } = Promise.withResolvers<string>();
  const probePort = new ProbePort({
    settings: completeSettings({ probePort: port }, {}).settings,
    ...{ clock: systemClock, answer, shutdown: () => undefined },
    ...{ onListening: resolve, onFailure, onStallEnd: () => undefined },
  });
  // The thread holds nothing, not even a test.
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

test('P-079 what has been asked when the thread is told to end is answered by the main thread all the same', async (t) => {
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

test('a connection on which half a request has come keeps the thread for a second, and no longer', async (t) => {
  const { port, probePort } = await listening(t, () => Promise.resolve(passed));
  const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined);
  socket.write('GET /livez HTTP/1.1\r\n');
  // Behind it, so that the thread has seen the other.
  await probe(port, '/livez');
  const closed = once(socket, 'close');
  const since = performance.now();
  probePort.close();
  await closed;
  const took = performance.now() - since;
  assert.ok(took > 900 && took < 4_000, String(took));
});

for (const [what, end, message] of [
  ['is ended by the program', (thread: Worker) => void thread.terminate(), /: the probe thread has ended$/],
  [
    'fails',
    (thread: Worker) => {
      // It reads what it is sent.
      thread.postMessage(null);
    },
    /: Cannot read properties of null/,
  ],
] as const) {
  test(`a thread that ${what} is said once`, async (t) => {
    const failures: string[] = [];
    const made = once(process, 'worker') as Promise<[Worker]>;
    await listening(
      t,
      () => Promise.resolve(passed),
      (error) => failures.push(error.message),
    );
    const [thread] = await made;
    const ended = new Promise((resolve) => thread.once('exit', resolve));
    end(thread);
    await ended;
    assert.equal(failures.length, 1);
    assert.match(failures[0] ?? '', message);
  });
}

test('a process that may have no thread ends with code 82, and is told why', async (t) => {
  const env = { LAMEDUCK_PROBE_PORT: String(await freePort()) };
  // A Node that knows the flag lets nobody listen without it.
  const network = ['--allow-net'].filter((flag) => process.allowedNodeEnvironmentFlags.has(flag));
  const flags = ['--permission', '--allow-fs-read=*', ...network];
  const program = disposed(t, new ProcessUnderTest('listens.ts', env, flags));
  assert.deepEqual(await program.exit, { code: 82, signal: null });
  assert.match(program.stderr, /LameduckError: probePort \d+: there is no probe port: .*--allow-worker/);
});
