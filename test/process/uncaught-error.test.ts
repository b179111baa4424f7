import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { describeUncaught } from '../../src/process/uncaught-error.ts';

const version = `\nNode.js ${process.version}\n`;

/** Returns an error whose stack has `frame` as its first stack frame. */
function errorAt(frame: string): Error {
  const error = new Error('broken');
  error.stack = `Error: broken\n    at ${frame}\n    at main (${import.meta.filename}:1:1)`;
  return error;
}

test('P-063 lameduck prints the location of the first stack frame of an uncaught error, or no location if this frame has no readable source file', () => {
  for (const frame of ['JSON.parse (<anonymous>)', 'emit (node:events:500:10)', '/there/is/no/such/file.js:1:1']) {
    const error = errorAt(frame);
    assert.equal(describeUncaught(error, 'uncaughtException'), `${String(error.stack)}\n${version}`);
  }
});

test('P-063 below the printed source line, the caret marks the `throw` of an exception, or the place where the error of a rejection was created', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lameduck-uncaught-'));
  try {
    const file = join(folder, 'with tabs (and spaces).js');
    const source = "\tif (ok) return;\telse throw new Error('broken');";
    writeFileSync(file, `// one\r\n${source}\r\n`);
    const error = errorAt(`run (${file}:2:${String(source.indexOf('new') + 1)})`);
    const stack = `${String(error.stack)}\n${version}`;
    assert.equal(
      describeUncaught(error, 'uncaughtException'),
      `${file}:2\n${source}\n\t               \t     ^\n\n${stack}`,
    );
    assert.equal(
      describeUncaught(error, 'unhandledRejection'),
      `${file}:2\n${source}\n\t               \t           ^\n\n${stack}`,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('P-063 a thrown value that is not an error is printed as Node prints it', () => {
  const hint = '(Use `node --trace-uncaught ...` to show where the exception was thrown)\n';
  for (const [thrown, text] of [
    ['a text', 'a text'],
    [undefined, 'undefined'],
    [null, 'null'],
    [5n, '5'],
    [Symbol('s'), 'Symbol(s)'],
  ]) {
    assert.equal(describeUncaught(thrown, 'uncaughtException'), `${String(text)}\n${hint}${version}`);
  }
  assert.equal(describeUncaught({ status: 500 }, 'uncaughtException'), `{ status: 500 }\n${version}`);
});

test('P-063 like Node, lameduck does not call the custom inspect function of an uncaught error', () => {
  class Hidden extends Error {
    [Symbol.for('nodejs.util.inspect.custom')](): string {
      return 'hidden';
    }
  }
  assert.match(describeUncaught(new Hidden('shown'), 'uncaughtException'), /Error.*: shown\n {4}at /);
});

test('P-063 an uncaught error whose property `stack` throws does not prevent the shutdown', () => {
  const hostile = new Error('hostile');
  Object.defineProperty(hostile, 'stack', {
    get() {
      throw new Error('do not look');
    },
  });
  assert.equal(
    describeUncaught(hostile, 'uncaughtException'),
    `uncaught error that cannot be printed, because formatting it throws another error\n${version}`,
  );
});
