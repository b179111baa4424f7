// Tests on a real process that a server does what Kubernetes expects of a container during the termination of its pod.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { disposed } from '../../support/disposed.ts';
import { HeldRequest } from '../../support/held-request.ts';
import { Prober, runProbe } from '../../support/kubelet-prober.ts';
import { probe } from '../../support/probe-client.ts';
import { ProbedProcess } from '../../support/probed-process.ts';
import { ProcessUnderTest } from '../../support/process-under-test.ts';

const pod = { fixture: 'runs-in-a-pod.ts' };
const endedWell = { code: 0, signal: null };
const closed = ['closed: opened-last', 'closed: opened-first'];

async function dial(t: TestContext, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

const said = (program: ProcessUnderTest): unknown[] => program.lines.map(({ msg, name }) => name ?? msg);

test('K-198, K-203, K-208, K-215 after SIGTERM, readiness probes fail, liveness probes pass, every request is served, and no connection is reset', async (t) => {
  const program = await ProbedProcess.start(t, { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '1s' }, pod);
  const port = await program.port();
  const created = await HeldRequest.open(t, port, '/created');
  const events = await fetch(`http://127.0.0.1:${String(port)}/events`, { headers: { Accept: 'text/event-stream' } });
  const socket = new WebSocket(`ws://127.0.0.1:${String(port)}/socket`);
  await once(socket, 'open');
  const goodbye = once(socket, 'close') as Promise<[CloseEvent]>;
  const prober = (kind: 'liveness' | 'readiness', path: string): Prober =>
    new Prober({
      kind,
      action: { port: program.probePort, path, timeoutSeconds: 10 },
      period: 20,
      failureThreshold: 1,
    });
  const liveness = prober('liveness', '/livez').start();
  program.kill('SIGTERM');
  await program.signaled('ShutdownInitiated');
  const readiness = prober('readiness', '/readyz').start();
  await program.signaled('HTTPServerStoppedListening');
  assert.equal(
    await created.release(),
    'created',
    'a request that arrived before the listener closed completes as usual',
  );
  assert.match(created.head, /^HTTP\/1\.1 201 Created\r\nConnection: close\r\n/);
  assert.match(await events.text(), /^data: 1\n\nretry: \d+\n\n?$/);
  assert.equal((await goodbye)[0].code, 1001);
  await program.signaled('InFlightRequestsDrained');
  await Promise.all([liveness.stop(), readiness.stop()]);
  assert.deepEqual(await program.exit, endedWell);

  // The last liveness probe and the last readiness probe may fail because the listening socket has closed. The test
  // ignores such probes, which have no HTTP status.
  const results = (of: Prober): unknown[] => [
    ...new Set(of.outcomes.filter(({ status }) => status).map(({ result }) => result)),
  ];
  assert.deepEqual([results(liveness), results(readiness)], [['success'], ['failure']]);
  const order = [
    'ShutdownInitiated',
    'AfterShutdownDelayDuration',
    'NotAcceptingNewRequest',
    'HTTPServerStoppedListening',
    'InFlightRequestsDrained',
    ...closed,
    'shutdown ended',
  ];
  const happened = said(program);
  assert.deepEqual(
    happened.filter((what) => order.includes(String(what))),
    order,
  );
  assert.ok(happened.indexOf('state flushed') < happened.indexOf('AfterShutdownDelayDuration'));
  assert.equal(happened.at(-1), 'shutdown ended');
});

test('K-204 the server serves every new connection during the shutdown delay', async (t) => {
  const program = disposed(t, new ProcessUnderTest('runs-in-a-pod.ts', { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '3s' }));
  const port = await program.ready();
  program.kill('SIGTERM');
  await program.signaled('ShutdownInitiated');
  const since = performance.now();
  const asked: Promise<string>[] = [];
  while (performance.now() - since < 1_500) {
    asked.push(probe(port, '/').then(({ status, body }) => `${String(status)} ${body}`, String));
    await pause(10);
  }
  assert.deepEqual([...new Set(await Promise.all(asked))], ['200 served\n']);
  assert.ok(asked.length > 20, String(asked.length));
  assert.equal((await program.finalLine())['exitCode'], 0);
});

test('K-205 during the drain, a readiness probe with exclude=shutdown passes; without this parameter, the probe fails and its response names the check `shutdown`', async (t) => {
  const program = await ProbedProcess.start(t, { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '3s' }, pod);
  program.kill('SIGTERM');
  await program.signaled('ShutdownInitiated');
  for (const port of [await program.port(), program.probePort]) {
    const held = await runProbe({ port, path: '/readyz?exclude=shutdown', timeoutSeconds: 5 });
    assert.deepEqual([held.result, held.output], ['success', 'ok']);
    assert.match((await probe(port, '/readyz')).body, /^\[-\]shutdown failed: reason withheld$/m);
  }
  assert.deepEqual(await program.exit, endedWell);
});

// Settings with which the shutdown budget is 2 s.
const shortGrace = {
  LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '4',
  LAMEDUCK_DESTROY_HOOK_TIMEOUT: '500ms',
  LAMEDUCK_PRE_SHUTDOWN_HOOK_TIMEOUT: '500ms',
};

test('K-206 silent, half-open and keep-alive connections do not delay the exit', async (t) => {
  const program = disposed(t, new ProcessUnderTest('runs-in-a-pod.ts', shortGrace));
  const port = await program.ready();
  for (const bytes of ['', 'GET / HT', 'GET / HTTP/1.1\r\nHost: a\r\n', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n']) {
    const socket = await dial(t, port);
    if (bytes !== '') socket.write(bytes);
    if (bytes.endsWith('\r\n\r\n')) await once(socket, 'data');
  }
  const since = performance.now();
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, endedWell);
  assert.ok(performance.now() - since < 4_000, String(performance.now() - since));
});

test('K-206, K-207 at the end of the shutdown budget, two seconds before SIGKILL, open requests are logged and cut, and the exit code is 80', async (t) => {
  const program = disposed(t, new ProcessUnderTest('runs-in-a-pod.ts', shortGrace));
  const port = await program.ready();
  const socket = await dial(t, port);
  socket.write('GET /never HTTP/1.1\r\nHost: a\r\n\r\n');
  await program.line('the request', ({ msg }) => msg === 'never');
  const slow = await dial(t, port);
  slow.write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(slow, 'readable');
  const since = performance.now();
  program.kill('SIGTERM');
  const { code } = await program.exit;
  const took = performance.now() - since;
  assert.equal(code, 80);
  assert.ok(took < 4_000, `the kubelet would have sent SIGKILL, because the process ended after ${String(took)} ms`);
  const { unfinished, budgetMs, durationMs } = await program.finalLine();
  assert.deepEqual(
    (unfinished as { route: string }[]).map(({ route }) => route).toSorted((a, b) => a.localeCompare(b)),
    ['/large', '/never'],
  );
  assert.equal(budgetMs, 2_000);
  assert.ok(Number(durationMs) >= 1_000, String(durationMs));
  assert.deepEqual(
    said(program).filter((what) => closed.includes(String(what))),
    closed,
  );
});

test('K-209 a connection that the kubelet has opened for an HTTP preStop hook, and that stays open, does not delay the exit of the process', async (t) => {
  const program = disposed(t, new ProcessUnderTest('runs-in-a-pod.ts'));
  const socket = await dial(t, await program.ready());
  const lifecycle = 'Host: 10.0.0.1:8080\r\nUser-Agent: kube-lifecycle/1.36\r\nAccept-Encoding: gzip\r\n';
  for (let count = 0; count < 2; count++) {
    socket.write(`GET /prestop HTTP/1.1\r\n${lifecycle}\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.match(answer.toString(), /^HTTP\/1\.1 200 OK\r\n[^]*served\n/);
  }
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, endedWell);
  assert.ok(Number((await program.finalLine())['durationMs']) < 3_000);
});

test('K-214 a process with a thousand idle connections drains within a shutdown budget of two seconds', async (t) => {
  const program = disposed(t, new ProcessUnderTest('runs-in-a-pod.ts', shortGrace));
  const port = await program.ready();
  const ended: Promise<unknown>[] = [];
  for (let count = 0; count < 1_000; count++) {
    const socket = await dial(t, port);
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(socket, 'data');
    socket.resume();
    ended.push(once(socket, 'close'));
  }
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, endedWell);
  await Promise.all(ended);
  const { requests, unfinished } = await program.finalLine();
  assert.deepEqual(
    { requests, unfinished },
    { requests: { answered: 0, refused: 0, aborted: 0, cut: 0 }, unfinished: [] },
  );
});

test('K-214 a process that is killed during its shutdown delay has already saved its state', async (t) => {
  const program = disposed(t, new ProcessUnderTest('runs-in-a-pod.ts', { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '10s' }));
  await program.ready();
  program.kill('SIGTERM');
  await program.line('its state', ({ msg }) => msg === 'state flushed');
  program.kill('SIGKILL');
  assert.deepEqual(await program.exit, { code: null, signal: 'SIGKILL' });
  assert.ok(!said(program).includes('AfterShutdownDelayDuration'));
});
