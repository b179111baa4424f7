// Runs every sh block of the README in a built copy of the repository. A block that no function of this file runs fails
// the test.
//
// A test must not install packages from the network, so it removes `npm ci && ` and uses the installed packages. CI
// runs `npm ci` in a clean copy.
import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { CommandUnderTest } from '../support/command-under-test.ts';
import { disposed } from '../support/disposed.ts';
import { blocksIn, readPage, root } from '../support/markdown.ts';

const endedWell = { code: 0, signal: null };
const commands = blocksIn(readPage('README.md'))
  .filter(({ language }) => language === 'sh')
  .map(({ text }) => text.trim());

// The commands of the README start this program in place of the reader's own `server.js`.
const program = `
  import { createServer } from 'node:http';
  createServer((request, response) => response.end('hello')).listen(process.env.PORT ?? 0);
`;

/** Session passes the results of one command of the README to the later commands that need them. */
interface Session {
  /**
   * Runs a command in a copy of the repository, or in the folder of the README's programs. The command is killed at the
   * end of the test.
   */
  readonly inShell: (command: string, where?: 'tree' | 'program') => CommandUnderTest;
  service?: CommandUnderTest;
  slow?: CommandUnderTest;
}

// Maps each command of the README to the function of this file that runs the command. In a key, `#` replaces each
// number of the command.
const runners: Readonly<Record<string, (command: string, session: Session) => Promise<void>>> = {
  "NODE_OPTIONS='--import lameduck/register' node server.js": async (command, session) => {
    const server = session.inShell(command, 'program');
    const [, pid] = await server.printed(/"pid":(\d+).*"HasBeenReady"/);
    process.kill(Number(pid), 'SIGTERM');
    assert.deepEqual(await server.exit, endedWell, server.output);
    assert.match(server.output, /"msg":"shutdown ended"/);
  },
  'npx lameduck rehearse -- node server.js': async (command, session) => {
    const rehearsal = session.inShell(`unset PORT; ${command}`, 'program');
    // The rehearsal exits with 1, because a server without lameduck loses requests.
    assert.deepEqual(await rehearsal.exit, { code: 1, signal: null }, rehearsal.output);
    assert.match(rehearsal.output, /^rollout: lost \(/m);
    assert.match(rehearsal.output, /^ +remedy: /m);
  },
  'npm ci && npm start': async (command, session) => {
    session.service = session.inShell(installed(command));
    await session.service.printed(/"name":"HasBeenReady"/);
    assert.match(session.service.output, /http:\/\/localhost:\d+\//);
  },
  "curl 'http://localhost:#/slow?ms=#'": async (command, session) => {
    const [, port = ''] = (await session.service?.printed(/http:\/\/localhost:(\d+)\//)) ?? [];
    session.slow = session.inShell(`${command.replace('8080', port)} --verbose`);
    await session.slow.printed(/^> GET \/slow/m);
  },
  'kill -TERM #': async (command, session) => {
    const [printed = ''] = (await session.service?.printed(/^ *kill -TERM \d+$/m)) ?? [];
    assert.equal(withoutNumbers(printed.trim()), withoutNumbers(command));
    const kill = session.inShell(printed);
    assert.deepEqual(await kill.exit, endedWell, kill.output);
    assert.deepEqual(await session.slow?.exit, endedWell, session.slow?.output);
    assert.match(session.slow?.output ?? '', /\{"sleptMs":\d+\}/);
    assert.deepEqual(await session.service?.exit, endedWell, session.service?.output);
    assert.match(session.service?.output ?? '', /"msg":"shutdown ended"/);
  },
  'npm ci && npm test': async (command, session) => {
    // This test runs the README's command for only a few tests. Otherwise, the command would also run this test again.
    const npm = session.inShell(`${installed(command)} -- test/lifecycle/signal`);
    assert.deepEqual(await npm.exit, endedWell, npm.output);
    assert.match(npm.output, /^ℹ pass [1-9]/m);
  },
};

test('the commands in the README work in the order of the page', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'readme-commands-'));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'program', 'node_modules', '.bin'), { recursive: true });
  const manifest = { type: 'module', scripts: { start: 'node server.js' } };
  await writeFile(join(folder, 'program', 'package.json'), JSON.stringify(manifest));
  await symlink(root, join(folder, 'program', 'node_modules', 'lameduck'));
  // The build does not make dist/cli/main.js executable. npm does so when it installs lameduck. This test does not
  // install lameduck with npm, so it creates the command `lameduck` as a shell script.
  const bin = join(folder, 'program', 'node_modules', '.bin', 'lameduck');
  await writeFile(bin, `#!/bin/sh\nexec node '${join(root, 'dist', 'cli', 'main.js')}' "$@"\n`, { mode: 0o755 });
  await writeFile(join(folder, 'program', 'server.js'), program);
  const tree = join(folder, 'tree');
  await cp(root, tree, { recursive: true, filter: (path) => !left.includes(path) });
  await symlink(join(root, 'node_modules'), join(tree, 'node_modules'));
  const session: Session = {
    inShell: (command, where = 'tree') =>
      disposed(t, new CommandUnderTest('sh', ['-c', command], { cwd: join(folder, where), env: { PORT: '0' } })),
  };
  assert.deepEqual(commands.map(withoutNumbers).sort(), Object.keys(runners).sort());
  for (const command of commands) await runners[withoutNumbers(command)]?.(command, session);
});

// Folders of the repository that a fresh clone does not have.
const left = ['node_modules', 'dist', '.git'].map((name) => join(root, name));

function installed(command: string): string {
  return command.replace(/^npm ci && /, '');
}

function withoutNumbers(command: string): string {
  return command.replace(/\d+/g, '#');
}
