// What remains of a process whose event loop is blocked when its time is up.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ShutdownRecord } from '../../src/observer.ts';
import { LastWords } from '../../src/probe-worker/last-words.ts';
import { SharedState } from '../../src/probe-worker/shared-state.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { ProbedProcess } from '../support/probed-process.ts';

const shortBudget = {
  LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '4',
  LAMEDUCK_PRE_SHUTDOWN_HOOK_TIMEOUT: '500ms',
  LAMEDUCK_DESTROY_HOOK_TIMEOUT: '500ms',
};

test('P-118, K-212 the final line and the termination message are there although the event loop is blocked at the end of the budget', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'last-words-'));
  t.after(() => {
    rmSync(folder, { recursive: true });
  });
  const path = join(folder, 'termination-log');
  writeFileSync(path, '');
  const program = await ProbedProcess.start(t, {
    ...shortBudget,
    BLOCK_AT_SHUTDOWN: '60000',
    LAMEDUCK_TERMINATION_MESSAGE_PATH: path,
  });
  const since = performance.now();
  program.kill('SIGTERM');
  const final = await program.line('the final line', ({ schema }) => schema === 'lameduck/shutdown/v1');
  const took = performance.now() - since;
  // Ahead of the kubelet's SIGKILL.
  assert.ok(took > 2_400 && took < 4_000, String(took));
  assert.deepEqual(
    [final['reason'], final['exitCode'], final['heldBy'], final['budgetMs'], final['level']],
    ['SIGTERM', 137, ['event loop'], 2_000, 50],
  );
  assert.ok(Math.abs(Number(final['durationMs']) - took) < 500, String(final['durationMs']));
  assert.deepEqual(Object.keys(final['phases'] as object), ['ShutdownInitiated']);
  assert.match(
    readFileSync(path, 'utf8'),
    /^held by: event loop\nshutdown by SIGTERM took 2\.\d+s of 2s; exit code 137$/,
  );
  assert.equal((await program.probe('/readyz')).status, 500);
  program.kill('SIGKILL');
  assert.deepEqual(await program.exit, { code: null, signal: 'SIGKILL' });
  assert.equal(program.lines.filter(({ schema }) => schema !== undefined).length, 1);
});

test('P-118 the line has what had happened until shortly before the loop was blocked', async (t) => {
  const program = await ProbedProcess.start(t, { ...shortBudget, DESTROY: '300', BLOCK_AT_DESTROY: '60000' });
  program.kill('SIGTERM');
  const final = await program.line('the final line', ({ schema }) => schema === 'lameduck/shutdown/v1');
  assert.equal(final['exitCode'], 137);
  assert.ok('InFlightRequestsDrained' in (final['phases'] as object));
});

test('P-118 a loop that turns again in time says all of it itself', async (t) => {
  const program = await ProbedProcess.start(t, { ...shortBudget, BLOCK_AT_SHUTDOWN: '1500' });
  program.kill('SIGTERM');
  assert.notEqual((await program.finalLine())['exitCode'], 137);
  assert.equal(program.lines.filter(({ schema }) => schema !== undefined).length, 1);
});

test('P-118 of a process that has written its final line and is blocked then, nothing more is said', async (t) => {
  const program = await ProbedProcess.start(t, { ...shortBudget, BLOCK_AT_EXIT: '4000' });
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, { code: 0, signal: null });
  assert.deepEqual(
    program.lines.filter(({ schema }) => schema !== undefined).map(({ exitCode }) => exitCode),
    [0],
  );
});

class WordsUnderTest {
  readonly clock = new FakeClock();
  readonly state = new SharedState();
  readonly lines: string[] = [];
  stalledMs = 10_000;
  isWritable = true;
  readonly words = new LastWords({
    clock: this.clock,
    state: this.state,
    stalledMs: () => this.stalledMs,
    write: (line) => {
      if (this.isWritable) this.lines.push(line);
      return this.isWritable;
    },
    terminationMessagePath: '',
  });

  /** saidAfter tells, for each of these moments behind the last word of the main thread, how many lines there are by then. */
  async saidAfter(moments: readonly number[]): Promise<number[]> {
    const counts: number[] = [];
    let at = 0;
    for (const moment of moments) {
      await this.clock.advance(moment - at);
      at = moment;
      this.words.tick();
      counts.push(this.lines.length);
    }
    return counts;
  }
}

const record = {
  schema: 'lameduck/shutdown/v1',
  durationMs: 100,
  heldBy: [],
  exitCode: 0,
} as unknown as ShutdownRecord;
const said = { ...record, hookFailures: [], unfinished: [], requests: { cut: 0 } } as unknown as ShutdownRecord;

test('nothing is said before the end of the budget, and one line behind it', async () => {
  const under = new WordsUnderTest();
  under.words.note(said, 2_000);
  assert.deepEqual(await under.saidAfter([0, 2_000, 2_499, 2_500, 2_600, 60_000]), [0, 0, 0, 1, 1, 1]);
  const { durationMs, exitCode } = JSON.parse(under.lines[0] ?? '') as Record<string, unknown>;
  assert.deepEqual([durationMs, exitCode], [2_600, 137]);
});

test('nothing is said of a process that does not shut down, turns, or has said it itself', async () => {
  const idle = new WordsUnderTest();
  assert.deepEqual(await idle.saidAfter([60_000]), [0]);
  const turning = new WordsUnderTest();
  turning.stalledMs = 400;
  turning.words.note(said, 0);
  assert.deepEqual(await turning.saidAfter([60_000]), [0]);
  const reported = new WordsUnderTest();
  reported.words.note(said, 0);
  reported.state.set('isReported', 1);
  assert.deepEqual(await reported.saidAfter([60_000]), [0]);
});

test('a line that nobody takes is offered again', async () => {
  const under = new WordsUnderTest();
  under.isWritable = false;
  under.words.note(said, 0);
  assert.deepEqual(await under.saidAfter([600, 700]), [0, 0]);
  under.isWritable = true;
  assert.deepEqual(await under.saidAfter([100, 200]), [1, 1]);
});
