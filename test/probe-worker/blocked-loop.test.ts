// Tests probes of a process whose event loop is blocked, busy, paused by a debugger or suspended with its machine.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { attachDebugger } from '../support/inspector-client.ts';
import { ProbedProcess } from '../support/probed-process.ts';
import { probe } from '../support/probe-client.ts';

const shortLimits = {
  LAMEDUCK_READYZ_EVENT_LOOP_STALL_LIMIT: '1s',
  LAMEDUCK_LIVEZ_EVENT_LOOP_STALL_LIMIT: '2s',
};

test('P-090 while the event loop is blocked for 4 s, each probe gets the stored response at once, with its age; after the block, probes get new responses', async (t) => {
  const program = await ProbedProcess.start(t);
  const paths = ['/readyz', '/livez', '/healthz?verbose', '/readyz/turned'];
  const before = new Map<string, string>();
  for (const path of paths) before.set(path, (await program.probe(path)).body);
  await program.block(4_000);
  const took: number[] = [];
  const ages: number[] = [];
  // When the event loop has been blocked for 200 ms, probes no longer wait for the main thread.
  await pause(300);
  while (ages.at(-1) !== 2) {
    for (const path of paths) {
      const { status, body, headers, tookMs } = await program.probe(path);
      assert.deepEqual([status, body], [200, before.get(path)]);
      assert.notEqual(headers['age'], undefined, 'the event loop must run again');
      ages.push(Number(headers['age']));
      took.push(tookMs);
    }
    await pause(20);
  }
  const middle = took.sort((a, b) => a - b)[Math.floor(took.length / 2)] ?? Infinity;
  // A probe that waits for the blocked event loop takes 200 ms, which is more than the 150 ms that this assertion
  // allows.
  assert.ok(middle < 150, `the median of ${String(took.length)} probes took ${String(middle)} ms`);
  assert.deepEqual([...new Set(ages)], [0, 1, 2]);
  await program.probed('/readyz', ({ headers }) => headers['age'] === undefined);
  await probe(await program.port(), '/turn');
  await program.probed('/readyz', ({ status }) => status === 500);
});

test('P-090 a busy event loop with more than a thousand queued requests never counts as blocked', async (t) => {
  const program = await ProbedProcess.start(t, shortLimits, { fixture: 'is-busy.ts' });
  const port = await program.port();
  await program.probe('/readyz');
  const requests = Promise.all(Array.from({ length: 1_200 }, () => probe(port, '/', { patience: 120_000 })));
  const over = new AbortController();
  void requests.finally(() => {
    over.abort();
  });
  let probes = 0;
  for (; !over.signal.aborted; probes++) {
    const answers = await Promise.all([program.probe('/readyz'), program.probe('/livez')]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    );
    await pause(20);
  }
  assert.equal((await requests).length, 1_200);
  assert.ok(probes > 0, 'no probe may get its response before the last request');
  assert.equal(program.lines.filter(({ msg }) => msg?.startsWith('event loop') === true).length, 0);
});

