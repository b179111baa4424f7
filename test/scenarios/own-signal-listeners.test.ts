// Tests when the signal listeners of a program that calls lameduck() are called, how long these listeners may take, and
// how the process ends.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { disposed } from '../support/disposed.ts';
import { registered } from '../support/under-register.ts';
import { HeldRequest } from '../support/held-request.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';

const clean = { code: 0, signal: null };
const run = { LAMEDUCK_OWN_SIGNAL_LISTENERS: 'run' };
const final = 'shutdown ended';

const start = (t: TestContext, listener: string, env = {}): ProcessUnderTest =>
  disposed(t, new ProcessUnderTest('has-own-signal-listeners.ts', { LISTENER: listener, ...env }));

async function signalled(t: TestContext, listener: string, env = {}): Promise<ProcessUnderTest> {
  const program = start(t, listener, env);
  await program.ready();
  program.kill('SIGTERM');
  return program;
}

/**
 * `order()` returns those of the `messages` that the program has logged, in the order in which the program has logged
 * them.
 */
function order({ lines }: ProcessUnderTest, ...messages: readonly string[]): string[] {
  return lines.flatMap(({ msg = '' }) => (messages.includes(msg) ? [msg] : []));
}

void describe("lameduck() calls the program's signal listeners only after the drain", { concurrency: 4 }, () => {
  for (const how of ['the signal', 'process.emit() of the signal']) {
    test(`P-111 the program's signal listeners receive ${how} after the last response and the final log line, with the signal's arguments`, async (t) => {
      const program = start(t, 'closes its server and exits');
      const request = await HeldRequest.open(t, await program.ready());
      program.kill(how === 'the signal' ? 'SIGTERM' : 'SIGUSR2');
      await program.signaled('HTTPServerStoppedListening');
      assert.deepEqual(order(program, 'earliest', 'called'), []);
      assert.equal(await request.release(), 'served');
      assert.deepEqual(await program.exit, clean);
      const messages = [final, 'earliest', 'called', 'close', 'closed'];
      assert.deepEqual(order(program, ...messages).toSorted(), messages.toSorted());
      assert.deepEqual(order(program, final, 'earliest', 'called'), [final, 'earliest', 'called']);
      const { signal, number, listening } = await program.line('the call', ({ msg }) => msg === 'called');
      const given = how === 'the signal' ? 15 : undefined;
      assert.deepEqual({ signal, number, listening }, { signal: 'SIGTERM', number: given, listening: true });
    });
  }

  test('all signal listeners of a program are called once, whenever they were added, and exit listeners are called as usual', async (t) => {
    const program = await signalled(t, 'adds listeners of every kind');
    assert.deepEqual(await program.exit, clean);
    const messages = ['first', 'earliest', 'second', 'third', 'exit'];
    assert.deepEqual(order(program, final, ...messages), [final, ...messages]);
    // The program added its second SIGTERM listener with once(), so Node has already removed that listener. One of
    // the four SIGTERM listeners that are left belongs to lameduck.
    assert.equal((await program.line('the count', ({ msg }) => msg === 'third'))['count'], 4);
  });

  for (const by of ['lameduck()', 'lameduck/register']) {
    const env = by === 'lameduck()' ? { LIFECYCLE: 'code' } : registered();

    test(`P-111 with ${by}, lameduck calls the program's signal listeners even if a library wraps process.on()`, async (t) => {
      const program = disposed(t, new ProcessUnderTest('wraps-process-on.ts', env));
      const request = await HeldRequest.open(t, await program.ready());
      program.kill('SIGTERM');
      await program.signaled('HTTPServerStoppedListening');
      assert.equal(await request.release(), 'served');
      assert.deepEqual(await program.exit, { code: 5, signal: null });
      assert.deepEqual(order(program, final, 'called'), [final, 'called']);
    });

    for (const hidden of ['before lameduck', 'after lameduck']) {
      test(`with ${by}, if a launcher adds a signal listener and hides it from process.listeners(), this listener is called only once, as soon as the signal arrives: added ${hidden} starts`, async (t) => {
        const program = disposed(t, new ProcessUnderTest('hides-its-signal-listener.ts', { ...env, HIDDEN: hidden }));
        const request = await HeldRequest.open(t, await program.ready());
        program.kill('SIGTERM');
        await program.signaled('HTTPServerStoppedListening');
        assert.deepEqual(order(program, 'hidden listener called'), ['hidden listener called']);
        assert.equal(await request.release(), 'served');
        assert.deepEqual(await program.exit, clean);
        assert.deepEqual(order(program, 'hidden listener called', final), ['hidden listener called', final]);
        assert.deepEqual(order(program, 'own signal listeners held'), []);
      });
    }

    test(`with ${by}, if a library wraps process.on() and the program has removed all its signal listeners, the program still drains`, async (t) => {
      const program = disposed(t, new ProcessUnderTest('wraps-process-on.ts', env));
      await program.ready();
      program.child.stdin?.write('remove');
      await program.line('removed', ({ msg }) => msg === 'removed');
      program.kill('SIGTERM');
      assert.deepEqual(await program.exit, clean);
      assert.deepEqual(order(program, final, 'called'), [final]);
    });
  }

  test('the log line about delayed signal listeners has the number of these listeners, and names the setting with which lameduck calls them at once', async (t) => {
    const program = await signalled(t, 'only logs, and has an empty event loop');
    await program.exit;
    const { count, ownSignalListeners, hint, level } = await program.line(
      'it',
      ({ msg }) => msg === 'own signal listeners held',
    );
    assert.match(String(hint), /^set LAMEDUCK_OWN_SIGNAL_LISTENERS=run if /);
    assert.deepEqual({ count, ownSignalListeners, level }, { count: 2, ownSignalListeners: 'hold', level: 30 });
  });

  test('each signal listener is called after the promise of the previous one has settled, and the process waits for the last promise', async (t) => {
    const program = await signalled(t, 'returns promises');
    // Each signal listener of the test program has started a timer. These timers keep the process alive until the
    // promises of all signal listeners have settled.
    assert.deepEqual(await program.exit, clean);
    const messages = ['first called', 'first done', 'second called', 'second done'];
    assert.deepEqual(order(program, final, ...messages), [final, ...messages]);
  });

  test('lameduck gives a signal listener that waits for server.close(), by callback or promise, the rest of the shutdown budget', async (t) => {
    const program = await signalled(t, 'has a slow close callback');
    assert.deepEqual(await program.exit, { code: 5, signal: null });
  });

  for (const listener of ['starts an async function', 'starts an async function in its close callback'])
    test(`a signal listener that ${listener} and returns nothing gets the rest of the shutdown budget`, async (t) => {
      const program = await signalled(t, listener);
      assert.deepEqual(await program.exit, { code: 5, signal: null });
    });

  for (const listener of [
    'starts an async function',
    'starts an async function in its close callback',
    'ends an await',
    'closes a server whose close listener starts an async function',
    'ends an await of the event close',
  ]) {
    test(`a signal listener that ${listener} and returns nothing gets the rest of the shutdown budget`, async (t) => {
      const program = await signalled(t, listener);
      assert.deepEqual(await program.exit, { code: 5, signal: null });
    });
  }

  for (const [when, env] of [
    ['hold', {}],
    ['run', run],
  ] as const) {
    test(`with ownSignalListeners=${when}, if a signal listener returns nothing, the process waits for the promises that the listener has created`, async (t) => {
      const program = await signalled(t, 'starts work and returns nothing', env);
      assert.deepEqual(await program.exit, clean);
      assert.ok(order(program, 'done').length === 1, program.output);
    });
  }

  for (const listener of ['shuts down', 'returns a promise that settles before another']) {
    test(`P-058 a signal listener that ${listener} does not keep the process alive for longer than one second`, async (t) => {
      const program = await signalled(t, listener);
      await program.line('the call', ({ msg }) => msg === 'called');
      // If the process waited for the end of the shutdown budget, its exit code would be 80.
      assert.deepEqual(await program.exit, clean);
    });
  }

  test('after the drain, the process waits for the close() callback of a server that lameduck does not manage, until the last client of this server has disconnected', async (t) => {
    const program = start(t, 'closes another server that has a client');
    await program.ready();
    const { port } = await program.line('its port', ({ msg }) => msg === 'other listens');
    const client = connect(port as number, '127.0.0.1');
    t.after(() => client.destroy());
    await once(client, 'connect');
    program.kill('SIGTERM');
    await program.line('the call', ({ msg }) => msg === 'called');
    // If its event loop is not empty, a process exits one second after lameduck has called its signal listeners. The
    // process `held` received SIGTERM later than the process `program`, and has already exited. So `program` has waited
    // for more than one second.
    const held = await signalled(t, 'only logs');
    assert.deepEqual(await held.exit, clean);
    assert.equal(program.child.exitCode, null);
    client.end();
    assert.deepEqual(await program.exit, { code: 5, signal: null });
  });

  test('P-058 after a signal listener that only logs, the process ends when its event loop is empty', async (t) => {
    const program = await signalled(t, 'only logs, and has an empty event loop');
    assert.deepEqual(await program.exit, clean);
    assert.deepEqual(order(program, final, 'called', 'event loop not empty'), [final, 'called']);
  });

  test('P-058 after a signal listener that only logs, a process with a timer exits after one second, and the log names the timer', async (t) => {
    const program = await signalled(t, 'only logs');
    assert.deepEqual(await program.exit, clean);
    const { msSinceCall } = await program.line('its exit', ({ msg }) => msg === 'exits');
    assert.ok(Number(msSinceCall) >= 990, program.output);
    const { heldBy } = await program.line('what held it', ({ msg }) => msg === 'event loop not empty');
    assert.ok((heldBy as string[]).includes('Timeout'));
  });

  for (const [env, code] of [
    [{}, 0],
    [{ HOOK: 'fails' }, 81],
  ] as const) {
    test(`P-116 if the last action of a signal listener is process.kill(process.pid, signal), the process exits with the exit code of the shutdown, ${String(code)}, and not by the signal`, async (t) => {
      const program = await signalled(t, 'signals itself', env);
      assert.deepEqual(await program.exit, { code, signal: null });
      assert.equal(order(program, 'called').length, 1);
      assert.equal((await program.finalLine())['exitCode'], code);
    });
  }

  for (const [when, called] of [
    ['at once', []],
    ['asynchronously', ['second called']],
  ] as const) {
    test(`if a signal listener calls process.exit() ${when}, the next signal listener ${called.length === 0 ? 'is not called' : 'is still called'}, as without lameduck`, async (t) => {
      const program = await signalled(t, 'exits, and further listeners follow', { WHEN: when });
      assert.deepEqual(await program.exit, { code: 5, signal: null });
      assert.deepEqual(order(program, final, 'second called'), [final, ...called]);
    });
  }

  test('process.exit(0) in a signal listener does not hide cut requests: the exit code is 80', async (t) => {
    const env = { LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '4', LAMEDUCK_DESTROY_HOOK_TIMEOUT: '1s' };
    const program = start(t, 'exits with 0 whatever was', env);
    const request = await HeldRequest.open(t, await program.ready());
    program.kill('SIGTERM');
    await request.cut();
    assert.deepEqual(await program.exit, { code: 80, signal: null });
    assert.equal((await program.finalLine())['exitCode'], 80);
  });

  test('P-075 lameduck waits for the promise of a signal listener until the end of the shutdown budget; if the promise has not settled by then, the process exits with code 80', async (t) => {
    const program = await signalled(t, 'never settles', { LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '7' });
    const since = performance.now();
    assert.deepEqual(await program.exit, { code: 80, signal: null });
    assert.ok(performance.now() - since >= 4_800);
    assert.match(String(program.lines.at(-1)?.msg), /own cleanup took longer than the shutdown budget/);
  });

  for (const [listener, error] of [
    ['throws', /^Error: thrown on purpose$/m],
    ['rejects', /^Error: rejected on purpose$/m],
    ['starts work that fails', /^Error: rejected on purpose$/m],
  ] as const) {
    test(`P-063 if a signal listener of the program ${listener} when lameduck calls it after the drain, the error counts as an uncaught error, and the process exits with code 82`, async (t) => {
      const program = await signalled(t, listener);
      assert.deepEqual(await program.exit, { code: 82, signal: null });
      assert.match(program.stderr, error);
      assert.equal((await program.finalLine())['exitCode'], 0);
    });
  }

  test('P-055 with ownSignalListeners=run, signal listeners are called as soon as the signal arrives, and a server that such a listener closes is still drained', async (t) => {
    const program = start(t, 'closes connections', run);
    const request = await HeldRequest.open(t, await program.ready());
    program.kill('SIGTERM');
    await program.line('the call', ({ msg }) => msg === 'called');
    await program.signaled('HTTPServerStoppedListening');
    assert.deepEqual(order(program, 'closed'), []);
    assert.equal(await request.release(), 'served');
    assert.deepEqual(await program.exit, clean);
    assert.deepEqual((await program.finalLine())['requests'], { answered: 1, refused: 0, aborted: 0, cut: 0 });
  });

  test('with ownSignalListeners=run, all listeners are called at once, and the process waits for all of their promises', async (t) => {
    const program = await signalled(t, 'returns promises', run);
    assert.deepEqual(await program.exit, clean);
    const messages = ['first called', 'second called', 'first done', 'second done'];
    assert.deepEqual(order(program, ...messages), messages);
  });

  test('P-116 with ownSignalListeners=run, if a signal listener ends with process.kill(process.pid, signal), the process exits with the exit code of the shutdown', async (t) => {
    const program = await signalled(t, 'signals itself', { HOOK: 'fails', ...run });
    assert.deepEqual(await program.exit, { code: 81, signal: null });
  });
});
