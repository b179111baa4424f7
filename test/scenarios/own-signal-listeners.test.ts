// Tests programs that call lameduck() and listen for process signals themselves: when their listeners are called, how
// long they have, and how the process ends.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { disposed } from '../support/disposed.ts';
import { registered } from '../support/guest.ts';
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

/** order says which of these messages were printed, in their order. */
function order({ lines }: ProcessUnderTest, ...messages: readonly string[]): string[] {
  return lines.flatMap(({ msg = '' }) => (messages.includes(msg) ? [msg] : []));
}

void describe("the program's own signal listeners", { concurrency: 4 }, () => {
  for (const how of ['the signal', 'process.emit() of it']) {
    test(`P-111 they see ${how} after the last response and the final line, with the arguments of the signal`, async (t) => {
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

  test('they are called wherever and whenever they were added, each once, and listeners of exit as ever', async (t) => {
    const program = await signalled(t, 'adds listeners of every kind');
    assert.deepEqual(await program.exit, clean);
    const messages = ['first', 'earliest', 'second', 'third', 'exit'];
    assert.deepEqual(order(program, final, ...messages), [final, ...messages]);
    // The second, which wanted to be called once, is gone; one is lameduck's.
    assert.equal((await program.line('the count', ({ msg }) => msg === 'third'))['count'], 4);
  });

  for (const by of ['lameduck()', 'lameduck/register']) {
    const env = by === 'lameduck()' ? { LIFECYCLE: 'code' } : registered();

    test(`P-111 with ${by} they are called if a library wraps process.on()`, async (t) => {
      const program = disposed(t, new ProcessUnderTest('wraps-process-on.ts', env));
      const request = await HeldRequest.open(t, await program.ready());
      program.kill('SIGTERM');
      await program.signaled('HTTPServerStoppedListening');
      assert.equal(await request.release(), 'served');
      assert.deepEqual(await program.exit, { code: 5, signal: null });
      assert.deepEqual(order(program, final, 'called'), [final, 'called']);
    });

    test(`with ${by} a program that removes all listeners drains if a library wraps process.on()`, async (t) => {
      const program = disposed(t, new ProcessUnderTest('wraps-process-on.ts', env));
      await program.ready();
      program.child.stdin?.write('remove');
      await program.line('removed', ({ msg }) => msg === 'removed');
      program.kill('SIGTERM');
      assert.deepEqual(await program.exit, clean);
      assert.deepEqual(order(program, final, 'called'), [final]);
    });
  }

  test('the log says at the signal how many are held, and which setting calls them at once', async (t) => {
    const program = await signalled(t, 'only logs, and nothing holds it');
    await program.exit;
    const { count, ownSignalListeners, level } = await program.line(
      'it',
      ({ msg }) =>
        msg?.startsWith(
          'own signal listeners held until the drain has ended: set LAMEDUCK_OWN_SIGNAL_LISTENERS=run',
        ) === true,
    );
    assert.deepEqual({ count, ownSignalListeners, level }, { count: 2, ownSignalListeners: 'hold', level: 30 });
  });

  test('each is called when the promise of the one before has settled, and the process waits for the last', async (t) => {
    const program = await signalled(t, 'returns promises');
    // A timer of the program keeps the process alive, and no longer than that.
    assert.deepEqual(await program.exit, clean);
    const messages = ['first called', 'first done', 'second called', 'second done'];
    assert.deepEqual(order(program, final, ...messages), [final, ...messages]);
  });

  test('a callback of server.close() has the rest of the budget, and so has the promise that it returns', async (t) => {
    const program = await signalled(t, 'has a close callback that takes long');
    assert.deepEqual(await program.exit, { code: 5, signal: null });
  });

  test('a callback of the close() of another server is waited for as long as that has a client', async (t) => {
    const program = start(t, 'closes another server that has a client');
    await program.ready();
    const { port } = await program.line('its port', ({ msg }) => msg === 'other listens');
    const client = connect(port as number, '127.0.0.1');
    t.after(() => client.destroy());
    await once(client, 'connect');
    program.kill('SIGTERM');
    await program.line('the call', ({ msg }) => msg === 'called');
    // An empty event loop has a second, which has passed when a program that was signaled later has been ended by it.
    const held = await signalled(t, 'only logs');
    assert.deepEqual(await held.exit, clean);
    assert.equal(program.child.exitCode, null);
    client.end();
    assert.deepEqual(await program.exit, { code: 5, signal: null });
  });

  test('P-058 after one that only logs the process ends when its event loop is empty', async (t) => {
    const program = await signalled(t, 'only logs, and nothing holds it');
    assert.deepEqual(await program.exit, clean);
    assert.deepEqual(order(program, final, 'called', 'event loop not empty'), [final, 'called']);
  });

  test('P-058 after one that only logs the process is ended after a second, and the log says what held it', async (t) => {
    const program = await signalled(t, 'only logs');
    const called = program.line('the call', ({ msg }) => msg === 'called').then(() => performance.now());
    assert.deepEqual(await program.exit, clean);
    assert.ok(performance.now() - (await called) >= 990);
    const { heldBy } = await program.line('what held it', ({ msg }) => msg === 'event loop not empty');
    assert.ok((heldBy as string[]).includes('Timeout'));
  });

  for (const [env, code] of [
    [{}, 0],
    [{ HOOK: 'fails' }, 81],
  ] as const) {
    test(`P-116 a program that sends itself the signal when it is done ends with the code of the shutdown, ${String(code)}`, async (t) => {
      const program = await signalled(t, 'signals itself', env);
      assert.deepEqual(await program.exit, { code, signal: null });
      assert.equal(order(program, 'called').length, 1);
      assert.equal((await program.finalLine())['exitCode'], code);
    });
  }

  for (const [when, called] of [
    ['at once', []],
    ['later', ['second called']],
  ] as const) {
    test(`one that exits ${when} ends the process as without lameduck, after ${String(called.length)} others`, async (t) => {
      const program = await signalled(t, 'exits, with others behind it', { WHEN: when });
      assert.deepEqual(await program.exit, { code: 5, signal: null });
      assert.deepEqual(order(program, final, 'second called'), [final, ...called]);
    });
  }

  test('process.exit(0) does not hide that requests were cut', async (t) => {
    const env = { LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '4', LAMEDUCK_DESTROY_HOOK_TIMEOUT: '1s' };
    const program = start(t, 'exits with 0 whatever was', env);
    const request = await HeldRequest.open(t, await program.ready());
    program.kill('SIGTERM');
    await request.cut();
    assert.deepEqual(await program.exit, { code: 80, signal: null });
    assert.equal((await program.finalLine())['exitCode'], 80);
  });

  test('P-075 a promise that never settles is given up at the end of the budget, with 80', async (t) => {
    const program = await signalled(t, 'never settles', { LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '7' });
    const since = performance.now();
    assert.deepEqual(await program.exit, { code: 80, signal: null });
    assert.ok(performance.now() - since >= 4_800);
    assert.match(String(program.lines.at(-1)?.msg), /own cleanup took longer than the shutdown budget/);
  });

  for (const [listener, error] of [
    ['throws', /^Error: thrown on purpose$/m],
    ['rejects', /^Error: rejected on purpose$/m],
  ] as const) {
    test(`P-063 one that ${listener} is an uncaught error after the drain`, async (t) => {
      const program = await signalled(t, listener);
      assert.deepEqual(await program.exit, { code: 82, signal: null });
      assert.match(program.stderr, error);
      assert.equal((await program.finalLine())['exitCode'], 0);
    });
  }

  test('P-055 with run they are called at once, and what they close of the server joins the drain', async (t) => {
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

  test('with run the process waits for what they have begun, and all are called before the first has settled', async (t) => {
    const program = await signalled(t, 'returns promises', run);
    assert.deepEqual(await program.exit, clean);
    const messages = ['first called', 'second called', 'first done', 'second done'];
    assert.deepEqual(order(program, ...messages), messages);
  });

  test('P-116 with run a program that sends itself the signal when it is done ends with the code of the shutdown', async (t) => {
    const program = await signalled(t, 'signals itself', { HOOK: 'fails', ...run });
    assert.deepEqual(await program.exit, { code: 81, signal: null });
  });
});
