// Tests the probe port of a process, from its start to its end.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../src/clock.ts';
import type { LameduckError } from '../../src/errors.ts';
import { passed } from '../../src/health/endpoint.ts';
import { silenceBeforeClose } from '../../src/http/drain/drain.ts';
import { ProbePort } from '../../src/probe-worker/probe-port.ts';
import { completeSettings } from '../../src/settings/complete.ts';
import { disposed } from '../support/disposed.ts';
import { probe } from '../support/probe-client.ts';
import { reservePort } from '../support/reserved-port.ts';
import { ProbedProcess } from '../support/probed-process.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';

const endedWell = { code: 0, signal: null };

describe('the probe port serves metrics, and the same responses as the port of the program', { concurrency: 2 }, () => {
  test('P-080 status, headers and body on the probe port equal those on the main port, for every URL', async (t) => {
    const program = await ProbedProcess.start(t);
    const port = await program.port();
    for (const path of [
      '/readyz',
      '/livez',
      '/healthz',
      '/readyz/',
      '/Readyz',
      '/readyz?verbose',
      '/livez?verbose&exclude=ping',
      '/readyz?exclude=none&verbose',
      '/readyz/ping',
      '/readyz/none',
      '/readyz/%70ing',
      '/readyz/%',
      '/livez/ping/',
    ]) {
      const there = await probe(port, path);
      const here = await program.probed(path, ({ headers }) => headers['age'] === undefined);
      for (const headers of [there.headers, here.headers]) delete headers.date;
      assert.deepEqual([here.status, here.headers, here.body], [there.status, there.headers, there.body], path);
      assert.equal((await program.probe(path, { method: 'HEAD' })).status, there.status);
    }
    assert.equal((await program.probe('/')).status, 404);
    assert.equal((await program.probe('/block?ms=1000')).status, 404);
  });

  test('A-042 every endpoint on the probe port has the check event-loop, which can be excluded like any other', async (t) => {
    const program = await ProbedProcess.start(t);
    for (const endpoint of ['readyz', 'livez', 'healthz']) {
      const { body } = await program.probe(`/${endpoint}?verbose&exclude=event-loop`);
      assert.match(body, /^\[\+\]event-loop excluded: ok$/m);
      assert.equal((await program.probe(`/${endpoint}/event-loop`)).status, 200);
    }
  });

  test('the probe port serves metrics even if the port of the program serves none', async (t) => {
    const program = await ProbedProcess.start(t);
    await program.probe('/readyz');
    assert.match((await program.probe('/metrics')).body, /^lameduck_connections 0$/m);
    assert.match((await program.probe('/metrics/slis')).body, /^kubernetes_healthcheck\{name="event-loop",.*\} 1$/m);
    assert.equal((await program.probe('/metrics', { method: 'DELETE' })).status, 405);
    assert.equal((await probe(await program.port(), '/metrics')).body, 'begins\n');
  });

  test('P-093, K-193 the probe port listens on every IPv4 and IPv6 address by default, and the log has the address', async (t) => {
    const program = await ProbedProcess.start(t);
    for (const host of ['127.0.0.1', '::1']) assert.equal((await program.probe('/livez', { host })).status, 200);
    const { address } = await program.line('its address', ({ msg }) => msg === 'probe port listens');
    assert.equal(address, `[::]:${String(program.probePort)}`);
    const local = await ProbedProcess.start(t, { LAMEDUCK_PROBE_HOST: '127.0.0.1' });
    assert.equal((await local.probe('/livez')).status, 200);
    await assert.rejects(local.probe('/livez', { host: '::1' }), { code: 'ECONNREFUSED' });
  });
});

