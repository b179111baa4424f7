// Tests the last log lines that the probe thread writes if the event loop is still blocked at the end of the shutdown
// budget.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { ShutdownRecord } from '../../src/observer.ts';
import { BlockedProcessEnd, noteMainThreadReport } from '../../src/probe-worker/blocked-process-end.ts';
import { SharedState } from '../../src/probe-worker/shared-state.ts';
import { FakeClock, settled } from '../support/fake-clock.ts';
import { emptyFile } from '../support/termination-log.ts';

class WordsUnderTest {
  readonly clock = new FakeClock();
  readonly state: SharedState;
  readonly lines: string[] = [];
  stalledMs = 10_000;
  isWritable = true;
  paused = (): Promise<boolean> => Promise.resolve(this.isPaused);
  isPaused = false;
  isAttached = false;
  kills = 0;
  readonly words: BlockedProcessEnd;

  constructor(terminationMessagePath = '', state = new SharedState()) {
    this.state = state;
    this.words = new BlockedProcessEnd({
      clock: this.clock,
      state,
      terminationMessagePath,
      logFormat: 'json' as const,
      stalledMs: () => this.stalledMs,
      isAttached: () => this.isAttached,
      isPaused: () => this.paused(),
      kill: () => this.kills++,
      write: (line) => {
        if (this.isWritable) this.lines.push(line);
        return this.isWritable;
      },
    });
  }

  /**
   * `note()` simulates a report that the main thread has sent `ageMs` milliseconds ago. According to this report, a
   * shutdown is running, and `remainingMs` of the shutdown budget are left.
   */
  note(remainingMs: number, { ageMs = 0, uncaughtError }: { ageMs?: number; uncaughtError?: string } = {}): void {
    this.words.note({ record, uncaughtError, remainingMs }, ageMs);
  }

  /**
   * saidAfter moves the clock forward to each time in `moments`, in milliseconds after the call. For each of these
   * times, saidAfter returns how many lines the probe thread has written so far.
   */
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
  schema: 'lameduck/shutdown/v1',
  reason: 'SIGTERM',
  durationMs: 100,
  budgetMs: 2_000,
  exitCode: 0,
  heldBy: [],
  hookFailures: [],
  stepFailures: [],
  unfinished: [],
  requests: { cut: 0 },
} as unknown as ShutdownRecord;

test('if the event loop of a process stays blocked, the probe thread writes one final log line after the end of the shutdown budget, and no line before', async () => {
  const under = new WordsUnderTest();
  under.note(2_000);
  assert.deepEqual(await under.saidAfter([0, 2_000, 2_499, 2_500, 2_600, 60_000]), [0, 0, 0, 1, 1, 1]);
  const { durationMs, exitCode } = JSON.parse(under.lines[0] ?? '') as Record<string, unknown>;
  assert.deepEqual([durationMs, exitCode], [2_600, 137]);
});

test('the probe thread counts the shutdown budget from the start of the shutdown, even if the main thread reports the shutdown to the probe thread later', async () => {
  const under = new WordsUnderTest();
  under.note(2_000, { ageMs: 800 });
  assert.deepEqual(await under.saidAfter([1_699, 1_700]), [0, 1]);
  assert.equal((JSON.parse(under.lines[0] ?? '') as Record<string, unknown>)['durationMs'], 2_600);
});

test('half a second after the end of the shutdown budget, the probe thread checks the main thread again, and writes the final log line in place of a blocked main thread', async () => {
  const under = new WordsUnderTest();
  const due = (): number => under.words.dueIn;
  assert.equal(due(), Infinity);
  under.note(2_000);
  assert.equal(due(), 2_500);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  under.paused = () => promise;
  await under.saidAfter([2_100]);
  resolve(false);
  assert.equal(due(), 400);
  await under.clock.advance(400);
  under.words.tick();
  assert.equal(under.lines.length, 1);
  assert.equal(due(), Infinity);
});

test('if the event loop becomes blocked only at the end of the shutdown budget, the probe thread writes the final log line when the event loop has been blocked for one second', async () => {
  const under = new WordsUnderTest();
  under.note(0);
  under.stalledMs = 950;
  assert.deepEqual(await under.saidAfter([500]), [0]);
  assert.equal(under.words.dueIn, 50);
  under.stalledMs = 1_000;
  assert.deepEqual(await under.saidAfter([50]), [1]);
});

test('P-058 if the main thread does not exit with its own exit code within one second of its final log line, the probe thread ends the process', async () => {
  const under = new WordsUnderTest();
  under.note(0);
  noteMainThreadReport(under.state, '');
  under.stalledMs = 999;
  await under.saidAfter([500]);
  assert.equal(under.kills, 0);
  under.stalledMs = 1_000;
  await under.saidAfter([1]);
  assert.equal(under.kills, 1);
});

