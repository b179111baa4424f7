// Tests that `lameduck/register` does nothing, or logs one line, in a process that it must not change. It also does
// nothing before the first HTTP server listens.
import assert from 'node:assert/strict';
import { delimiter, dirname } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { CommandUnderTest, type Exit } from '../support/command-under-test.ts';
import { disposed } from '../support/disposed.ts';
import { startUnderRegister, messages, register, registered } from '../support/under-register.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';

interface Outcome extends Exit {
  readonly output: string;
}

async function run(
  t: TestContext,
  args: readonly string[],
  env: Record<string, string>,
  then?: RegExp,
  program = process.execPath,
): Promise<Outcome> {
  const command = disposed(t, new CommandUnderTest(program, args, { env }));
  if (then !== undefined) {
    await command.printed(then);
    command.kill('SIGTERM');
  }
  const exit = await command.exit;
  return { ...exit, output: command.output };
}

const bystanders: Readonly<Record<string, { readonly code: string; readonly isKilled?: boolean }>> = {
  'a script': { code: 'console.log(process.eventNames().filter((it) => typeof it === "string").sort().join())' },
  'a script that is killed': { code: 'console.log("up"); setInterval(() => {}, 1000)', isKilled: true },
  'a script that catches its signal': {
    code: 'process.on("SIGTERM", (...it) => { console.log(it.join()); process.exit(7) }); console.log("up"); setInterval(() => {}, 1000)',
    isKilled: true,
  },
  'a server of node:net': {
    // The program prints the loaded files. In a process without an HTTP server, only lameduck/register and the files
    // that it loads immediately may be loaded.
    code: `const loaded = () => Object.keys(require.cache).filter((file) => !/register\\.cts|emit-override\\.ts/.test(file));
      require("node:net").createServer().listen(0, () => { console.log("up", process.listenerCount("SIGTERM"), loaded()) })`,
    isKilled: true,
  },
  'a script that fails': { code: 'process.exitCode = 5; console.error("on purpose")' },
};

void describe('lameduck/register changes nothing in a process without an HTTP server', { concurrency: 2 }, () => {
  for (const [name, { code, isKilled = false }] of Object.entries(bystanders)) {
    test(`P-117 a program without an HTTP server, ${name}, has the same output with lameduck/register as without`, async (t) => {
      const then = isKilled ? /up/ : undefined;
      const [without, withIt] = await Promise.all([
        run(t, ['--eval', code], {}, then),
        run(t, ['--eval', code], registered({ LAMEDUCK_SHUTDOWN_DELAY_DURATION: 'nonsense' }), then),
      ]);
      assert.deepEqual(withIt, without);
    });
  }

  test('P-117 a forked process that inherits NODE_OPTIONS has the same output with lameduck/register as without', async (t) => {
    const args = [new URL('../fixtures/forks.ts', import.meta.url).pathname];
    assert.deepEqual(await run(t, args, registered()), await run(t, args, {}));
  });

  for (const program of ['npm', 'npx']) {
    test(`P-117 ${program} has the same output with lameduck/register as without`, async (t) => {
      // The script of the program runs with the first `node` in the PATH, so the folder of the tested Node comes first
      // in the PATH.
      const PATH = `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`;
      const outcome = await run(t, ['--version'], registered({ PATH }), undefined, program);
      assert.deepEqual(outcome, await run(t, ['--version'], { PATH }, undefined, program));
      assert.equal(outcome.code, 0);
    });
  }

  test('lameduck/register changes nothing in a process if the only HTTP server of the process is in a worker thread', async (t) => {
    const outcome = await run(
      t,
      [new URL('../fixtures/listens-in-a-worker.ts', import.meta.url).pathname],
      registered(),
    );
    assert.equal(outcome.output, 'listening in a worker 0\n');
  });
});

void describe('lameduck/register changes nothing if it is disabled or cannot run', { concurrency: 2 }, () => {
  test('LAMEDUCK_DISABLED=1 leaves a program with lameduck/register unchanged', async (t) => {
    const subject = disposed(
      t,
      startUnderRegister('knows-nothing.ts', { LAMEDUCK_DISABLED: '1', IDIOM: 'exits at once' }),
    );
    await subject.port();
    subject.kill('SIGTERM');
    assert.deepEqual(await subject.exit, { code: 4, signal: null });
    assert.deepEqual(messages(subject.lines), ['listening', 'cleanup']);
  });

  test('lameduck/register on a Node version that is too old logs one line, and the program continues', async (t) => {
    const old = `data:text/javascript,${encodeURIComponent(
      'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.0" } })',
    )}`;
    const env = registered({ IDIOM: 'exits at once' });
    const options = { ...env, NODE_OPTIONS: `--import=${old} ${env['NODE_OPTIONS'] ?? ''}` };
    const subject = disposed(t, new ProcessUnderTest('knows-nothing.ts', options));
    await subject.port();
    await subject.printed(/disabled/);
    subject.kill('SIGTERM');
    assert.deepEqual(await subject.exit, { code: 4, signal: null });
    assert.match(subject.stderr, /^lameduck\/register: disabled: expected Node 22\.19 or newer, got 20\.20\.0\n$/);
    assert.deepEqual(messages(subject.lines), ['listening', 'cleanup']);
  });

  test('an error inside lameduck/register causes one log line, and the program continues', async (t) => {
    const frozen = `const s = require("node:http").createServer(); Object.defineProperty(s, "emit", { value: s.emit });
      s.listen(0, () => { console.log("up") })`;
    // The program writes its line to standard output, and lameduck/register writes its line to standard error. So
    // either line may arrive first.
    const both = /^(up\n)?lameduck\/register: disabled: .*emit.*\n(up\n)?$/;
    const outcome = await run(t, ['--eval', frozen], registered(), /up\n[^]*disabled.*\n|disabled.*\nup\n/);
    assert.match(outcome.output, both);
    assert.deepEqual([outcome.code, outcome.signal], [null, 'SIGTERM']);
  });

  test('lameduck/register is loaded once even if both the command line and NODE_OPTIONS name it', async (t) => {
    const subject = disposed(
      t,
      new ProcessUnderTest('knows-nothing.ts', registered({ IDIOM: 'exits at once' }), ['--import', register]),
    );
    await subject.ready();
    subject.kill('SIGTERM');
    assert.deepEqual(await subject.exit, { code: 4, signal: null });
    assert.equal(messages(subject.lines).filter((msg) => msg === 'cleanup').length, 1);
  });
});