describe('the probe port answers probes until the process exits', () => {
  test('P-077 if the main thread blocks at ShutdownInitiated, /readyz on the probe port fails, and /livez still passes', async (t) => {
    const program = await ProbedProcess.start(t, { BLOCK_AT_SHUTDOWN: '2000' });
    for (const path of ['/readyz', '/livez']) assert.equal((await program.probe(path)).status, 200);
    program.kill('SIGTERM');
    await program.signaled('ShutdownInitiated');
    const since = performance.now();
    while (performance.now() - since < 1_500) {
      const { status, body, headers } = await program.probe('/readyz');
      assert.deepEqual([status, body], [500, '[-]shutdown failed: reason withheld\nreadyz check failed\n']);
      assert.equal(headers['age'], undefined);
      assert.equal((await program.probe('/livez')).status, 200);
      await pause(20);
    }
    assert.deepEqual(await program.exit, endedWell);
  });

  test('P-078, P-079 the probe port serves probes during the shutdown delay, the drain and the destroy hooks, until the process ends', async (t) => {
    const program = await ProbedProcess.start(t, { DESTROY: '1500', LAMEDUCK_SHUTDOWN_DELAY_DURATION: '300ms' });
    const port = await program.port();
    program.kill('SIGTERM');
    await program.signaled('InFlightRequestsDrained');
    await assert.rejects(probe(port, '/livez'), { code: 'ECONNREFUSED' });
    const since = performance.now();
    while (performance.now() - since < 1_000) {
      const [readyz, livez] = await Promise.all([program.probe('/readyz?verbose'), program.probe('/livez')]);
      assert.deepEqual([readyz.status, livez.status], [500, 200]);
      assert.match(readyz.body, /^\[\+\]turned ok\n\[-\]shutdown failed: reason withheld\nreadyz check failed\n$/m);
      await pause(20);
    }
    const { phases } = (await program.finalLine()) as unknown as { phases: Record<string, number> };
    assert.deepEqual(await program.exit, endedWell);
    const { InFlightRequestsDrained: drained = Infinity, NotAcceptingNewRequest: stopped = 0 } = phases;
    assert.ok(drained - stopped < silenceBeforeClose, 'probes must not delay the drain');
    await assert.rejects(program.probe('/livez'), { code: 'ECONNREFUSED' });
  });

  test('P-079 the probe port serves probes for as long as a timer or another handle keeps the process alive after the drain', async (t) => {
    const program = await ProbedProcess.start(t, { HOLD: 'on' });
    program.kill('SIGTERM');
    await program.signaled('InFlightRequestsDrained');
    await pause(500);
    const [readyz, livez] = await Promise.all([program.probe('/readyz'), program.probe('/livez')]);
    assert.deepEqual([readyz.status, livez.status], [500, 200]);
    assert.deepEqual((await program.finalLine())['heldBy'], ['Timeout']);
  });

  test('P-058 the probe thread neither delays the exit of the process nor keeps the process alive', async (t) => {
    const program = await ProbedProcess.start(t);
    const without = disposed(t, new ProcessUnderTest('blocks-for-a-while.ts'));
    await without.ready();
    const end = async (one: ProcessUnderTest): Promise<number> => {
      one.kill('SIGTERM');
      assert.deepEqual(await one.exit, endedWell);
      return performance.now();
    };
    const [end1, end2] = await Promise.all([end(program), end(without)]);
    assert.deepEqual((await program.finalLine())['heldBy'], []);
    assert.ok(end1 - end2 < 900, `the process ended ${String(end1 - end2)} ms later than without a probe thread`);
    const queue = disposed(
      t,
      new ProcessUnderTest('works-a-queue.ts', { LAMEDUCK_PROBE_PORT: String(await reservePort()) }),
    );
    await queue.line('the probe port', ({ msg }) => msg === 'probe port listens');
    queue.kill('SIGTERM');
    assert.deepEqual(await queue.exit, endedWell);
  });

  test('P-070 after a shutdown that does not end the process, the probe thread has ended, and another lifecycle can use the same probe port', async (t) => {
    const port = String(await reservePort());
    const program = disposed(t, new ProcessUnderTest('has-a-probe-port-twice.ts', { LAMEDUCK_PROBE_PORT: port }));
    assert.deepEqual(await program.exit, endedWell);
    assert.equal(program.lines.filter(({ msg }) => msg === 'probe port listens').length, 2, program.output);
    assert.deepEqual(program.lines.at(-1)?.msg, 'answers: 200 200');
  });
});

test('P-119 the probe thread does not start before the servers listen', async (t) => {
  const port = await reservePort();
  const program = disposed(t, new ProcessUnderTest('listens-after-a-while.ts', { LAMEDUCK_PROBE_PORT: String(port) }));
  await program.line('its start', ({ msg }) => msg === 'started');
  await pause(500);
  await assert.rejects(probe(port, '/livez'), { code: 'ECONNREFUSED' });
  program.child.stdin?.write('listen\n');
  await program.line('the probe port', ({ msg }) => msg === 'probe port listens');
  assert.equal((await probe(port, '/livez')).status, 200);
});

test('P-090 an event loop that still handles messages counts as running, even if its timers never fire', async (t) => {
  const port = await reservePort();
  const { promise: listening, resolve } = Promise.withResolvers<string>();
  const stalls: number[] = [];
  const probePort = new ProbePort({
    settings: completeSettings({ probePort: port, readyzEventLoopStallLimit: '1s' }, {}).settings,
    // A clock whose timers never fire simulates a blocked event loop.
    clock: { now: () => systemClock.now(), after: () => () => undefined, afterUnref: () => () => undefined },
    answer: () => passed,
    shutdown: () => undefined,
    onListening: resolve,
    onFailure: assert.ifError,
    onThreadFailure: assert.ifError,
    onStallEnd: (stalledMs) => stalls.push(stalledMs),
  });
  t.after(() => {
    probePort.close();
  });
  probePort.open();
  const holding = setInterval(() => undefined, 1_000);
  await listening;
  await pause(1_500);
  assert.equal((await probe(port, '/readyz')).status, 200);
  clearInterval(holding);
  assert.deepEqual([stalls, probePort.counts.stalls], [[], 0]);
});