test('the probe thread writes no final log line if no shutdown is running, if the event loop is not blocked, or if the main thread has written the line', async () => {
  const idle = new WordsUnderTest();
  assert.deepEqual(await idle.saidAfter([60_000]), [0]);
  const turning = new WordsUnderTest();
  turning.stalledMs = 200;
  turning.note(0);
  assert.deepEqual(await turning.saidAfter([60_000]), [0]);
  const reported = new WordsUnderTest();
  reported.note(0);
  noteMainThreadReport(reported.state, '');
  assert.deepEqual(await reported.saidAfter([60_000]), [0]);
});

test('if the probe thread cannot write a log line, it tries again later', async () => {
  const under = new WordsUnderTest();
  under.isWritable = false;
  under.note(0);
  assert.deepEqual(await under.saidAfter([600, 700]), [0, 0]);
  under.isWritable = true;
  assert.deepEqual(await under.saidAfter([100, 200]), [1, 1]);
});

test('P-118 the probe thread ends the process only when no debugger is attached, and gives a slow reader of the log time to read the final log line before that', async () => {
  const under = new WordsUnderTest();
  under.note(0);
  under.isPaused = true;
  assert.deepEqual(await under.saidAfter([60_000]), [0]);
  assert.equal(under.kills, 0);
  under.isPaused = false;
  under.isAttached = true;
  assert.deepEqual(await under.saidAfter([100]), [0]);
  under.isAttached = false;
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

test("K-212 if the main thread writes the final log line, it removes the probe thread's termination message, even if the probe thread has repeatedly failed to write this line", async (t) => {
  // Test two termination messages: one without an uncaught error, and one with a long error message, which lameduck
  // cuts in the middle of a character.
  for (const uncaughtError of [undefined, `x${'é'.repeat(3_000)}`]) {
    const path = emptyFile(t);
    const under = new WordsUnderTest(path);
    under.isWritable = false;
    under.note(0, uncaughtError === undefined ? {} : { uncaughtError });
    await under.saidAfter([600, 700, 800]);
    assert.notEqual(readFileSync(path, 'utf8'), '');
    noteMainThreadReport(under.state, path);
    assert.equal(readFileSync(path, 'utf8'), '');
  }
});

test('K-212 if the program has written its own termination message, the probe thread neither overwrites nor removes this message', async (t) => {
  const path = emptyFile(t);
  writeFileSync(path, 'from before');
  const late = new WordsUnderTest(path);
  late.note(0);
  assert.deepEqual(await late.saidAfter([600]), [1]);
  noteMainThreadReport(late.state, path);
  assert.equal(readFileSync(path, 'utf8'), 'from before');
  writeFileSync(path, '');
  const early = new WordsUnderTest(path);
  early.note(0);
  await early.saidAfter([600]);
  // The test acts as a program that overwrites the probe thread's termination message with another message of the same
  // length.
  const own = 'o'.repeat(readFileSync(path).length);
  writeFileSync(path, own);
  noteMainThreadReport(early.state, path);
  assert.equal(readFileSync(path, 'utf8'), own);
});

test('K-212 if the main thread and the probe thread want to write the final log line at the same time, only the main thread writes it', async (t) => {
  class Hurried extends SharedState {
    override set(...[slot, value]: Parameters<SharedState['set']>): void {
      super.set(slot, value);
      if (slot === 'isWritingMessage') super.set('isReported', 1);
    }
  }
  const path = emptyFile(t);
  const under = new WordsUnderTest(path, new Hurried());
  under.note(0);
  assert.deepEqual(await under.saidAfter([600, 700]), [0, 0]);
  assert.equal(readFileSync(path, 'utf8'), '');
  assert.equal(under.state.get('isWritingMessage'), 0);
});

test('K-212 if the main thread writes the final log line while the probe thread is writing the termination message, the main thread waits until this message is complete, and then removes it', async (t) => {
  const path = emptyFile(t);
  const state = new SharedState();
  state.message = 'half written';
  state.set('isWritingMessage', 1);
  const writing = `
    import { writeFileSync } from 'node:fs';
    import { parentPort, workerData } from 'node:worker_threads';
    import { SharedState } from ${JSON.stringify(new URL('../../src/probe-worker/shared-state.ts', import.meta.url).href)};
    const state = new SharedState(workerData.memory);
    parentPort.postMessage('ready');
    state.waitWhile('isReported', 0, 10_000);
    writeFileSync(workerData.path, 'half written');
    state.set('isWritingMessage', 0);
  `;
  const url = new URL(`data:text/javascript,${encodeURIComponent(writing)}`);
  const worker = new Worker(url, { workerData: { memory: state.memory, path } });
  await once(worker, 'message');
  noteMainThreadReport(state, path);
  assert.equal(state.get('isWritingMessage'), 0);
  assert.equal(readFileSync(path, 'utf8'), '');
  await once(worker, 'exit');
});
