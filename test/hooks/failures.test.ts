// Tests the effects of failed hooks: a log line for each hook, the final log line and the exit code. Each test starts
// its own process.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { disposed } from '../support/disposed.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';

const failures = [
  ['pre-shutdown', 'hangs', 'pre-shutdown hook "hangs" had not ended after 50ms'],
  ['pre-shutdown', 'rejects', 'pre-shutdown hook "rejects" failed: rejected'],
  ['pre-shutdown', 'rejects-text', 'pre-shutdown hook "rejects-text" failed: a text'],
  ['pre-shutdown', 'throws', 'pre-shutdown hook "throws" failed: thrown'],
  ['destroy', 'hangs', 'destroy hook "hangs" had not ended after 50ms'],
  [
    'destroy',
    'registers',
    'destroy hook "registers" failed: unable to add destroy hook "another": the destroy hooks have already been called;' +
      ' a destroy hook must be added before the last request has been answered',
  ],
  [
    'destroy',
    'throws-what-throws',
    'destroy hook "throws-what-throws" failed: an unprintable value (its conversion to text throws an error)',
  ],
  ['destroy', 'throws-undefined', 'destroy hook "throws-undefined" failed: undefined'],
];

test('A-058, A-059, A-060, A-061, P-095 each failed hook causes one log line, the other hooks run, and the exit code is 81', async (t) => {
  const program = disposed(t, new ProcessUnderTest('fails-in-its-hooks.ts'));
  await program.signaled('HasBeenReady');
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, { code: 81, signal: null }, program.output);

  // Pre-shutdown hooks run in parallel, so the order of their failures varies. Sort these failures by the name of the
  // hook before the comparison.
  const inOrder = (found: readonly (readonly unknown[])[]): readonly unknown[] => [
    ...found.filter(([kind]) => kind === 'pre-shutdown').sort(([, a], [, b]) => String(a).localeCompare(String(b))),
    ...found.filter(([kind]) => kind !== 'pre-shutdown'),
  ];
  const final = await program.finalLine();
  const recorded = final['hookFailures'] as { kind: string; name: string; error: string }[];
  assert.deepEqual(inOrder(recorded.map(({ kind, name, error }) => [kind, name, error])), failures);
  const lines = program.lines.filter(({ msg }) => msg === 'hook failed');
  assert.deepEqual(
    inOrder(lines.map(({ kind, name }) => [kind, name])),
    failures.map(([kind, name]) => [kind, name]),
  );
  for (const [, name = '', message = ''] of failures) {
    const { err } = lines.find((line) => line['name'] === name && message.startsWith(String(line['kind']))) ?? {};
    // lameduck logs the error of a failed hook in pino's format, with its causes, if the error can be converted to
    // text.
    const shown = (err as { message?: string } | undefined)?.message ?? String(err);
    assert.ok(shown.includes(message), shown);
  }
  assert.equal(program.lines.filter(({ msg }) => msg === 'the last hook').length, 1);
  assert.equal(program.stderr, '');
});

test('A-044, P-095 a failed post-start hook causes one log line, /readyz fails with its name, and the exit code is 81', async (t) => {
  const program = disposed(t, new ProcessUnderTest('fails-to-warm-up.ts', { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '20s' }));
  const port = await program.port();
  const line = await program.line('the failure', ({ msg }) => msg === 'hook failed');
  assert.deepEqual([line['kind'], line['name']], ['post-start', 'warm-up']);
  assert.match((line['err'] as { message: string }).message, /^post-start hook "warm-up" failed: no cache/);
  const readyz = await fetch(`http://127.0.0.1:${String(port)}/readyz`);
  assert.equal(readyz.status, 500);
  assert.match(await readyz.text(), /^\[-\]poststarthook\/warm-up failed: reason withheld$/m);
  assert.equal((await fetch(`http://127.0.0.1:${String(port)}/livez`)).status, 200);
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, { code: 81, signal: null }, program.output);
  const { hookFailures, durationMs } = await program.finalLine();
  assert.deepEqual(hookFailures, [
    { kind: 'post-start', name: 'warm-up', error: 'post-start hook "warm-up" failed: no cache' },
  ]);
  assert.ok(Number(durationMs) < 10_000, 'the shutdown of a server that was never ready must have no delay');
  assert.equal(program.lines.filter(({ msg }) => msg === 'hook failed').length, 1);
});
