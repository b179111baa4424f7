// Tests a server with lameduck in watchers and test runners. A watcher must restart the server without a wait. A server
// that a test closes must leave no open handle and log nothing. `.ci/development` runs this file. PROGRAMS is the
// folder in which the tools and the packed package are installed.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CommandUnderTest } from '../../support/command-under-test.ts';
import { disposed } from '../../support/disposed.ts';
import { assertRestartsAtOnce, Restarted } from '../../support/restarted.ts';

const root = process.env['PROGRAMS'] ?? '';
const bin = (name: string): string => join(root, 'node_modules', '.bin', name);

for (const [title, command, args] of [
  ['tsx watch', 'tsx', ['watch', 'main.ts']],
  // By default nodemon sends SIGUSR2, which lameduck does not handle.
  ['nodemon', 'nodemon', ['--signal', 'SIGTERM', '--watch', 'main.ts', 'main.mjs']],
  [
    'nodemon and tsx',
    'nodemon',
    ['--signal', 'SIGTERM', '--exec', 'node --import tsx', '--watch', 'main.ts', 'main.ts'],
  ],
] as const) {
  test(`P-107 if ${title} restarts a server, the shutdown waits neither for the shutdown delay nor for idle connections`, async (t) => {
    const file = join(root, 'main.ts');
    const change = (): void => {
      writeFileSync(file, `${readFileSync(file, 'utf8')}\n`);
    };
    const restarted = new Restarted(t, bin(command), [...args], { cwd: root });
    await assertRestartsAtOnce(t, async () => {
      let again: NodeJS.Timeout | undefined;
      const restart = restarted.restart(() => {
        change();
        // nodemon starts the program before its own watcher, and misses a change that comes before the watcher is ready.
        again = setInterval(change, 5_000);
      });
      return restart.finally(() => {
        clearInterval(again);
      });
    });
  });
}

for (const [runner, args, env] of [
  // Jest loads ECMAScript modules only with the option `--experimental-vm-modules`.
  [
    'jest',
    ['--detectOpenHandles', 'jest.test.mjs', '--testMatch=**/jest.test.mjs'],
    { NODE_OPTIONS: '--experimental-vm-modules' },
  ],
  ['vitest', ['run', 'vitest.test.mjs', '--reporter=default', '--reporter=hanging-process'], {}],
  ['mocha', ['mocha.test.mjs'], {}],
] as const) {
  test(`in a test that ${runner} runs, a server that the test closes logs nothing and leaves no open handle`, async (t) => {
    const command = disposed(t, new CommandUnderTest(bin(runner), args, { cwd: root, env }));
    assert.deepEqual(await command.exit, { code: 0, signal: null }, command.output);
    assert.match(command.output, /1 pass/);
    assert.doesNotMatch(command.output, /lifecycle|shutdown|open handle|did not exit|hanging/i);
  });
}
