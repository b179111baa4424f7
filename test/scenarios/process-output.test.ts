// Tests that a process exits only after it has written all its log lines. The reader of the log may be slow, or a
// worker thread may write the log.
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { disposed } from '../support/disposed.ts';
import { HeldRequest } from '../support/held-request.ts';
import { ProcessUnderTest, type Line } from '../support/process-under-test.ts';

const endedWell = { code: 0, signal: null };

interface Unread {
  readonly program: ProcessUnderTest;
  readonly read: () => void;
}

/** Starts a program whose standard output is not read until the test calls `read`. */
function unread(t: TestContext, ...how: [fixture: string, env?: Record<string, string>]): Unread {
  const program = disposed(t, new ProcessUnderTest(...how));
  program.child.stdout?.pause();
  return {
    program,
    read() {
      program.child.stdout?.resume();
    },
  };
}

// The fixed time for which a slow reader of the log pauses before it reads (P-060).
const slowly = (): Promise<void> => setTimeout(2_000);

void describe('the process exits only after it has written all its log lines', { concurrency: 6 }, () => {
  test('P-060 the final log line arrives even if the log is larger than the buffer of its pipe and the reader is slow', async (t) => {
    const program = disposed(t, new ProcessUnderTest('logs-more-than-a-pipe-holds.ts'));
    await program.signaled('HasBeenReady');
    program.child.stdout?.pause();
    program.kill('SIGTERM');
    await slowly();
    program.child.stdout?.resume();
    assert.deepEqual(await program.exit, { code: 81, signal: null });
    assert.equal(program.lines.filter(({ msg }) => msg === 'hook failed').length, 1_500);
    assert.equal(((await program.finalLine())['hookFailures'] as unknown[]).length, 1_500);
    assert.ok(program.lines.every(({ level }) => level !== undefined));
  });

  for (const env of [{}, { NON_BLOCKING: '1' }]) {
    const how = 'NON_BLOCKING' in env ? ', with standard output set to non-blocking' : '';
    test(`P-060 the final log line is complete even if the program has written a lot of output before it${how}`, async (t) => {
      const { program, read } = unread(t, 'floods-its-output.ts', env);
      await program.printed(/flooded/);
      program.kill('SIGTERM');
      await slowly();
      read();
      assert.deepEqual(await program.exit, endedWell);
      assert.deepEqual(phasesIn(program), Object.keys((await program.finalLine())['phases'] as object));
    });
  }

  test('P-060 the final log line arrives at a slow reader even if a second process signal ends the process', async (t) => {
    const { program, read } = unread(t, 'floods-its-output.ts', { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '9s' });
    await program.printed(/flooded/);
    program.kill('SIGTERM');
    const isOver = program.killAgain('SIGINT');
    await slowly();
    read();
    await isOver;
    assert.deepEqual(await program.exit, { code: 1, signal: null });
    assert.equal((await program.finalLine())['exitCode'], 1);
    assert.ok(program.lines.some(({ msg }) => msg?.startsWith('second process signal SIGINT: ') === true));
  });

  for (const EXIT of [undefined, '5']) {
    const how = EXIT === undefined ? 'by itself' : 'by process.exit()';
    test(`P-061 if pino writes in a worker thread, no log line is lost when the process ends ${how}`, async (t) => {
      const program = disposed(t, new ProcessUnderTest('logs-through-a-worker.ts', EXIT === undefined ? {} : { EXIT }));
      await program.signaled('HasBeenReady');
      program.kill('SIGTERM');
      assert.deepEqual(await program.exit, { code: Number(EXIT ?? 0), signal: null });
      const talk = program.lines.filter(({ msg }) => msg === 'talk').map((line) => line['index']);
      assert.deepEqual(talk, [...Array(5_000).keys()]);
      const final = await program.finalLine();
      assert.equal(program.lines.at(-1), final);
      assert.deepEqual([final['exitCode'], final['heldBy']], [Number(EXIT ?? 0), []]);
    });
  }

  test('P-061 if pino writes in a worker thread, the final log line arrives even after a second process signal', async (t) => {
    const program = disposed(
      t,
      new ProcessUnderTest('logs-through-a-worker.ts', { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '1s' }),
    );
    await program.signaled('HasBeenReady');
    program.kill('SIGTERM');
    await program.signaled('ShutdownInitiated');
    await program.killAgain('SIGINT');
    assert.deepEqual(await program.exit, { code: 1, signal: null });
    assert.equal(program.lines.at(-1), await program.finalLine());
  });

  test('a drain completes as usual if the reader of the log closes its pipe', async (t) => {
    const program = disposed(t, new ProcessUnderTest('listens.ts'));
    const request = await HeldRequest.open(t, await program.ready());
    program.kill('SIGTERM');
    await program.signaled('ShutdownInitiated');
    program.child.stdout?.destroy();
    assert.equal(await request.release(), 'served');
    assert.deepEqual(await program.exit, endedWell);
    assert.equal(program.stderr, '');
  });

  test("the program's own logger gets every line, and standard output gets none", async (t) => {
    const program = disposed(t, new ProcessUnderTest('logs-to-standard-error.ts'));
    await program.printed(/HasBeenReady/);
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, endedWell);
    assert.deepEqual(program.lines, []);
    const lines = program.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
    assert.match(lines[0]?.msg ?? '', /^lifecycle started/);
    assert.equal(lines.filter(({ msg }) => msg?.endsWith(' event')).length, 8);
    assert.equal(lines.at(-1)?.['schema'], 'lameduck/shutdown/v1');
  });
});

function phasesIn(program: ProcessUnderTest): unknown[] {
  return program.lines.filter(({ msg }) => msg === 'shutdown event').map((line) => line['name']);
}
