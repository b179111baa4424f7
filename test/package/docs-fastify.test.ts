// Runs the programs of docs/fastify.md as the page shows them, on the built package.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { CommandUnderTest } from '../support/command-under-test.ts';
import { disposed } from '../support/disposed.ts';
import { blocksIn, readPage, root } from '../support/markdown.ts';

const endedWell = { code: 0, signal: null };
const programs = blocksIn(readPage('docs/fastify.md')).flatMap(({ language, text }) =>
  language === 'ts' ? [text] : [],
);
const names = ['registers.ts', 'marks.ts', 'application.ts', 'injects.test.ts'] as const;

// `app.js` is the stub of a module that the programs in docs/fastify.md import, and that a reader of this page writes.
// `starter.js` is a program that starts `application.ts`.
const stubs: Readonly<Record<string, string>> = {
  'app.js': `
    import Fastify from 'fastify';
    import fastifyLameduck from 'lameduck/fastify';
    export const pool = { isConnected: () => true, end: async () => console.log('stub: pool.end') };
    export const routes = async (app) => app.addHook('onClose', async () => console.log('stub: onClose'));
    export const news = { next: () => new Promise(() => undefined) };
    export const app = Fastify();
    app.register(fastifyLameduck, { logger: { info() {}, warn() {}, error() {} } });
  `,
  'starter.js': `
    import Fastify from 'fastify';
    import application from './application.ts';
    const app = Fastify();
    await app.register(application);
    await app.listen({ port: 0 });
  `,
};

const folder = await mkdtemp(join(tmpdir(), 'docs-fastify-'));

before(async () => {
  await mkdir(join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await symlink(root, join(folder, 'node_modules', 'lameduck'));
  for (const name of ['fastify', 'fastify-plugin']) {
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  for (const [name, text] of Object.entries(stubs)) await writeFile(join(folder, name), text);
  for (const [index, name] of names.entries()) await writeFile(join(folder, name), programs[index] ?? '');
});

after(async () => {
  await rm(folder, { recursive: true });
});

test('docs/fastify.md has exactly the programs that this test file runs', () => {
  assert.equal(programs.length, names.length);
});

for (const [name, calls] of [
  ['registers.ts', ['pool.end', 'onClose']],
  ['marks.ts', []],
  ['starter.js', []],
] as const) {
  test(`the program of docs/fastify.md that ${name} runs serves requests, and ends cleanly on SIGTERM`, async (t) => {
    const anyPort = `--import=${new URL('../support/any-port.ts', import.meta.url).href}`;
    const program = disposed(t, new CommandUnderTest(process.execPath, [anyPort, join(folder, name)]));
    const [, port = ''] = await program.printed(/"addresses":\["[^"]+:(\d+)"\]/);
    await program.printed(/"name":"HasBeenReady"/);
    const response = await fetch(`http://127.0.0.1:${port}/readyz`, { headers: { Connection: 'close' } });
    assert.equal(response.status, 200);
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, endedWell, program.output);
    assert.match(program.output, /"schema":"lameduck\/shutdown\/v1","reason":"SIGTERM","exitCode":0/);
    assert.deepEqual(
      [...program.output.matchAll(/^stub: (.*)$/gm)].map(([, call]) => call),
      calls,
    );
  });
}

test('the test in docs/fastify.md passes, and its process ends by itself', async (t) => {
  const run = disposed(
    t,
    new CommandUnderTest(process.execPath, ['--test', '--test-reporter=spec', join(folder, names[3])]),
  );
  assert.deepEqual(await run.exit, endedWell, run.output);
  assert.match(run.output, /^ℹ pass 1$/m);
});