describe('the probe thread reports that the event loop is blocked', { concurrency: true }, () => {
  test('P-090, P-118 if the event loop is blocked, first /readyz and then /livez fails; one line is logged when the event loop is blocked, and one when it runs again', async (t) => {
    const program = await ProbedProcess.start(t, { ...shortLimits, LAMEDUCK_LIVEZ_EVENT_LOOP_STALL_LIMIT: '4s' });
    const statuses = async (): Promise<(number | undefined)[]> =>
      Promise.all(['/readyz', '/livez', '/healthz'].map(async (path) => (await program.probe(path)).status));
    assert.deepEqual(await statuses(), [200, 200, 200]);
    await program.block(6_000);
    const red = await program.probed('/readyz', ({ status }) => status === 500);
    assert.equal(red.body, '[-]event-loop failed: reason withheld\nreadyz check failed\n');
    assert.deepEqual(await statuses(), [500, 200, 200]);
    // The probe thread writes the log line `event loop blocked` while the main thread is blocked.
    const begun = await program.line('the stall', ({ msg }) => msg === 'event loop blocked');
    assert.equal(begun['level'], 40);
    assert.equal(begun['pid'], program.pid);
    assert.equal(begun['livezStallLimitMs'], 4_000);
    assert.ok(Number(begun['stalledMs']) >= Number(begun['readyzStallLimitMs']));
    assert.equal(
      (await program.probed('/livez', ({ status }) => status === 500)).body.startsWith('[-]event-loop'),
      true,
    );
    assert.deepEqual(await statuses(), [500, 500, 500]);
    assert.equal((await program.probe('/livez?exclude=event-loop')).status, 200);
    const ended = await program.line('its end', ({ msg }) => msg === 'event loop no longer blocked');
    const stalledMs = Number(ended['stalledMs']);
    assert.ok(stalledMs > 5_700 && stalledMs < 7_000, String(stalledMs));
    await program.probed('/readyz', ({ status }) => status === 200);
    assert.deepEqual(await statuses(), [200, 200, 200]);
    const found = await program.probe('/metrics');
    assert.match(found.body, /^lameduck_event_loop_stalls_total 1$/m);
    const milliseconds = (name: string): number =>
      1_000 * Number(new RegExp(`^lameduck_event_loop_${name}_seconds_total (\\S+)$`, 'm').exec(found.body)?.[1]);
    assert.ok(Math.abs(milliseconds('stalled') - stalledMs) < 200, found.body);
    // A timer measures the delay of the event loop. This timer became due while the event loop was blocked for 6 s, and
    // ran only after the block. The whole block also counts as active time of the event loop.
    assert.ok(milliseconds('delay') > 5_700 && milliseconds('active') >= 6_000, found.body);
    assert.equal(program.lines.filter(({ msg }) => msg?.startsWith('event loop') === true).length, 2);
  });

  test('P-090 if the event loop of an idle process is blocked, /readyz fails, and the logged duration of the block is at most 1.3 s shorter than the real duration', async (t) => {
    const program = await ProbedProcess.start(t, shortLimits);
    // After five seconds without a request, the process counts as idle.
    await pause(6_000);
    await program.block(5_000);
    await program.probed('/readyz', ({ status }) => status === 500);
    const ended = await program.line('its end', ({ msg }) => msg === 'event loop no longer blocked');
    const stalledMs = Number(ended['stalledMs']);
    assert.ok(stalledMs > 3_700 && stalledMs < 6_000, String(stalledMs));
  });

  test('P-090 when a process continues after a suspension of its machine, the process reports no blocked event loop', async (t) => {
    const program = await ProbedProcess.start(t, {
      ...shortLimits,
      LAMEDUCK_READYZ_EVENT_LOOP_STALL_LIMIT: '2s',
      LAMEDUCK_LIVEZ_EVENT_LOOP_STALL_LIMIT: '2s',
    });
    program.kill('SIGSTOP');
    await pause(3_000);
    program.kill('SIGCONT');
    for (let index = 0; index < 20; index++) assert.equal((await program.probe('/livez')).status, 200);
    program.kill('SIGTERM');
    await program.finalLine();
    assert.equal(program.lines.filter(({ msg }) => msg?.startsWith('event loop') === true).length, 0);
  });

  test('P-090 while a debugger is attached, the event loop never counts as blocked', async (t) => {
    const program = await ProbedProcess.start(t, shortLimits, { nodeOptions: ['--inspect=127.0.0.1:0'] });
    await attachDebugger(t, program);
    assert.equal((await program.probe('/readyz')).status, 200);
    await program.block(2_500);
    const since = performance.now();
    while (performance.now() - since < 1_500) {
      assert.equal((await program.probe('/readyz')).status, 200);
      await pause(50);
    }
    assert.equal(program.lines.filter(({ msg }) => msg?.startsWith('event loop') === true).length, 0);
  });
});
