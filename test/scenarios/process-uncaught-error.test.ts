// Tests uncaught errors in a whole program: lameduck prints what Node would print, and requests in flight still get
// their responses.
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { disposed } from '../support/disposed.ts';
import { HeldRequest } from '../support/held-request.ts';
import { ProcessUnderTest, type Line } from '../support/process-under-test.ts';

/**
 * Runs a program that throws, once with lameduck and once without. Returns what each of the two runs has written to
 * standard error.
 */
async function printed(t: TestContext, thrown: string): Promise<[ours: string, nodes: string]> {
  return (await Promise.all(
    [{}, { LAMEDUCK_DISABLED: '1' }].map(async (env) => {
      const program = disposed(t, new ProcessUnderTest('throws.ts', { THROWN: thrown, ...env }));
      await program.port();
      program.kill('SIGUSR2');
      const { code } = await program.exit;
      assert.equal(code, 'LAMEDUCK_DISABLED' in env ? 1 : 82);
      return program.stderr;
    }),
  )) as [string, string];
}

const isFinal = ({ schema }: Line): boolean => schema !== undefined;

void describe('an uncaught error is printed to standard error, and begins the shutdown', { concurrency: 3 }, () => {
  for (const thrown of ['error', 'made', 'rejection']) {
    test(`P-063, P-064, K-211 an uncaught error is printed as Node prints it: ${thrown}`, async (t) => {
      const [ours, nodes] = await printed(t, thrown);
      assert.equal(ours, nodes);
    });
  }

  for (const thrown of ['text', 'object', 'text_rejection', 'event']) {
    test(`P-063, P-064 an error whose stack has no source location is printed without a location: ${thrown}`, async (t) => {
      const [ours, nodes] = await printed(t, thrown);
      assert.ok(ours.length > 0);
      // The error report of Node first shows the source line that threw the error. The test compares the lines after
      // that, which are the same with lameduck as without.
      if (thrown === 'event') assert.match(nodes, /^node:events:\d+\n.*\n +\^\n\n/);
      assert.equal(withoutPlace(ours), withoutPlace(nodes));
    });
  }

  test('P-063, K-211 after an uncaught error /readyz fails, requests in flight finish, and the process exits with 82', async (t) => {
    const program = disposed(t, new ProcessUnderTest('throws.ts', { LAMEDUCK_SHUTDOWN_SEND_RETRY_AFTER: 'true' }));
    const port = await program.ready();
    const request = await HeldRequest.open(t, port);
    program.kill('SIGUSR2');
    await program.signaled('ShutdownInitiated');
    assert.equal((await fetch(`http://127.0.0.1:${String(port)}/readyz`)).status, 500);
    assert.equal(await request.release(), 'served');
    assert.deepEqual(await program.exit, { code: 82, signal: null });
    const final = await program.finalLine();
    assert.deepEqual([final['exitCode'], final['reason']], [82, 'uncaught error']);
    const logged = program.lines.find(({ msg }) => msg === 'uncaught error');
    assert.equal((logged?.['err'] as Line)['message'], 'thrown: the cause');
  });

  test('P-063, K-211 requests in flight have two seconds to finish after an uncaught error', async (t) => {
    const program = disposed(t, new ProcessUnderTest('throws.ts'));
    const request = await HeldRequest.open(t, await program.ready());
    program.kill('SIGUSR2');
    await request.cut();
    assert.deepEqual(await program.exit, { code: 82, signal: null });
    const { phases, unfinished, exitCode } = await program.finalLine();
    const { InFlightRequestsDrained, NotAcceptingNewRequest } = phases as Record<string, number>;
    const drain = Number(InFlightRequestsDrained) - Number(NotAcceptingNewRequest);
    // After an uncaught error, the drain may last 2 s. After a process signal, the drain of this program may last 25 s.
    assert.ok(drain >= 1_990 && drain < 4_000, `the drain took ${String(drain)} ms`);
    assert.equal((unfinished as Line[]).length, 1);
    assert.equal(exitCode, 82);
  });

  test('P-063 a second uncaught error ends the process at once with exit code 82', async (t) => {
    const program = disposed(t, new ProcessUnderTest('throws.ts'));
    const request = await HeldRequest.open(t, await program.ready());
    program.kill('SIGUSR2');
    await program.signaled('ShutdownInitiated');
    program.kill('SIGUSR2');
    await request.cut();
    assert.deepEqual(await program.exit, { code: 82, signal: null });
    assert.equal(program.stderr.match(/^TypeError: thrown/gm)?.length, 2);
    assert.ok(program.lines.some(({ msg }) => msg === 'second uncaught error: exiting at once'));
    const final = await program.finalLine();
    assert.equal(final, program.lines.at(-1));
    assert.equal(final['exitCode'], 82);
    assert.ok(Number(final['durationMs']) < 2_000, 'the first error alone would have left two seconds for the drain');
  });

  test('P-056, P-063 a process signal during the shutdown for an uncaught error starts no second shutdown, and a second signal ends the process', async (t) => {
    const program = disposed(t, new ProcessUnderTest('throws.ts'));
    await HeldRequest.open(t, await program.ready());
    program.kill('SIGUSR2');
    await program.signaled('HTTPServerStoppedListening');
    program.kill('SIGTERM');
    await program.killAgain('SIGINT');
    assert.deepEqual(await program.exit, { code: 1, signal: null });
    const final = await program.finalLine();
    assert.deepEqual([final['exitCode'], final['reason']], [1, 'uncaught error']);
    assert.equal(program.lines.filter((line) => line['name'] === 'ShutdownInitiated').length, 1);
  });

  test('P-056, P-063 an uncaught error during a shutdown that a process signal has begun does not stop this shutdown, and the process exits with 82', async (t) => {
    const program = disposed(t, new ProcessUnderTest('throws.ts'));
    const request = await HeldRequest.open(t, await program.ready());
    program.kill('SIGTERM');
    await program.signaled('HTTPServerStoppedListening');
    program.kill('SIGUSR2');
    await program.line('the error', ({ msg }) => msg === 'uncaught error');
    assert.equal(await request.release(), 'served');
    assert.deepEqual(await program.exit, { code: 82, signal: null });
    assert.equal((await program.finalLine())['reason'], 'SIGTERM');
  });

  test('P-063 an uncaught error after the drain ends the process at once with exit code 82', async (t) => {
    const program = disposed(t, new ProcessUnderTest('throws-after-its-drain.ts'));
    await program.signaled('HasBeenReady');
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, { code: 82, signal: null });
    assert.match(program.stderr, /Error: the pool is closed/);
    assert.equal(program.lines.filter(isFinal).length, 1);
    assert.ok(program.lines.some(({ msg }) => msg === 'uncaught error after the drain: exiting at once'));
  });

  test('P-063 a program that handles uncaught errors itself continues after an uncaught error, as without lameduck', async (t) => {
    const program = disposed(t, new ProcessUnderTest('survives-its-own-errors.ts'));
    await program.line('the error', ({ msg }) => msg === 'handled thrown');
    await program.signaled('HasBeenReady');
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, { code: 0, signal: null });
    assert.equal((await program.finalLine())['reason'], 'SIGTERM');
    assert.equal(program.stderr, '');
  });

  for (const nodeOptions of [[], ['--require', 'node:domain']]) {
    const options = nodeOptions.join(' ') || 'no options';
    test(`P-063 with ${options}, a program whose only uncaughtException listener calls process.exit() has the same exit code as without lameduck`, async (t) => {
      const program = disposed(t, new ProcessUnderTest('reports-its-errors.ts', {}, nodeOptions));
      assert.deepEqual(await program.exit, { code: 1, signal: null });
    });
  }

  test("P-063 an uncaught error begins the shutdown even if a library has set process.emit back to Node's own function", async (t) => {
    const program = disposed(t, new ProcessUnderTest('replaces-process-emit.ts'));
    await program.ready();
    program.child.stdin?.write('throw');
    assert.deepEqual(await program.exit, { code: 82, signal: null });
    assert.equal((await program.finalLine())['reason'], 'uncaught error');
  });

  for (const when of ['before', 'after']) {
    test(`P-063 requests in flight finish even if a library that exits at uncaught errors was loaded ${when} lameduck`, async (t) => {
      const program = disposed(t, new ProcessUnderTest('replaces-process-emit.ts', { EXITS: when }));
      const request = await HeldRequest.open(t, await program.ready());
      program.child.stdin?.write('throw');
      await program.signaled('HTTPServerStoppedListening');
      assert.equal(await request.release(), 'served');
      assert.deepEqual(await program.exit, { code: 82, signal: null });
    });
  }

  test('P-063 an uncaught error in a program with node:domain is printed, and ends the program with 82', async (t) => {
    const program = disposed(t, new ProcessUnderTest('throws.ts', {}, ['--require', 'node:domain']));
    await program.ready();
    program.kill('SIGUSR2');
    assert.deepEqual(await program.exit, { code: 82, signal: null });
    assert.match(program.stderr, /^TypeError: thrown/m);
    assert.equal((await program.finalLine())['reason'], 'uncaught error');
  });
});

// Removes the source excerpt at the start of an error report: the lines up to the caret `^`, and the empty line after
// the caret.
function withoutPlace(text: string): string {
  return text.replace(/^\n?(file|node):[^]*?\n\s*\^\n\n?/, '');
}
