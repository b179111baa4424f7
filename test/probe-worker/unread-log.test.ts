// Tests the probe port of a process whose log is no longer read, so that its main thread may block on a write.
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makePipe, type Pipe } from '../support/full-pipe.ts';
import { probe } from '../support/probe-client.ts';
import { reservePort } from '../support/reserved-port.ts';
import { until } from '../support/until.ts';

const fixture = fileURLToPath(new URL('../fixtures/blocks-for-a-while.ts', import.meta.url));

interface Unread {
  readonly program: ChildProcess;
  readonly pipe: Pipe;
  readonly probePort: number;
  readonly port: number;
  /**
   * Reads the output of the test program until `pattern` matches, and resolves with the text of the first capture
   * group.
   */
  readonly said: (pattern: RegExp) => Promise<string>;
}

/**
 * startUnread starts the fixture with a pipe as its standard output. It stops reading the pipe when the fixture is
 * ready.
 */
async function startUnread(t: TestContext, limits: Readonly<Record<string, string>>): Promise<Unread> {
  const pipe = makePipe(t);
  const probePort = await reservePort();
  const env = { ...process.env, ...limits, LAMEDUCK_PROBE_PORT: String(probePort) };
  const program = spawn(process.execPath, [fixture], { env, stdio: ['ignore', pipe.written, 'inherit'] });
  closeSync(pipe.written);
  t.after(() => program.kill('SIGKILL'));
  let text = '';
  const said = async (pattern: RegExp): Promise<string> => {
    await until(() => pattern.test((text += pipe.read())));
    return pattern.exec(text)?.[1] ?? '';
  };
  await said(/"msg":"(probe port listens)"/);
  const port = Number(await said(/"msg":"listening","port":(\d+)/));
  await said(/(HasBeenReady)/);
  assert.equal((await probe(probePort, '/readyz')).status, 200);
  return { program, pipe, probePort, port, said };
}

/** `failing()` probes /readyz repeatedly, and resolves with the body of the first response that fails. */
async function failing(port: number): Promise<string> {
  const since = performance.now();
  for (;;) {
    const { status, body } = await probe(port, '/readyz');
    if (status === 500) return body;
    if (performance.now() - since > 20_000) throw new Error('/readyz still passes');
  }
}

test('P-118 while the pipe of the log is full, the probe thread tries repeatedly to write the log line about the blocked event loop, and this line never ends up in the middle of another line', async (t) => {
  const limits = { LAMEDUCK_READYZ_EVENT_LOOP_STALL_LIMIT: '1s', LAMEDUCK_LIVEZ_EVENT_LOOP_STALL_LIMIT: '2s' };
  const { pipe, probePort, port, said } = await startUnread(t, limits);
  await probe(port, '/block?ms=60000');
  pipe.fill();
  assert.match(await failing(probePort), /^\[-\]event-loop failed/);
  assert.match(await said(/\n(\{.*"msg":"event loop blocked".*\})\n/), /"stalledMs":1\d{3}/);
});

test('P-077 /readyz fails as soon as the shutdown begins, even if the log line about the shutdown has to wait for a reader of the log', async (t) => {
  const { program, pipe, probePort, said } = await startUnread(t, { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '0s' });
  pipe.fill();
  program.kill('SIGTERM');
  assert.match(await failing(probePort), /^\[-\]shutdown failed/);
  // The test has not read the full pipe of the log so far, so the log line about ShutdownInitiated cannot have been
  // written. `said()` now reads the pipe.
  await said(/("name":"ShutdownInitiated")/);
});
