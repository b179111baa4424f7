// What remains of a process whose event loop is blocked when its time is up.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { ShutdownRecord } from '../../src/observer.ts';
import { LastWords, takeBackLastWords } from '../../src/probe-worker/last-words.ts';
import { SharedState } from '../../src/probe-worker/shared-state.ts';
import { FakeClock, settled } from '../support/fake-clock.ts';
import { ProbedProcess } from '../support/probed-process.ts';
import { emptyFile } from '../support/termination-log.ts';
import type { Line } from '../support/process-under-test.ts';

const shortBudget = {
  LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '4',
  LAMEDUCK_PRE_SHUTDOWN_HOOK_TIMEOUT: '500ms',
  LAMEDUCK_DESTROY_HOOK_TIMEOUT: '500ms',
};

const isFinal = ({ schema }: Line): boolean => schema === 'lameduck/shutdown/v1';

describe('a process that is blocked', { concurrency: true }, () => {
  test('P-118, K-212 the final line and the termination message are there although the event loop is blocked at the end of the budget', async (t) => {
    const path = emptyFile(t);
    const program = await ProbedProcess.start(t, {
      ...shortBudget,
      BLOCK_AT_SHUTDOWN: '60000',
      LAMEDUCK_TERMINATION_MESSAGE_PATH: path,
    });
    const since = performance.now();
    program.kill('SIGTERM');
    const final = await program.line('the final line', isFinal);
    const took = performance.now() - since;
    // Ahead of the kubelet's SIGKILL.
    assert.ok(took > 2_400 && took < 4_000, String(took));
    assert.deepEqual(
      [final['reason'], final['exitCode'], final['heldBy'], final['budgetMs'], final['level']],
      ['SIGTERM', 137, ['event loop'], 2_000, 50],
    );
    // It began behind the process signal, and was said before it was read.
    const durationMs = Number(final['durationMs']);
    assert.ok(durationMs >= 2_490 && durationMs <= took + 1, `${String(durationMs)} of ${String(took)}`);
    assert.deepEqual(Object.keys(final['phases'] as object), ['ShutdownInitiated']);
    assert.match(
      readFileSync(path, 'utf8'),
      /^held by: event loop\nshutdown by SIGTERM took [23](?:\.\d+)?s of 2s; exit code 137$/,
    );
    assert.deepEqual(await program.exit, { code: null, signal: 'SIGKILL' });
    assert.equal(program.lines.filter(({ schema }) => schema !== undefined).length, 1);
  });

  test('P-118 the line has what had happened until shortly before the loop was blocked', async (t) => {
    const program = await ProbedProcess.start(t, { ...shortBudget, DESTROY: '300', BLOCK_AT_DESTROY: '60000' });
    program.kill('SIGTERM');
    const final = await program.line('the final line', isFinal);
    assert.equal(final['exitCode'], 137);
    assert.ok('InFlightRequestsDrained' in (final['phases'] as object));
  });

  test('P-118 a loop that turns again in time says all of it itself', async (t) => {
    const program = await ProbedProcess.start(t, { ...shortBudget, BLOCK_AT_SHUTDOWN: '1500' });
    program.kill('SIGTERM');
    assert.notEqual((await program.finalLine())['exitCode'], 137);
    assert.equal(program.lines.filter(({ schema }) => schema !== undefined).length, 1);
  });

  test('P-118 a process that has written its final line and is blocked then is ended without another line', async (t) => {
    const program = await ProbedProcess.start(t, { ...shortBudget, BLOCK_AT_EXIT: '60000' });
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, { code: null, signal: 'SIGKILL' });
    assert.deepEqual(
      program.lines.filter(({ schema }) => schema !== undefined).map(({ exitCode }) => exitCode),
      [0],
    );
  });
});

