// Tests how a program ends after its drain: when it exits, its exit code, and its final log line.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { disposed } from '../support/disposed.ts';
import { registered } from '../support/under-register.ts';
import { HeldRequest } from '../support/held-request.ts';
import { ProcessUnderTest, type Line } from '../support/process-under-test.ts';

const said = (msg: string) => (line: Line) => line.msg === msg;

void describe('the exit code of the process shows how the shutdown ended', { concurrency: 3 }, () => {
  test('P-058, P-101 a drained process whose event loop is empty exits with 0 at once', async (t) => {
    const program = disposed(t, new ProcessUnderTest('works-a-queue.ts'));
    await program.signaled('HasBeenReady');
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, { code: 0, signal: null });
    const drained = await program.signaled('InFlightRequestsDrained');
    const final = await program.finalLine();
    assert.ok(Number(final['time']) - Number(drained['time']) < 1_000, 'the process must not wait after its drain');
    assert.deepEqual(final['heldBy'], []);
  });

  test('P-058 a process that something keeps alive exits with 0 after one second, and the log names what kept it alive', async (t) => {
    const program = disposed(t, new ProcessUnderTest('holds-itself-open.ts'));
    await program.signaled('HasBeenReady');
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, { code: 0, signal: null });
    const drained = await program.signaled('InFlightRequestsDrained');
    const final = await program.finalLine();
    assert.ok(Number(final['time']) - Number(drained['time']) >= 990);
    assert.deepEqual((final['heldBy'] as string[]).toSorted(), ['PipeWrap', 'Timeout']);
    assert.equal(final['exitCode'], 0);
  });

  for (const how of [
    'a close listener that returns its promise',
    'a close listener that returns nothing',
    'an await of the event close',
  ]) {
    test(`P-058 a program without signal listeners, which cleans up for longer than a second in ${how}, exits after its cleanup`, async (t) => {
      const program = disposed(t, new ProcessUnderTest('cleans-up-at-close.ts', { HOW: how }));
      await program.signaled('HasBeenReady');
      program.kill('SIGTERM');
      assert.deepEqual(await program.exit, { code: 0, signal: null });
      assert.equal(program.lines.filter(({ msg }) => msg === 'cleaned up').length, 1, program.output);
    });
  }

  test('P-058 if requests are unfinished at the end of the shutdown budget, the exit code is 80, and the log names them', async (t) => {
    const program = disposed(
      t,
      new ProcessUnderTest('listens.ts', {
        LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '4',
        LAMEDUCK_DESTROY_HOOK_TIMEOUT: '1s',
      }),
    );
    const request = await HeldRequest.open(t, await program.ready());
    program.kill('SIGTERM');
    await request.cut();
    assert.deepEqual(await program.exit, { code: 80, signal: null });
    const final = await program.finalLine();
    assert.equal(final['exitCode'], 80);
    assert.equal(final['budgetMs'], 2_000);
    const [unfinished, ...others] = final['unfinished'] as Line[];
    assert.deepEqual(others, []);
    assert.equal(`${String(unfinished?.['method'])} ${String(unfinished?.['route'])}`, 'POST /held');
    assert.ok(Number(unfinished?.['ageMs']) >= 1_000);
    const culprit = program.lines.find(({ level }) => level === 50);
    assert.equal(culprit?.msg, 'request without an answer');
    assert.match(String(culprit['peer']), /^127\.0\.0\.1:\d+$/);
  });

  test('P-058 when a hook fails the exit code is 81, even if the hook throws undefined', async (t) => {
    const program = disposed(t, new ProcessUnderTest('throws-nothing-in-a-hook.ts'));
    await program.signaled('HasBeenReady');
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, { code: 81, signal: null });
    const final = await program.finalLine();
    assert.equal(final['exitCode'], 81);
    assert.deepEqual(final['hookFailures'], [
      { kind: 'destroy', name: 'broken', error: 'destroy hook "broken" failed: undefined' },
    ]);
  });

  test('if the program calls process.exit() during the drain, its exit code is kept, and the final log line is written', async (t) => {
    const program = disposed(t, new ProcessUnderTest('exits-in-a-hook.ts'));
    await program.signaled('HasBeenReady');
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, { code: 7, signal: null });
    const final = await program.finalLine();
    assert.equal(final['exitCode'], 7);
    assert.equal(program.lines.at(-1), final);
    assert.ok(!('InFlightRequestsDrained' in (final['phases'] as object)));
  });

  for (const [lifecycle, env] of [
    ['lameduck()', { LIFECYCLE: 'code' }],
    ['lameduck/register', registered()],
  ] as const) {
    for (const { given, code } of [
      { given: 0, code: 80 },
      { given: 7, code: 7 },
    ]) {
      test(`P-058 with ${lifecycle}, if process.exit(${String(given)}) of the program cuts a request, the exit code is ${String(code)}`, async (t) => {
        const program = disposed(t, new ProcessUnderTest('exits-when-told.ts', env));
        const request = await HeldRequest.open(t, await program.ready());
        program.kill('SIGTERM');
        await program.signaled('HTTPServerStoppedListening');
        program.child.stdin?.write(String(given));
        await request.cut();
        assert.deepEqual(await program.exit, { code, signal: null });
        const final = await program.finalLine();
        assert.equal(final['exitCode'], code);
        assert.deepEqual(final['requests'], { answered: 0, refused: 0, aborted: 0, cut: 1 });
        const named = program.lines.filter(({ msg }) => msg === 'request without an answer');
        assert.equal(named.length, 1);
      });
    }
  }

  test('P-058 if process.exit(0) of the program cuts a request, the exit code is 80, even if a library has restored process.emit', async (t) => {
    const program = disposed(t, new ProcessUnderTest('replaces-process-emit.ts'));
    const request = await HeldRequest.open(t, await program.ready());
    program.kill('SIGTERM');
    await program.signaled('HTTPServerStoppedListening');
    program.child.stdin?.write('exit');
    await request.cut();
    assert.deepEqual(await program.exit, { code: 80, signal: null });
    assert.equal((await program.finalLine())['exitCode'], 80);
  });

  test('process.exit(0) during the shutdown delay exits with 0 if no request is in flight', async (t) => {
    const env = { LIFECYCLE: 'code', LAMEDUCK_SHUTDOWN_DELAY_DURATION: '10s' };
    const program = disposed(t, new ProcessUnderTest('exits-when-told.ts', env));
    await program.ready();
    program.kill('SIGTERM');
    await program.signaled('ShutdownInitiated');
    program.child.stdin?.write('0');
    assert.deepEqual(await program.exit, { code: 0, signal: null });
    assert.equal((await program.finalLine())['exitCode'], 0);
  });

  test('process.exitCode that the program has set is kept after a clean drain', async (t) => {
    const program = disposed(t, new ProcessUnderTest('sets-its-exit-code.ts'));
    await program.signaled('HasBeenReady');
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, { code: 3, signal: null });
  });

  test('P-058 a program with a pending top-level await exits with 0 after a clean drain', async (t) => {
    const program = disposed(t, new ProcessUnderTest('awaits-its-requests.ts'));
    await program.signaled('HasBeenReady');
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, { code: 0, signal: null });
    assert.equal((await program.finalLine())['exitCode'], 0);
  });

  test('the final log line has the process.exitCode that the program has set', async (t) => {
    const program = disposed(t, new ProcessUnderTest('sets-its-exit-code.ts'));
    await program.signaled('HasBeenReady');
    program.kill('SIGTERM');
    assert.equal((await program.finalLine())['exitCode'], 3);
  });

  test('P-056 several calls of shutdown() start only one shutdown, and never end the process', async (t) => {
    const program = disposed(t, new ProcessUnderTest('shuts-itself-down.ts'));
    await program.ready();
    program.child.stdin?.end();
    const { isSame, reason } = await program.line('the outcome', said('shut down'));
    assert.deepEqual({ isSame, reason }, { isSame: true, reason: 'the program' });
    const final = await program.line('the final line', ({ schema }) => schema !== undefined);
    assert.equal(final['reason'], 'the program');
    assert.equal(program.child.exitCode, null);
    // The lifecycle has ended, so lameduck has removed its signal listeners from the process. Therefore, SIGTERM ends
    // the process, as without lameduck.
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, { code: null, signal: 'SIGTERM' });
    assert.equal(program.lines.filter(({ schema }) => schema !== undefined).length, 1);
  });

  test('P-056 a process signal during a shutdown that the program has begun starts no second shutdown, and the process exits when the shutdown has ended', async (t) => {
    const program = disposed(t, new ProcessUnderTest('shuts-itself-down.ts'));
    const request = await HeldRequest.open(t, await program.ready());
    program.child.stdin?.end();
    await program.signaled('HTTPServerStoppedListening');
    program.kill('SIGTERM');
    // The test lets the program respond only after it has sent the process signal. Otherwise, the drain could end
    // before the signal arrives.
    await Promise.all([request.release(), program.exit]);
    assert.deepEqual(await program.exit, { code: 0, signal: null });
    const final = await program.finalLine();
    assert.equal(final['reason'], 'the program');
    assert.equal(program.lines.filter((line) => line['name'] === 'ShutdownInitiated').length, 1);
    assert.deepEqual(final['heldBy'], ['Timeout']);
  });

  test('a process exits only after all its lifecycles have drained, including a lifecycle that is created during the shutdown', async (t) => {
    const program = disposed(t, new ProcessUnderTest('has-two-lifecycles.ts'));
    const isReady = (line: Line): boolean => line['name'] === 'HasBeenReady';
    await program.line('both to be ready', () => program.lines.filter(isReady).length === 2);
    await program.line('both to listen', () => program.lines.filter(said('listening')).length === 2);
    const ports = program.lines.filter(said('listening')).map((line) => line['port'] as number);
    const [first, second] = await Promise.all(ports.map((port) => HeldRequest.open(t, port)));
    assert.ok(first && second);
    program.kill('SIGTERM');
    const isStopped = (line: Line): boolean => line['name'] === 'HTTPServerStoppedListening';
    await program.line('both to stop', () => program.lines.filter(isStopped).length >= 2);
    assert.equal(await first.release(), 'served');
    assert.equal(await second.release(), 'served');
    assert.deepEqual(await program.exit, { code: 0, signal: null });
    assert.equal(program.lines.filter(({ schema }) => schema !== undefined).length, 3);
    assert.ok(program.lines.some(said('the late lifecycle is destroyed')));
  });

  test('the final log line has the fields of its schema, and the duration of each phase of the shutdown', async (t) => {
    const program = disposed(t, new ProcessUnderTest('listens.ts', { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '50ms' }));
    await program.ready();
    program.kill('SIGTERM');
    const { level, time, pid, hostname, msg, phases, durationMs, ...rest } = await program.finalLine();
    assert.deepEqual(rest, {
      schema: 'lameduck/shutdown/v1',
      reason: 'SIGTERM',
      exitCode: 0,
      budgetMs: 28_000,
      requests: { answered: 0, refused: 0, aborted: 0, cut: 0 },
      longRunningEnded: 0,
      unfinished: [],
      hookFailures: [],
      stepFailures: [],
      heldBy: [],
    });
    assert.deepEqual([level, pid, msg], [30, program.pid, 'shutdown ended']);
    assert.ok(typeof time === 'number' && typeof hostname === 'string');
    const times = Object.values(phases as Record<string, number>);
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
    assert.ok(((phases as Record<string, number>)['AfterShutdownDelayDuration'] as number) >= 50);
    assert.ok((times.at(-1) as number) <= (durationMs as number));
  });

  test('P-101 each lifecycle signal has one log line with its duration and counts', async (t) => {
    const program = disposed(t, new ProcessUnderTest('listens.ts'));
    const request = await HeldRequest.open(t, await program.ready());
    program.kill('SIGTERM');
    const stopped = await program.signaled('HTTPServerStoppedListening');
    await Promise.all([request.release(), program.exit]);
    const events = program.lines.filter(({ msg }) => msg?.endsWith(' event'));
    assert.equal(events.length, new Set(events.map((line) => line['name'])).size);
    for (const { durationMs, connections, requestsInFlight } of events) {
      assert.ok([durationMs, connections, requestsInFlight].every((count) => Number.isInteger(count)));
    }
    assert.deepEqual([stopped['connections'], stopped['requestsInFlight']], [1, 1]);
    const drained = await program.signaled('InFlightRequestsDrained');
    assert.equal(drained['requestsInFlight'], 0);
  });

  test('P-107 the start line of the log shows the terms from which the shutdown budget is computed, and whether each term comes from the environment or is a default', async (t) => {
    const program = disposed(t, new ProcessUnderTest('listens.ts', { LAMEDUCK_PRE_STOP_SECONDS: '3' }));
    const start = await program.line('the first line', ({ msg }) => msg?.startsWith('lifecycle started') === true);
    assert.match(
      start.msg ?? '',
      /: terminationGracePeriodSeconds 30s \(default\) - preStopSeconds 3s \(env\) - margin 2s = budget 25s;.* = drain 22s$/,
    );
    assert.match(String((start['addresses'] as string[])[0]), /^127\.0\.0\.1:\d+$/);
  });
});
