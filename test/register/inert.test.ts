// `lameduck/register` does nothing, or logs one line, in a process that it leaves alone. It also does nothing before
// the first HTTP server listens.
import assert from 'node:assert/strict';
import { delimiter, dirname } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { CommandUnderTest, type Exit } from '../support/command-under-test.ts';
import { disposed } from '../support/disposed.ts';
import { guest, messages, register, registered } from '../support/guest.ts';
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
    // Beside the file of the preload and what that loads at once, there is nothing.
    code: `const loaded = () => Object.keys(require.cache).filter((file) => !/register\\.cts|emit-override\\.ts/.test(file));
      require("node:net").createServer().listen(0, () => { console.log("up", process.listenerCount("SIGTERM"), loaded()) })`,
    isKilled: true,
  },
  'a script that fails': { code: 'process.exitCode = 5; console.error("on purpose")' },
};

void describe('a process without an HTTP server', { concurrency: 2 }, () => {
  for (const [name, { code, isKilled = false }] of Object.entries(bystanders)) {
    test(`P-117 ${name} does to the byte what it does without`, async (t) => {
      const then = isKilled ? /up/ : undefined;
      const [without, withIt] = await Promise.all([
        run(t, ['--eval', code], {}, then),
        run(t, ['--eval', code], registered({ LAMEDUCK_SHUTDOWN_DELAY_DURATION: 'nonsense' }), then),
      ]);
      assert.deepEqual(withIt, without);
    });
  }

  test('P-117 a fork, which inherits NODE_OPTIONS, does to the byte what it does without', async (t) => {
    const args = [new URL('../fixtures/forks.ts', import.meta.url).pathname];
    assert.deepEqual(await run(t, args, registered()), await run(t, args, {}));
  });

  for (const program of ['npm', 'npx']) {
    test(`P-117 ${program} does to the byte what it does without`, async (t) => {
      // It runs on the first Node of the path.
      const PATH = `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`;
      const outcome = await run(t, ['--version'], registered({ PATH }), undefined, program);
      assert.deepEqual(outcome, await run(t, ['--version'], { PATH }, undefined, program));
      assert.equal(outcome.code, 0);
    });
  }

  test('a worker thread gets nothing, and its process nothing for it', async (t) => {
    const outcome = await run(
      t,
      [new URL('../fixtures/listens-in-a-worker.ts', import.meta.url).pathname],
      registered(),
    );
    assert.equal(outcome.output, 'listening in a worker 0\n');
  });
});

void describe('stepping aside', { concurrency: 2 }, () => {
  test('LAMEDUCK_DISABLED=1 leaves the program as it is', async (t) => {
    const subject = disposed(t, guest('knows-nothing.ts', { LAMEDUCK_DISABLED: '1', IDIOM: 'exits at once' }));
    await subject.port();
    subject.kill('SIGTERM');
    assert.deepEqual(await subject.exit, { code: 4, signal: null });
    assert.deepEqual(messages(subject.lines), ['listening', 'cleanup']);
  });

  test('on a Node that is too old there is one line, and the program goes on', async (t) => {
    const old = `data:text/javascript,${encodeURIComponent(
      'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.0" } })',
    )}`;
    const env = registered({ IDIOM: 'exits at once' });
    const options = { ...env, NODE_OPTIONS: `--import=${old} ${env['NODE_OPTIONS'] ?? ''}` };
    const subject = disposed(t, new ProcessUnderTest('knows-nothing.ts', options));
    await subject.port();
    await subject.printed(/stepping aside/);
    subject.kill('SIGTERM');
    assert.deepEqual(await subject.exit, { code: 4, signal: null });
    assert.match(
      subject.stderr,
      /^lameduck\/register: stepping aside: it needs Node 22\.19 or newer, this is 20\.20\.0\n$/,
    );
    assert.deepEqual(messages(subject.lines), ['listening', 'cleanup']);
  });

  test('a failure of its own is one line, and the program goes on', async (t) => {
    const frozen = `const s = require("node:http").createServer(); Object.defineProperty(s, "emit", { value: s.emit });
      s.listen(0, () => { console.log("up") })`;
    const outcome = await run(t, ['--eval', frozen], registered(), /stepping aside.*\n/);
    assert.match(outcome.output, /^up\nlameduck\/register: stepping aside: .*emit.*\n$/);
    assert.deepEqual([outcome.code, outcome.signal], [null, 'SIGTERM']);
  });

  test('nothing is loaded twice by --import on the command line and in NODE_OPTIONS', async (t) => {
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
