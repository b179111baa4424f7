// The end of the probe thread, with those that it still serves.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { passed } from '../../src/health/endpoint.ts';
import type { Answer } from '../../src/message.ts';
import { ProbePort } from '../../src/probe-worker/probe-port.ts';
import { completeSettings } from '../../src/settings/complete.ts';
import { freePort, probe } from '../support/probe-client.ts';

/** listening is a probe port of this process, and where it listens. */
async function listening(
  t: TestContext,
  answer: () => Promise<Answer>,
): Promise<{ readonly port: number; readonly probePort: ProbePort }> {
  const port = await freePort();
  const { promise, resolve } = Promise.withResolvers<string>();
  const probePort = new ProbePort({
    settings: completeSettings({ probePort: port }, {}).settings,
    ...{ clock: systemClock, answer, shutdown: () => undefined },
    ...{ onListening: resolve, onFailure: assert.ifError, onStallEnd: () => undefined },
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