describe('an uncaught error and then a blocked loop', { concurrency: true }, () => {
  for (const [when, signals, reason] of [
    ['before any shutdown', ['SIGUSR2'], 'uncaught error'],
    ['in a shutdown that runs', ['SIGTERM', 'SIGUSR2'], 'SIGTERM'],
  ] as const) {
    test(`K-211, K-212, P-118 ${when} the last words have the error, and have it first`, async (t) => {
      const path = emptyFile(t);
      const env = {
        ...{ LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '6', LAMEDUCK_SHUTDOWN_DELAY_DURATION: '2s' },
        ...{ LAMEDUCK_PRE_SHUTDOWN_HOOK_TIMEOUT: '500ms', LAMEDUCK_DESTROY_HOOK_TIMEOUT: '500ms' },
        LAMEDUCK_TERMINATION_MESSAGE_PATH: path,
      };
      const program = await ProbedProcess.start(t, env, { fixture: 'throws-and-blocks.ts' });
      for (const signal of signals) {
        program.kill(signal);
        await program.signaled('ShutdownInitiated');
      }
      await program.line('the last words', isFinal);
      const [first, ...rest] = readFileSync(path, 'utf8').split('\n');
      assert.equal(first, 'uncaught error: TypeError: thrown');
      assert.match(rest.at(-2) ?? '', /^held by: event loop$/);
      assert.match(
        rest.at(-1) ?? '',
        new RegExp(`^shutdown by ${reason} took [45](?:\\.\\d+)?s of 4s; exit code 137$`),
      );
    });
  }
});

class WordsUnderTest {
  readonly clock = new FakeClock();
  readonly state: SharedState;
  readonly lines: string[] = [];
  stalledMs = 10_000;
  isWritable = true;
  isPaused = false;
  kills = 0;
  readonly words: LastWords;

  constructor(terminationMessagePath = '', state = new SharedState()) {
    this.state = state;
    this.words = new LastWords({
      ...{ clock: this.clock, state, terminationMessagePath },
      stalledMs: () => this.stalledMs,
      isPaused: () => Promise.resolve(this.isPaused),
      kill: () => this.kills++,
      write: (line) => {
        if (this.isWritable) this.lines.push(line);
        return this.isWritable;
      },
    });
  }

  /** note says that a shutdown runs, with so many milliseconds left. */
  note(remainingMs: number, uncaughtError?: string): void {
    this.words.note({ record, uncaughtError, remainingMs });
  }

  /** saidAfter tells, for each of these moments behind the last word of the main thread, how many lines there are by then. */
  async saidAfter(moments: readonly number[]): Promise<number[]> {
    const counts: number[] = [];
    let at = 0;
    for (const moment of moments) {
      await this.clock.advance(moment - at);
      at = moment;
      this.words.tick();
      await settled();
      counts.push(this.lines.length);
    }
    return counts;
  }
}

const record = {
  ...{ schema: 'lameduck/shutdown/v1', reason: 'SIGTERM', durationMs: 100, budgetMs: 2_000, exitCode: 0 },
  ...{ heldBy: [], hookFailures: [], stepFailures: [], unfinished: [], requests: { cut: 0 } },
} as unknown as ShutdownRecord;

test('nothing is said before the end of the budget, and one line behind it', async () => {
  const under = new WordsUnderTest();
  under.note(2_000);
  assert.deepEqual(await under.saidAfter([0, 2_000, 2_499, 2_500, 2_600, 60_000]), [0, 0, 0, 1, 1, 1]);
  const { durationMs, exitCode } = JSON.parse(under.lines[0] ?? '') as Record<string, unknown>;
  assert.deepEqual([durationMs, exitCode], [2_600, 137]);
});

test('nothing is said of a process that does not shut down, turns, or has said it itself', async () => {
  const idle = new WordsUnderTest();
  assert.deepEqual(await idle.saidAfter([60_000]), [0]);
  const turning = new WordsUnderTest();
  turning.stalledMs = 400;
  turning.note(0);
  assert.deepEqual(await turning.saidAfter([60_000]), [0]);
  const reported = new WordsUnderTest();
  reported.note(0);
  takeBackLastWords(reported.state, '');
  assert.deepEqual(await reported.saidAfter([60_000]), [0]);
});

