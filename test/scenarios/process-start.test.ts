// Tests process signals that arrive while a program starts, also for programs that are PID 1 of a container.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { describe, test } from 'node:test';
import { disposed } from '../support/disposed.ts';
import { FirstProcess, skip } from '../support/first-process.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';

const endedWell = { code: 0, signal: null };
const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

void describe('a process signal during the start of a program leads to a clean shutdown', { concurrency: 3 }, () => {
  test('P-067, P-054, K-195 a process signal before listen() leads to a clean exit', async (t) => {
    const program = disposed(t, new ProcessUnderTest('never-listens.ts'));
    await program.line('starting', ({ msg }) => msg === 'starting');
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, endedWell);
    assert.deepEqual((await program.finalLine())['heldBy'], ['Timeout']);
  });

  test('P-067, P-054 a process signal in the same tick as listen() leads to a clean exit', async (t) => {
    const program = disposed(t, new ProcessUnderTest('is-signaled-in-the-tick-of-listen.ts'));
    assert.deepEqual(await program.exit, endedWell);
    assert.deepEqual((await program.finalLine())['heldBy'], []);
  });

  test('P-067, P-054, K-195 a process signal while listen() looks up the host name leads to a clean exit', async (t) => {
    const program = disposed(t, new ProcessUnderTest('listens-after-a-slow-lookup.ts'));
    assert.deepEqual(await program.exit, endedWell);
    assert.deepEqual((await program.finalLine())['heldBy'], []);
    assert.ok(!program.lines.some(({ name }) => name === 'MuxAndDiscoveryComplete'));
  });

  test('P-067, A-046 a process signal while a post-start hook hangs leads to a clean exit', async (t) => {
    const program = disposed(t, new ProcessUnderTest('hangs-after-start.ts'));
    await program.line('the hook', ({ msg }) => msg === 'warming up');
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, endedWell);
    const final = await program.finalLine();
    assert.ok(
      Number(final['durationMs']) < 5_000,
      'the process must not wait for the hook, which may take the whole budget',
    );
    assert.deepEqual([final['hookFailures'], final['heldBy']], [[], []]);
  });

  test('a process without a server runs its shutdown at SIGINT, and exits with 0', async (t) => {
    const program = disposed(t, new ProcessUnderTest('works-a-queue.ts'));
    await program.signaled('HasBeenReady');
    program.kill('SIGINT');
    assert.deepEqual(await program.exit, endedWell);
    assert.deepEqual(program.lines[0]?.['addresses'], []);
  });

  for (const name of ['listens.ts', 'never-listens.ts']) {
    const title =
      name === 'listens.ts'
        ? 'a server that is PID 1 drains at SIGTERM'
        : 'a program that is PID 1 is shut down by SIGTERM before listen()';
    test(`P-066, K-100, K-194 SIGTERM shuts down a program that is PID 1: ${title}`, { skip }, async (t) => {
      const first = disposed(t, new FirstProcess([fixture(name)]));
      await first.printed(name === 'listens.ts' ? /"name":"HasBeenReady"/ : /"starting","pid":1\b/);
      await first.signalFirst('SIGTERM');
      assert.deepEqual(await first.exit, endedWell);
      assert.match(first.output, /"pid":1,.*"lameduck\/shutdown\/v1","reason":"SIGTERM","exitCode":0/);
      assert.doesNotMatch(first.output, /started (by|through)/);
    });
  }
});
