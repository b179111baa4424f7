import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ShutdownRecord } from '../../src/observer.ts';
import {
  errorText,
  takeBackTerminationMessage,
  terminationText,
  writeTerminationMessage,
} from '../../src/process/termination-message.ts';
import { disposed } from '../support/disposed.ts';
import { HeldRequest } from '../support/held-request.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';
import { emptyFile, folder } from '../support/termination-log.ts';

const record: ShutdownRecord = {
  schema: 'lameduck/shutdown/v1',
  reason: 'SIGTERM',
  exitCode: 80,
  phases: {},
  durationMs: 25_000,
  budgetMs: 28_000,
  requests: { answered: 3, refused: 0, aborted: 0, cut: 2 },
  longRunningEnded: 0,
  unfinished: [{ method: 'GET', route: '/report', ageMs: 31_000, peer: '10.0.3.17:40022' }],
  hookFailures: [{ kind: 'destroy', name: 'pool', error: 'destroy hook "pool" failed: already ended' }],
  stepFailures: [{ step: 'stop listening', error: 'broken' }],
  heldBy: ['TCPSocketWrap'],
};

test('K-212 the termination message first names the failure that caused the exit code, and then the consequences of this failure', () => {
  assert.equal(
    terminationText(record),
    [
      'requests without a complete response at the end of the drain: 2',
      'destroy hook "pool" failed: already ended',
      'stop listening: broken',
      'held by: TCPSocketWrap',
      'shutdown by SIGTERM took 25s of its budget of 28s; exit code 80',
      'unanswered for 31s: GET /report from 10.0.3.17:40022',
    ].join('\n'),
  );
  assert.match(terminationText(record, errorText(new TypeError('no'))), /^uncaught error: TypeError: no\n/);
  assert.match(terminationText(record, errorText('a string')), /^uncaught error: a string\n/);
});

test('K-212 any thrown value has a text of limited length in the termination message', () => {
  const withStack = (stack: unknown): Error => Object.assign(new Error('message'), { stack });
  for (const stack of [undefined, Symbol('s'), () => undefined, Object.create(null)]) {
    assert.equal(errorText(withStack(stack)), 'message');
  }
  const throwing = Object.defineProperty(new Error('message'), 'stack', {
    get() {
      throw new Error('no stack');
    },
  });
  assert.equal(errorText(throwing), 'message');
  assert.equal(errorText(withStack('x'.repeat(1_000_000))).length, 3_072);
});

test('K-115, K-212 a termination message is cut to 3072 bytes, at a character boundary', (t) => {
  for (const text of ['x'.repeat(5_000), `x${'é'.repeat(3_000)}`, '漢'.repeat(3_000), '🦆'.repeat(3_000)]) {
    const path = emptyFile(t);
    writeTerminationMessage(path, text);
    const written = readFileSync(path);
    assert.ok(written.length > 3_068 && written.length <= 3_072, String(written.length));
    assert.ok(text.startsWith(written.toString()));
  }
});

test('K-212 lameduck writes the termination message into the existing file if this file is empty; lameduck creates no file and replaces no file', (t) => {
  const path = emptyFile(t);
  const { ino } = statSync(path);
  writeTerminationMessage(path, 'first');
  writeTerminationMessage(path, 'second');
  assert.equal(readFileSync(path, 'utf8'), 'first');
  assert.equal(statSync(path).ino, ino);
  const missing = join(folder(t), 'missing');
  writeTerminationMessage(missing, 'message');
  assert.equal(existsSync(missing), false);
});

test('K-212 lameduck removes its termination message without replacing the file, and only if the file still contains this message', (t) => {
  const path = emptyFile(t);
  const { ino } = statSync(path);
  const text = `x${'é'.repeat(3_000)}`;
  writeTerminationMessage(path, text);
  takeBackTerminationMessage(path, 'x'.repeat(3_071));
  assert.equal(readFileSync(path).length, 3_071);
  takeBackTerminationMessage(path, text);
  assert.equal(readFileSync(path, 'utf8'), '');
  assert.equal(statSync(path).ino, ino);
  writeFileSync(path, 'message and more');
  takeBackTerminationMessage(path, 'message');
  assert.equal(readFileSync(path, 'utf8'), 'message and more');
});

test('K-212 a termination message path that is a folder, or a pipe without a reader, causes no error and no wait', (t) => {
  const path = folder(t);
  mkdirSync(join(path, 'folder'));
  execFileSync('mkfifo', [join(path, 'pipe')]);
  for (const name of ['folder', 'pipe', 'missing']) {
    writeTerminationMessage(join(path, name), 'message');
    takeBackTerminationMessage(join(path, name), 'message');
  }
  writeTerminationMessage('', 'message');
  takeBackTerminationMessage('', 'message');
});

describe('the termination message says how a process ended', () => {
  test('K-212 a process that ended cleanly leaves no termination message', async (t) => {
    const path = emptyFile(t);
    const program = disposed(t, new ProcessUnderTest('listens.ts', { LAMEDUCK_TERMINATION_MESSAGE_PATH: path }));
    await program.ready();
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, { code: 0, signal: null });
    assert.equal(readFileSync(path, 'utf8'), '');
  });

  test('K-211, K-212 the termination message of a process that ended by an uncaught error has the error', async (t) => {
    const path = emptyFile(t);
    const env = { LAMEDUCK_TERMINATION_MESSAGE_PATH: path };
    const program = disposed(t, new ProcessUnderTest('throws.ts', env));
    await program.ready();
    program.kill('SIGUSR2');
    assert.deepEqual(await program.exit, { code: 82, signal: null });
    assert.match(readFileSync(path, 'utf8'), /^uncaught error: TypeError: thrown\n[^]*; exit code 82$/);
  });

  test('K-211, K-212 the termination message has the error if an uncaught error is thrown after the drain', async (t) => {
    const path = emptyFile(t);
    const env = { LAMEDUCK_TERMINATION_MESSAGE_PATH: path };
    const program = disposed(t, new ProcessUnderTest('throws-after-its-drain.ts', env));
    await program.signaled('HasBeenReady');
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, { code: 82, signal: null });
    assert.match(readFileSync(path, 'utf8'), /^uncaught error: Error: the pool is closed\n[^]*; exit code 82$/);
    const { err } = await program.line('the error', ({ msg }) => msg === 'uncaught error');
    assert.equal((err as Error).message, 'the pool is closed');
  });

  test('K-212 the termination message of a process that a second process signal ended names the second process signal', async (t) => {
    const path = emptyFile(t);
    const program = disposed(t, new ProcessUnderTest('listens.ts', { LAMEDUCK_TERMINATION_MESSAGE_PATH: path }));
    await HeldRequest.open(t, await program.ready());
    program.kill('SIGTERM');
    await program.signaled('ShutdownInitiated');
    await program.killAgain('SIGINT');
    assert.deepEqual(await program.exit, { code: 1, signal: null });
    assert.match(
      readFileSync(path, 'utf8'),
      /^requests without a complete response at the end of the drain: 1\nshutdown by SIGTERM .* code 1\n/,
    );
  });
});
