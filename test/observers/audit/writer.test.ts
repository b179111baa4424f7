import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Target } from '../../../src/observers/audit/target.ts';
import { Writer } from '../../../src/observers/audit/writer.ts';
import { FakeClock, settled } from '../../support/fake-clock.ts';

interface Append {
  readonly text: string;
  /**
   * Completes the simulated append to the audit file, as if only the first `bytes` bytes of the text had been written.
   * Without `bytes`, the whole text has been written.
   */
  readonly done: (bytes?: number) => Promise<void>;
  readonly fail: (code: string) => Promise<void>;
}

class WriterUnderTest {
  readonly clock = new FakeClock();
  readonly appends: Append[] = [];
  readonly failures: string[] = [];
  readonly writer: Writer;
  isOpen = true;
  isClosed = false;

  constructor(before = '') {
    const target: Target = {
      longestWrite: 20,
      before,
      write: (bytes) =>
        new Promise((resolve, reject) => {
          this.appends.push({
            text: Buffer.from(bytes).toString(),
            done: async (written = bytes.length) => {
              resolve(written);
              await settled();
              await settled();
            },
            fail: async (code) => {
              reject(Object.assign(new Error(code), { code }));
              await settled();
            },
          });
        }),
      close: () => {
        this.isClosed = true;
      },
    };
    this.writer = new Writer({
      clock: this.clock,
      open: () => (this.isOpen ? Promise.resolve(target) : Promise.reject(new Error('ENOENT'))),
      onFailure: ({ message }) => this.failures.push(message),
    });
  }

  get texts(): string[] {
    return this.appends.map(({ text }) => text);
  }

  get last(): Append {
    return this.appends.at(-1) as Append;
  }

  async add(...lines: readonly string[]): Promise<void> {
    for (const line of lines) this.writer.add(`${line}\n`);
    await settled();
    await settled();
  }
}

test('A-205 audit lines of one turn of the event loop are appended to the file in one write of limited size, and the next write waits for the previous write', async () => {
  const under = new WriterUnderTest();
  await under.add('first', 'second');
  await under.add('third', 'fourth', 'fifth', 'sixth');
  assert.deepEqual(under.texts, ['first\nsecond\n']);
  assert.equal(under.writer.missing, 6);
  await under.last.done();
  assert.deepEqual(under.texts.slice(1), ['third\nfourth\nfifth\n']);
  await under.last.done();
  assert.deepEqual(under.texts.slice(2), ['sixth\n']);
  await under.last.done();
  assert.equal(under.writer.missing, 0);
});

test('A-205 after the shutdown has begun, an audit line is written at once; audit lines that are added during this write are written together in the next write', async () => {
  const under = new WriterUnderTest();
  under.writer.writeAtOnce();
  await under.add('a');
  await under.add('b', 'c');
  await under.last.done();
  await under.last.done();
  assert.deepEqual(under.texts, ['a\n', 'b\nc\n']);
});

test('if only a part of a write reaches the audit log, the next write contains the rest', async () => {
  const under = new WriterUnderTest();
  await under.add('abcdef');
  await under.last.done(2);
  await under.add('g');
  assert.deepEqual(under.texts, ['abcdef\n', 'cdef\n']);
  assert.equal(under.writer.missing, 2);
  await under.last.done();
  assert.deepEqual(under.texts.slice(2), ['g\n']);
});

test('if the existing audit log file ends in the middle of a line, a line feed is written before the first audit line', async () => {
  const under = new WriterUnderTest('\n');
  await settled();
  await settled();
  await under.last.done();
  await under.add('a');
  assert.deepEqual(under.texts, ['\n', 'a\n']);
});

test('an audit log that cannot be opened is reported once, before any line, and is opened as soon as possible', async () => {
  const under = new WriterUnderTest();
  under.isOpen = false;
  await under.add();
  assert.deepEqual(under.failures, ['ENOENT']);
  await under.add('a');
  await under.clock.advance(5_000);
  assert.deepEqual([under.failures.length, under.writer.missing, under.writer.dropped], [1, 1, 0]);
  under.isOpen = true;
  await under.clock.advance(1_000);
  await settled();
  assert.deepEqual(under.texts, ['a\n']);
});

test('a failed write to the audit log is reported once, and retried after 10 ms and then after longer times, up to one second', async () => {
  const under = new WriterUnderTest();
  await under.add('a');
  for (const pause of [10, 20, 40, 80, 160, 320, 640, 1_000, 1_000]) {
    const { length } = under.appends;
    await under.last.fail('ENOSPC');
    assert.equal(under.clock.untilNext, pause);
    await under.clock.advance(pause);
    await settled();
    assert.equal(under.appends.length, length + 1);
  }
  assert.equal(under.clock.pending.holding, 0, 'the pause before the next append must not keep the process alive');
  await under.last.done();
  assert.deepEqual([under.failures, under.writer.missing], [['ENOSPC'], 0]);
});

test('while the pipe of the audit log is full, lines are queued; when the queue is full too, this is reported once, and all further lines are dropped and counted', async () => {
  const under = new WriterUnderTest();
  await under.add('a');
  await under.last.fail('EAGAIN');
  assert.deepEqual(under.failures, []);
  const line = 'x'.repeat(1_000_000);
  for (let count = 0; count < 7; count++) under.writer.add(line);
  assert.equal(under.writer.dropped, 3);
  assert.equal(under.writer.missing, 8);
  assert.equal(under.failures.length, 1);
});

test('a flush of the audit log resolves when everything is written', async () => {
  const under = new WriterUnderTest();
  await under.add('a', 'b');
  let isFlushed = false;
  void under.writer.flush().then(() => (isFlushed = true));
  await settled();
  assert.equal(isFlushed, false);
  await under.last.done();
  assert.equal(isFlushed, true);
  assert.equal(under.clock.pending.all, 0);
});

test('a flush of the audit log gives up after a second without progress, but not while lines are being written', async () => {
  const under = new WriterUnderTest();
  under.writer.writeAtOnce();
  await under.add('a');
  await under.add('b', 'c');
  let isFlushed = false;
  void under.writer.flush().then(() => (isFlushed = true));
  await under.clock.advance(900);
  await under.last.done();
  assert.equal(isFlushed, false);
  await under.clock.advance(2_000);
  assert.equal(isFlushed, true);
  assert.equal(under.writer.missing, 2);
});

test('close() of an audit writer closes its file, and later lines are dropped without an error', async () => {
  const under = new WriterUnderTest();
  await under.add('a');
  const closed = under.writer.close();
  await under.last.done();
  await closed;
  assert.equal(under.isClosed, true);
  await under.add('b');
  assert.deepEqual([under.texts, under.writer.dropped, under.failures], [['a\n'], 1, []]);
});
