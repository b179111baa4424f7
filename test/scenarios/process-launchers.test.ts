// Tests programs that npm or a shell starts: whether a process signal reaches the program, and whether the logged
// warning is right.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, describe, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CommandUnderTest } from '../support/command-under-test.ts';
import { disposed } from '../support/disposed.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';
import { until } from '../support/until.ts';

const endedWell = { code: 0, signal: null };
const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const cwd = mkdtempSync(join(tmpdir(), 'lameduck-launchers-'));
after(() => {
  rmSync(cwd, { recursive: true });
});
const scripts = { start: `node '${fixture('listens.ts')}'`, twice: `node '${fixture('has-two-lifecycles.ts')}'` };
writeFileSync(join(cwd, 'package.json'), JSON.stringify({ private: true, scripts }));

const env = {
  PATH: dirname(process.execPath) + delimiter + String(process.env['PATH']),
  npm_config_cache: join(cwd, 'cache'),
  npm_config_offline: 'true',
};
const bash = spawnSync('bash', ['--version']).status === 0 ? false : 'there is no bash here';

/** Runs the command through a shell that first prints the process id. */
const launch = (t: TestContext, command: string): CommandUnderTest =>
  disposed(t, new CommandUnderTest('sh', ['-c', `echo "launcher is $$"; exec ${command}`], { cwd, env }));

async function pidOf(command: CommandUnderTest, pattern: RegExp): Promise<number> {
  return Number((await command.printed(pattern))[1]);
}

const launcherOf = (command: CommandUnderTest): Promise<number> => pidOf(command, /launcher is (\d+)/);
const programOf = (command: CommandUnderTest): Promise<number> => pidOf(command, /"pid":(\d+).*"HasBeenReady"/);
const warningsIn = (output: string): string[] =>
  output.replaceAll('\\"', '"').match(/started (?:through|by) [^,]*,/g) ?? [];

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

void describe('a warning says whether SIGTERM reaches a program that npm or a shell starts', { concurrency: 3 }, () => {
  for (const [how, command] of [
    ['npm start', 'npm start'],
    ['npm run', 'npm run start'],
    ['sh -c', `sh -c "node '${fixture('listens.ts')}'; true"`],
  ] as const) {
    test(`P-065 under a launcher such as ${how}, one warning says whether SIGTERM will reach the program, and the warning is right`, async (t) => {
      const launched = launch(t, command);
      const launcher = await launcherOf(launched);
      const program = await programOf(launched);
      const [, port = ''] = await launched.printed(/"listening","port":(\d+)/);
      const [warning, ...others] = warningsIn(launched.output);
      assert.deepEqual(others, []);
      process.kill(launcher, 'SIGTERM');
      if (warning?.startsWith('started by') === true) {
        // With this version of npm, the shell has replaced itself with the program, which is now a child process of
        // npm. So npm forwards the process signal to the program.
        assert.deepEqual(await launched.exit, endedWell);
      } else {
        assert.equal(warning, `started through a shell${how === 'sh -c' ? '' : ' by "npm run start"'},`);
        await until(() => !isRunning(launcher));
        // The launcher has ended without forwarding the process signal to the program.
        assert.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).status, 200);
        process.kill(program, 'SIGTERM');
      }
      await launched.printed(/"lameduck\/shutdown\/v1","reason":"SIGTERM","exitCode":0/);
    });
  }

  test(
    "P-065 if npm's shell replaces itself with the program, SIGTERM to npm reaches the program, and npm exits with the exit code of the program",
    { skip: bash },
    async (t) => {
      const launched = launch(t, 'npm start --script-shell=bash');
      const launcher = await launcherOf(launched);
      await programOf(launched);
      assert.deepEqual(warningsIn(launched.output), ['started by "npm run start",']);
      process.kill(launcher, 'SIGTERM');
      assert.deepEqual(await launched.exit, endedWell);
      assert.match(launched.output, /"lameduck\/shutdown\/v1","reason":"SIGTERM","exitCode":0/);
    },
  );

  test(
    'P-057, P-065 Ctrl-C counts as one process signal, although npm forwards it a second time',
    { skip: bash },
    async (t) => {
      const launched = launch(t, 'npm start --script-shell=bash');
      const launcher = await launcherOf(launched);
      await programOf(launched);
      // A terminal sends SIGINT to every process of the foreground group.
      process.kill(-launcher, 'SIGINT');
      const { code } = await launched.exit;
      const [, exitCode, duration] = await launched.printed(/"reason":"SIGINT","exitCode":(\d).*?"durationMs":(\d+)/);
      assert.equal(code, Number(exitCode));
      // On a very busy machine, npm may forward the process signal more than 100 ms after the terminal has sent it. The
      // forwarded signal then counts as a second signal.
      assert.ok(code === 0 || Number(duration) >= 100, launched.output);
    },
  );

  test('P-065 a program with several lifecycles logs the warning about its launcher only once, and not once for each lifecycle', async (t) => {
    const launched = launch(t, 'npm run twice');
    const program = await programOf(launched);
    await launched.printed(/HasBeenReady[^]*HasBeenReady/);
    assert.equal(warningsIn(launched.output).length, 1);
    process.kill(program, 'SIGKILL');
  });

  test("P-065 a program that node started logs no warning about a launcher, even if it inherits npm's variables", async (t) => {
    const program = disposed(
      t,
      new ProcessUnderTest('listens.ts', {
        npm_lifecycle_event: 'start',
        npm_config_user_agent: 'npm/11.0.0 node/v24.0.0 linux x64',
      }),
    );
    await program.ready();
    program.kill('SIGTERM');
    await program.exit;
    assert.deepEqual(
      program.lines.filter(({ level }) => level === 40),
      [],
    );
  });
});