test('P-090 each probe on the probe port waits for slow checks, even if an equal probe follows directly', async (t) => {
  const port = await reservePort();
  const { promise: listening, resolve } = Promise.withResolvers<string>();
  const probePort = new ProbePort({
    settings: completeSettings({ probePort: port }, {}).settings,
    clock: systemClock,
    answer: () => pause(40, passed),
    shutdown: () => undefined,
    onListening: resolve,
    onFailure: assert.ifError,
    onThreadFailure: assert.ifError,
    onStallEnd: () => undefined,
  });
  t.after(() => {
    probePort.close();
  });
  probePort.open();
  const holding = setInterval(() => undefined, 1_000);
  await listening;
  // The first probe waits for the main thread, because the probe thread has no stored response yet. On a busy machine,
  // only some of the later probes wait for the main thread, so the test sends up to 100.
  await probe(port, '/readyz');
  let waitedFor = 0;
  for (let count = 0; count < 100 && waitedFor < 3; count++) {
    if ((await probe(port, '/readyz')).headers['age'] === undefined) waitedFor++;
  }
  clearInterval(holding);
  assert.equal(waitedFor, 3);
});

describe('an occupied probe port ends the process only if a setting has chosen this port', { concurrency: 2 }, () => {
  test('if a configured probe port is in use, the process exits with code 82, as it does if a port of the program is in use', async (t) => {
    const taken = createServer().listen(0);
    t.after(() => taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const program = disposed(t, new ProcessUnderTest('listens.ts', { LAMEDUCK_PROBE_PORT: String(port) }));
    assert.deepEqual(await program.exit, { code: 82, signal: null });
    assert.match(program.stderr, /LameduckError: probePort \d+: unable to listen: .*EADDRINUSE/);
    assert.match(program.stderr, /LAMEDUCK_ERR_PROBE_PORT_FAILED/);
    assert.equal(program.lines.filter(({ level }) => level === 50).length >= 1, true);
  });

  test('a probe port that fails during the shutdown is an error in the log, and has no other effect', async (t) => {
    const taken = createServer().listen(0);
    t.after(() => taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const env = { LAMEDUCK_PROBE_PORT: String(port), SIGNAL_AT_LISTEN: 'on', DESTROY: '2500' };
    const program = disposed(t, new ProcessUnderTest('blocks-for-a-while.ts', env));
    const { level } = await program.line('the failure', ({ msg }) => msg === 'probe port failed');
    assert.equal(level, 50);
    assert.deepEqual(await program.exit, endedWell);
  });

  test('a default probe port that is in use is logged once, and does not end the process', async (t) => {
    const taken = createServer().listen(0);
    t.after(() => taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const failures: LameduckError[] = [];
    const { promise: failed, resolve } = Promise.withResolvers<undefined>();
    const probePort = new ProbePort({
      settings: completeSettings({ probePort: port }, {}).settings,
      clock: systemClock,
      answer: () => passed,
      shutdown: () => undefined,
      onListening: () => {
        assert.fail('the probe port must not listen');
      },
      onFailure: (error) => {
        failures.push(error);
        resolve(undefined);
      },
      onThreadFailure: assert.ifError,
      onStallEnd: () => undefined,
    });
    probePort.open();
    // The probe thread does not keep its process alive, so it does not keep this test alive either.
    const holding = setInterval(() => undefined, 1_000);
    await failed;
    await pause(300);
    clearInterval(holding);
    assert.deepEqual(
      failures.map(({ code }) => code),
      ['LAMEDUCK_ERR_PROBE_PORT_FAILED'],
    );
  });

  for (const how of ['by its command line', 'by NODE_OPTIONS'] as const) {
    test(`P-117 modules that the program preloads ${how} are not loaded into the probe thread`, async (t) => {
      const loud = `data:text/javascript,import { threadId } from 'node:worker_threads'; console.log('loaded in thread ' %2B threadId)`;
      const [env, nodeOptions] =
        how === 'by NODE_OPTIONS' ? [{ NODE_OPTIONS: `--import "${loud}"` }, []] : [{}, ['--import', loud]];
      const program = await ProbedProcess.start(t, env, { nodeOptions });
      assert.equal((await program.probe('/livez')).status, 200);
      program.kill('SIGTERM');
      await program.exit;
      assert.deepEqual(program.output.match(/loaded in thread \d+/g), ['loaded in thread 0']);
    });
  }
});
