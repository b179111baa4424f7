// Runs every ts and js block of README.md, unchanged. readme-commands.long.test.ts runs the sh blocks.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { CommandUnderTest } from '../support/command-under-test.ts';
import { disposed } from '../support/disposed.ts';
import { blocksIn, readPage, root, type Block } from '../support/markdown.ts';

const endedWell = { code: 0, signal: null };
const blocks = blocksIn(readPage('README.md'));
const programs = blocks.filter(({ language }) => language === 'ts' || language === 'js');
const isTest = ({ text }: Block): boolean => text.includes("from 'node:test'");

// Stand-ins for the modules that the README's programs import, and that readers of the README write themselves.
const stubs: Readonly<Record<string, string>> = {
  'app.js': `
    import { createServer } from 'node:http';
    export const app = (request, response) => response.end('from the app');
    export const server = createServer(app);
    export const warmUp = async () => console.log('stub: warm-up');
    export const isInMaintenance = () => false;
    export const pool = { end: async () => console.log('stub: pool.end') };
  `,
};

const folder = await mkdtemp(join(tmpdir(), 'readme-'));

before(async () => {
  await mkdir(join(folder, 'node_modules'), { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await symlink(root, join(folder, 'node_modules', 'lameduck'));
  await symlink(join(root, 'node_modules', 'fastify'), join(folder, 'node_modules', 'fastify'));
  for (const [name, text] of Object.entries(stubs)) await writeFile(join(folder, name), text);
});

after(async () => {
  await rm(folder, { recursive: true });
});

test('every code block in the README is run by a test', () => {
  const languages = new Set(blocks.map(({ language }) => language));
  assert.deepEqual([...languages].sort(), ['', 'sh', 'ts', 'yaml']);
  assert.notEqual(programs.length, 0);
});

for (const [index, { text, language }] of programs.filter((program) => !isTest(program)).entries()) {
  const [title = ''] = /^.*lameduck\(.*$/m.exec(text) ?? text.split('\n');
  test(`program ${String(index + 1)} of the README serves requests, and ends cleanly on SIGTERM: ${title}`, async (t) => {
    const file = join(folder, `program-${String(index)}.${language}`);
    await writeFile(file, text);
    const anyPort = `--import=${new URL('../support/any-port.ts', import.meta.url).href}`;
    const program = disposed(t, new CommandUnderTest(process.execPath, [anyPort, file]));
    const [, port = ''] = await program.printed(/"addresses":\["[^"]+:(\d+)"\]/);
    await program.printed(/"name":"HasBeenReady"/);
    assert.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).status, 200);
    assert.notEqual((await fetch(`http://127.0.0.1:${port}/`)).status, 503);

    const [, pid = ''] = await program.printed(/"pid":(\d+)/);
    process.kill(Number(pid), 'SIGTERM');
    assert.deepEqual(await program.exit, endedWell, program.output);
    assert.match(program.output, /"schema":"lameduck\/shutdown\/v1","reason":"SIGTERM","exitCode":0/);
    if (!text.includes('./app.js')) return;
    assert.match(program.output, /stub: warm-up[^]*"InFlightRequestsDrained"[^]*stub: pool\.end/);
  });
}

for (const [index, { text }] of programs.filter(isTest).entries()) {
  test(`test ${String(index + 1)} of the README passes, and its process ends by itself`, async (t) => {
    const file = join(folder, `program-${String(index)}.test.ts`);
    await writeFile(file, text);
    const run = disposed(t, new CommandUnderTest(process.execPath, ['--test', '--test-reporter=spec', file]));
    assert.deepEqual(await run.exit, endedWell, run.output);
    assert.match(run.output, /^ℹ pass 1$/m);
  });
}