test('a line that nobody takes is offered again', async () => {
  const under = new WordsUnderTest();
  under.isWritable = false;
  under.note(0);
  assert.deepEqual(await under.saidAfter([600, 700]), [0, 0]);
  under.isWritable = true;
  assert.deepEqual(await under.saidAfter([100, 200]), [1, 1]);
});

test('P-118 the process is ended behind its line, not while a debugger has paused it, and not in the time for a slow reader', async () => {
  const under = new WordsUnderTest();
  under.note(0);
  under.isPaused = true;
  assert.deepEqual(await under.saidAfter([60_000]), [0]);
  assert.equal(under.kills, 0);
  under.isPaused = false;
  assert.deepEqual(await under.saidAfter([100]), [1]);
  assert.equal(under.kills, 1);
  const slow = new WordsUnderTest();
  slow.isWritable = false;
  slow.note(0);
  await slow.saidAfter([600, 1_400]);
  assert.equal(slow.kills, 0);
  await slow.saidAfter([200]);
  assert.equal(slow.kills, 1);
});

test('K-212 the message that is taken back is the one that stands there, however often the line was offered', async (t) => {
  // The second is cut in the middle of a character.
  for (const uncaughtError of [undefined, `x${'é'.repeat(3_000)}`]) {
    const path = emptyFile(t);
    const under = new WordsUnderTest(path);
    under.isWritable = false;
    under.note(0, uncaughtError);
    await under.saidAfter([600, 700, 800]);
    assert.notEqual(readFileSync(path, 'utf8'), '');
    takeBackLastWords(under.state, path);
    assert.equal(readFileSync(path, 'utf8'), '');
  }
});

test('K-212 a message of the program’s own is neither written over nor taken back', async (t) => {
  const path = emptyFile(t);
  writeFileSync(path, 'from before');
  const late = new WordsUnderTest(path);
  late.note(0);
  assert.deepEqual(await late.saidAfter([600]), [1]);
  takeBackLastWords(late.state, path);
  assert.equal(readFileSync(path, 'utf8'), 'from before');
  writeFileSync(path, '');
  const early = new WordsUnderTest(path);
  early.note(0);
  await early.saidAfter([600]);
  // As long as the one in its place.
  const own = 'o'.repeat(readFileSync(path).length);
  writeFileSync(path, own);
  takeBackLastWords(early.state, path);
  assert.equal(readFileSync(path, 'utf8'), own);
});

test('K-212 a main thread that reports in the moment in which the thread begins is the only one to say something', async (t) => {
  class Hurried extends SharedState {
    override set(...[slot, value]: Parameters<SharedState['set']>): void {
      super.set(slot, value);
      if (slot === 'isSpeaking') super.set('isReported', 1);
    }
  }
  const path = emptyFile(t);
  const under = new WordsUnderTest(path, new Hurried());
  under.note(0);
  assert.deepEqual(await under.saidAfter([600, 700]), [0, 0]);
  assert.equal(readFileSync(path, 'utf8'), '');
  assert.equal(under.state.get('isSpeaking'), 0);
});

test('K-212 a main thread that reports while the thread writes waits for that, and takes it back', async (t) => {
  const path = emptyFile(t);
  const state = new SharedState();
  state.message = 'half written';
  state.set('isSpeaking', 1);
  const writing = `
    import { writeFileSync } from 'node:fs';
    import { parentPort, workerData } from 'node:worker_threads';
    import { SharedState } from ${JSON.stringify(new URL('../../src/probe-worker/shared-state.ts', import.meta.url).href)};
    const state = new SharedState(workerData.memory);
    parentPort.postMessage('ready');
    state.waitWhile('isReported', 0, 10_000);
    writeFileSync(workerData.path, 'half written');
    state.set('isSpeaking', 0);
  `;
  const url = new URL(`data:text/javascript,${encodeURIComponent(writing)}`);
  const worker = new Worker(url, { workerData: { memory: state.memory, path } });
  await once(worker, 'message');
  takeBackLastWords(state, path);
  assert.equal(state.get('isSpeaking'), 0);
  assert.equal(readFileSync(path, 'utf8'), '');
  await once(worker, 'exit');
});
