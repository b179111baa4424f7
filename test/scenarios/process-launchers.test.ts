// Programs that npm or a shell has started: whether a process signal arrives, and whether the program says the truth of it.
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

/** The command, with its own process id in front of what it prints. */
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

void describe('launchers', { concurrency: 3 }, () => {
  for (const [how, command] of [
    ['npm start', 'npm start'],
    ['npm run', 'npm run start'],
    ['sh -c', `sh -c "node '${fixture('listens.ts')}'; true"`],
  ] as const) {
    test(`P-065 under ${how} the program says once what becomes of SIGTERM, and that is what becomes of it`, async (t) => {
      const launched = launch(t, command);
      const launcher = await launcherOf(launched);
      const program = await programOf(launched);
      const [, port = ''] = await launched.printed(/"listening","port":(\d+)/);
      const [warning, ...others] = warningsIn(launched.output);
      assert.deepEqual(others, []);
      process.kill(launcher, 'SIGTERM');
      if (warning?.startsWith('started by') === true) {
        // This npm ran the script with a shell that has stepped aside, and passes the process signal on.
        assert.deepEqual(await launched.exit, endedWell);
      } else {
        assert.equal(warning, `started through a shell${how === 'sh -c' ? '' : ' by "npm run start"'},`);
        await until(() => !isRunning(launcher));
        // The launcher is gone, and the program has not heard of it.
        assert.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).status, 200);
        process.kill(program, 'SIGTERM');
      }
      await launched.printed(/"lameduck\/shutdown\/v1","reason":"SIGTERM","exitCode":0/);
    });
  }

  test(
    'P-065 under an npm whose shell steps aside SIGTERM arrives, and the exit code comes back',
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

  test('P-057, P-065 Ctrl-C, which npm passes on a second time, is one process signal', { skip: bash }, async (t) => {
    const launched = launch(t, 'npm start --script-shell=bash');
    const launcher = await launcherOf(launched);
    await programOf(launched);
    // A terminal sends SIGINT to every process of the foreground group.
    process.kill(-launcher, 'SIGINT');
    const { code } = await launched.exit;
    const [, exitCode, duration] = await launched.printed(/"reason":"SIGINT","exitCode":(\d).*?"durationMs":(\d+)/);
    assert.equal(code, Number(exitCode));
    // On a machine so busy that npm is late by more than the rule allows, it is a second one.
    assert.ok(code === 0 || Number(duration) >= 100, launched.output);
  });

  test('P-065 a program with several lifecycles says it once', async (t) => {
    const launched = launch(t, 'npm run twice');
    const program = await programOf(launched);
    await launched.printed(/HasBeenReady[^]*HasBeenReady/);
    assert.equal(warningsIn(launched.output).length, 1);
    process.kill(program, 'SIGKILL');
  });

  test('P-065 a program that inherits the variables of npm, but was started by node, says nothing', async (t) => {
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
