// Tests process signals on a whole program. The first signal drains the program, and the second ends it. lameduck does
// not handle a signal that is not in `shutdownSignals`.
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { disposed } from '../support/disposed.ts';
import { HeldRequest } from '../support/held-request.ts';
import { ProcessUnderTest, type Line } from '../support/process-under-test.ts';

const sequence = [
  'ShutdownInitiated',
  'AfterShutdownDelayDuration',
  'PreShutdownHooksStopped',
  'NotAcceptingNewRequest',
  'HTTPServerStoppedListening',
  'InFlightRequestsDrained',
];

const signalsIn = (lines: readonly Line[]): unknown[] =>
  lines.filter(({ msg }) => msg === 'shutdown event').map((line) => line['name']);

const warningsIn = (lines: readonly Line[]): unknown[] =>
  lines.filter(({ level }) => level === 40).map(({ msg }) => msg);

const endedWell = { code: 0, signal: null };

void describe('a process signal begins one shutdown', { concurrency: 3 }, () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`A-030, A-033, P-056 ${signal} starts one drain, requests in flight get their responses, and the process then exits with 0`, async (t) => {
      const program = disposed(t, new ProcessUnderTest('listens.ts'));
      const request = await HeldRequest.open(t, await program.ready());
      program.kill(signal);
      await program.signaled('HTTPServerStoppedListening');
      assert.equal(await request.release(), 'served');

      assert.deepEqual(await program.exit, endedWell);
      assert.deepEqual(signalsIn(program.lines), sequence);
      const { reason, exitCode, requests } = await program.finalLine();
      assert.deepEqual({ reason, exitCode, requests }, { reason: signal, exitCode: 0, requests: served(1) });
    });
  }

  test('A-031, P-057, K-210 a second process signal of another kind ends the process with exit code 1 after one log line', async (t) => {
    const program = disposed(t, new ProcessUnderTest('listens.ts'));
    const request = await HeldRequest.open(t, await program.ready());
    program.kill('SIGTERM');
    await program.signaled('HTTPServerStoppedListening');
    await program.killAgain('SIGINT');

    assert.deepEqual(await program.exit, { code: 1, signal: null });
    assert.deepEqual(warningsIn(program.lines), ['second process signal SIGINT: exiting at once']);
    const final = await program.finalLine();
    assert.equal(program.lines.at(-1), final);
    assert.equal(final['exitCode'], 1);
    assert.equal(final['reason'], 'SIGTERM');
    assert.deepEqual(final['requests'], { answered: 0, refused: 0, aborted: 0, cut: 1 });
    const [unfinished] = final['unfinished'] as Line[];
    assert.equal(`${String(unfinished?.['method'])} ${String(unfinished?.['route'])}`, 'POST /held');
    assert.match(String(unfinished?.['peer']), /^127\.0\.0\.1:\d+$/);
    assert.ok(Number(unfinished?.['ageMs']) >= 0);
    await request.cut();
  });

  test('A-031, P-057, K-210 the same process signal after more than 100 ms counts as a second signal', async (t) => {
    const program = disposed(t, new ProcessUnderTest('listens.ts'));
    await HeldRequest.open(t, await program.ready());
    program.kill('SIGTERM');
    await program.signaled('HTTPServerStoppedListening');
    await program.killAgain('SIGTERM');

    assert.deepEqual(await program.exit, { code: 1, signal: null });
    assert.deepEqual(warningsIn(program.lines), ['second process signal SIGTERM: exiting at once']);
  });

  test('P-057, P-116 the same process signal within 100 ms does not count as a second signal', async (t) => {
    const program = disposed(t, new ProcessUnderTest('repeats-the-process-signal.ts'));
    await program.signaled('HasBeenReady');
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, endedWell);
    assert.deepEqual(warningsIn(program.lines), []);
    assert.deepEqual(signalsIn(program.lines), sequence);
  });

  test('P-057 a different process signal within 100 ms does not count as a second one, because nodemon sends SIGINT after SIGTERM', async (t) => {
    const program = disposed(t, new ProcessUnderTest('repeats-the-process-signal.ts', { REPEATED: 'SIGINT' }));
    await program.signaled('HasBeenReady');
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, endedWell);
    assert.deepEqual(warningsIn(program.lines), []);
    assert.deepEqual(signalsIn(program.lines), sequence);
    assert.equal((await program.finalLine())['reason'], 'SIGTERM');
  });

  test('P-057 if the event loop is blocked, the 100 ms in which a repeated process signal does not count begin when the event loop runs again', async (t) => {
    const program = await signalTwiceWhileBlocked(t, 'SIGTERM');
    assert.deepEqual(await program.exit, endedWell);
    assert.deepEqual(signalsIn(program.lines), sequence);
  });

  for (const env of [{}, { SLOW_LOG: 'yes' }]) {
    const how = 'SLOW_LOG' in env ? ', even if the handling of the first takes long' : '';
    test(`P-057 two different process signals that arrive while the event loop is blocked count as one process signal${how}`, async (t) => {
      const program = await signalTwiceWhileBlocked(t, 'SIGINT', env);
      assert.deepEqual(await program.exit, endedWell);
      assert.deepEqual(signalsIn(program.lines), sequence);
    });
  }

  for (const signal of ['SIGHUP', 'SIGUSR2'] as const) {
    test(`P-069 lameduck does not handle ${signal}, so the signal has its default effect in Node`, async (t) => {
      const program = disposed(t, new ProcessUnderTest('listens.ts'));
      await program.ready();
      program.kill(signal);
      assert.deepEqual(await program.exit, { code: null, signal });
      assert.deepEqual(signalsIn(program.lines), []);
    });
  }

  test('P-069 SIGPIPE is ignored, as Node ignores it', async (t) => {
    const program = disposed(t, new ProcessUnderTest('listens.ts'));
    await program.ready();
    program.kill('SIGPIPE');
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, endedWell);
    assert.equal((await program.finalLine())['reason'], 'SIGTERM');
  });

  test('P-069, K-194 shutdownSignals replaces the default process signals', async (t) => {
    const program = disposed(t, new ProcessUnderTest('listens.ts', { LAMEDUCK_SHUTDOWN_SIGNALS: 'SIGUSR2,SIGHUP' }));
    await program.ready();
    program.kill('SIGHUP');
    assert.deepEqual(await program.exit, endedWell);
    assert.equal((await program.finalLine())['reason'], 'SIGHUP');

    const other = disposed(t, new ProcessUnderTest('listens.ts', { LAMEDUCK_SHUTDOWN_SIGNALS: 'SIGUSR2' }));
    await other.ready();
    other.kill('SIGTERM');
    assert.deepEqual(await other.exit, { code: null, signal: 'SIGTERM' });
  });

  for (const [ownSignalListeners, isFirst] of [
    ['hold', false],
    ['run', true],
  ] as const) {
    const when = isFirst ? 'at once' : 'after the final log line';
    test(`P-070, P-111 with ownSignalListeners ${ownSignalListeners}, signal listeners that libraries of the program have added are called ${when}`, async (t) => {
      const env = { LAMEDUCK_OWN_SIGNAL_LISTENERS: ownSignalListeners };
      const program = disposed(t, new ProcessUnderTest('listens-to-process-signals-itself.ts', env));
      await program.signaled('HasBeenReady');
      program.kill('SIGTERM');
      assert.deepEqual(await program.exit, endedWell);
      const said = program.lines.map(({ msg }) => msg).filter((msg) => msg?.endsWith('listener'));
      assert.deepEqual(said, ['first listener', 'last listener']);
      const called = program.lines.findIndex(({ msg }) => msg === 'last listener');
      assert.equal(called < program.lines.indexOf(await program.finalLine()), isFirst);
      assert.deepEqual(signalsIn(program.lines), sequence);
      const held = program.lines.filter(({ msg }) => msg?.startsWith('own signal listeners held') === true);
      assert.deepEqual(
        held.map(({ signal, count, ownSignalListeners: setting }) => ({ signal, count, setting })),
        isFirst ? [] : [{ signal: 'SIGTERM', count: 2, setting: 'hold' }],
      );
    });
  }

  test("P-111 a process signal in the first turn of the event loop is not lost, and listeners that were added before lameduck's are called after the drain", async (t) => {
    const program = disposed(t, new ProcessUnderTest('is-signaled-in-its-first-turn.ts'));
    assert.deepEqual(await program.exit, endedWell);
    const final = program.lines.indexOf(await program.finalLine());
    assert.deepEqual(
      program.lines.slice(final + 1).map(({ msg }) => msg),
      ['once', 'always', 'later'],
    );
  });

  test('P-070 after shutdown() lameduck has removed its signal listeners, and the listeners of other code are still registered', async (t) => {
    const program = disposed(t, new ProcessUnderTest('listens-to-process-signals-itself.ts', { THEN: 'shut down' }));
    const [joined, left] = await Promise.all(
      ['joined', 'left'].map((what) => program.line(what, ({ msg }) => msg === what)),
    );
    assert.deepEqual(joined?.['count'], [3, 1, 0, 0]);
    assert.deepEqual(left?.['count'], [2, 0, 0, 0]);
  });

  test("with LAMEDUCK_DISABLED=1 SIGTERM has Node's default effect", async (t) => {
    const program = disposed(t, new ProcessUnderTest('listens.ts', { LAMEDUCK_DISABLED: '1' }));
    await program.port();
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, { code: null, signal: 'SIGTERM' });
    assert.equal(program.lines.length, 1);
  });
});

function served(answered: number): object {
  return { answered, refused: 0, aborted: 0, cut: 0 };
}

/**
 * signalTwiceWhileBlocked starts a program and blocks its event loop. While the event loop is blocked, it sends SIGTERM
 * and then a second process signal.
 */
async function signalTwiceWhileBlocked(t: TestContext, second: NodeJS.Signals, env = {}): Promise<ProcessUnderTest> {
  const program = disposed(t, new ProcessUnderTest('blocks-its-loop.ts', env));
  await program.signaled('HasBeenReady');
  program.kill('SIGUSR2');
  await program.line('blocked', ({ msg }) => msg === 'blocked');
  program.kill('SIGTERM');
  program.kill(second);
  program.child.stdin?.end();
  return program;
}
