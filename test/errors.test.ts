import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { errorCodes, isLameduckError, LameduckError, quoted } from '../src/errors.ts';

const root = join(import.meta.dirname, '..');
const codes = Object.keys(errorCodes).sort();

test('an error of lameduck has a code, a message, a cause and the name LameduckError', () => {
  const cause = new Error('why');
  const error = new LameduckError('LAMEDUCK_ERR_HOOK_FAILED', 'what', { cause });
  assert.ok(error instanceof Error);
  assert.deepEqual(
    [error.name, error.code, error.message, error.cause],
    ['LameduckError', 'LAMEDUCK_ERR_HOOK_FAILED', 'what', cause],
  );
  assert.match(error.stack ?? '', /^LameduckError|^Error: what/);
});

test('isLameduckError recognizes an error from another copy of the package', async () => {
  const copy = (await import(new URL('../src/errors.ts?copy', import.meta.url).href)) as {
    LameduckError: typeof LameduckError;
  };
  const error = new copy.LameduckError('LAMEDUCK_ERR_HOOK_FAILED', 'what');
  assert.equal(error instanceof LameduckError, false);
  assert.equal(isLameduckError(error), true);
});

test('isLameduckError returns false for a value that is not an error of lameduck', () => {
  const others = [new Error('x'), { code: 'LAMEDUCK_ERR_HOOK_FAILED' }, null, undefined, 'LameduckError', 0];
  for (const other of others) assert.equal(isLameduckError(other), false);
});

test('the code in src/ uses each error code of the table in src/errors.ts, and no other error code', () => {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const used = files
    .filter((file) => file.endsWith('.ts') && file !== 'errors.ts')
    .map((file) => readFileSync(join(root, 'src', file), 'utf8'))
    .flatMap((text) => [...text.matchAll(/'(LAMEDUCK_ERR_[A-Z_]+)'/g)].map(([, code = '']) => code));
  assert.deepEqual([...new Set(used)].sort(), codes);
});

test('docs/errors.md has a section for each error code, and no other section', () => {
  const page = readFileSync(join(root, 'docs', 'errors.md'), 'utf8');
  const sections = [...page.matchAll(/^## (.+)$/gm)].map(([, code = '']) => code);
  assert.deepEqual(sections.sort(), codes);
  for (const { cause, remedy } of Object.values(errorCodes)) {
    assert.ok(page.includes(cause), cause);
    assert.ok(page.includes(remedy), remedy);
  }
});

test('an error message of lameduck can quote a value of any type', () => {
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  assert.equal(quoted('a "b"'), '"a \\"b\\""');
  assert.equal(quoted(['SIGKILL']), "[ 'SIGKILL' ]");
  assert.equal(quoted(undefined), 'undefined');
  assert.equal(quoted(null), 'null');
  assert.equal(quoted(quoted), 'a function');
  assert.equal(quoted(Symbol('s')), 'Symbol(s)');
  assert.equal(typeof quoted(cyclic), 'string');
  assert.equal(typeof quoted({ big: 10n }), 'string');
});
