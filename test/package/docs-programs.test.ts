// Runs the programs and tests of docs/hooks.md and docs/testing.md as the pages show them, on the built package.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { CommandUnderTest } from '../support/command-under-test.ts';
import { disposed } from '../support/disposed.ts';
import { blocksIn, readPage, root } from '../support/markdown.ts';

const endedWell = { code: 0, signal: null };
const blocksOf = (page: string): string[] =>
  blocksIn(readPage(page))
    .filter(({ language }) => language === 'ts')
    .map(({ text }) => text);
const programs = blocksOf('docs/hooks.md');
const tests = blocksOf('docs/testing.md');

// Stubs for the modules that the programs in docs/hooks.md and docs/testing.md import, and that a reader of these pages
// writes. Each stub function prints a line when it is called.
const stubs: Readonly<Record<string, string>> = {
  'app.js': `
    const said = (what) => async () => console.log('stub: ' + what);
    export const app = (request, response) => response.end('from the app');
    export const cache = { fill: said('cache.fill') };
    export const prices = { refresh: said('prices.refresh') };
    export const registry = { deregister: said('registry.deregister') };
    export const worker = { close: said('worker.close') };
    export const redis = { quit: said('redis.quit') };
    export const pool = { end: said('pool.end') };
    export const telemetry = { flush: said('telemetry.flush') };
  `,
  'server.js': `
    import { createServer } from 'node:http';
    export const server = createServer((request, response) => {
      const headers = request.url === '/login' ? { 'set-cookie': 'session=7' } : {};
      setTimeout(() => response.writeHead(request.url === '/orders' ? 201 : 200, headers).end(), 20);
    });
  `,
  'create-app.js': `
    import { createServer } from 'node:http';
    import { lameduck } from 'lameduck';
    export function createApp() {
      const pool = { isClosed: false };
      const app = createServer((request, response) => void setTimeout(() => response.end('report'), 20));
      lameduck(app).addDestroyHook('pool', () => (pool.isClosed = true));
      return { app, pool };
    }
  `,
};

const folder = await mkdtemp(join(tmpdir(), 'docs-programs-'));

before(async () => {
  await mkdir(join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await symlink(root, join(folder, 'node_modules', 'lameduck'));
  for (const [name, text] of Object.entries(stubs)) await writeFile(join(folder, name), text);
  for (const [index, text] of programs.entries()) await writeFile(join(folder, `hooks-${String(index)}.ts`), text);
  for (const [index, text] of tests.entries()) await writeFile(join(folder, `run-${String(index)}.test.ts`), text);
});

after(async () => {
  await rm(folder, { recursive: true });
});

// For each program in docs/hooks.md, the functions that it calls, in the order of the calls.
const called = [
  'cache.fill',
  'prices.refresh',
  'registry.deregister',
  'worker.close, redis.quit',
  'pool.end, telemetry.flush',
];

test('this test has one list of expected function calls for each program in docs/hooks.md', () => {
  assert.equal(programs.length, called.length);
});

for (const [index, expected] of called.entries()) {
  test(`on SIGTERM, program ${String(index + 1)} of docs/hooks.md calls ${expected}, and exits with code 0`, async (t) => {
    const anyPort = `--import=${new URL('../support/any-port.ts', import.meta.url).href}`;
    const file = join(folder, `hooks-${String(index)}.ts`);
    const program = disposed(t, new CommandUnderTest(process.execPath, [anyPort, file]));
    await program.printed(/"name":"HasBeenReady"/);
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, endedWell, program.output);
    assert.match(program.output, /"reason":"SIGTERM","exitCode":0/);
    const calls = [...program.output.matchAll(/^stub: (.*)$/gm)].map(([, call = '']) => call);
    assert.equal(calls.join(', '), expected);
  });
}

test('docs/testing.md shows at least one test', () => {
  assert.equal(tests.length, 3);
});

for (const index of tests.keys()) {
  test(`the example test ${String(index + 1)} in docs/testing.md passes, and then keeps no process alive`, async (t) => {
    const file = join(folder, `run-${String(index)}.test.ts`);
    const run = disposed(t, new CommandUnderTest(process.execPath, ['--test', '--test-reporter=spec', file]));
    assert.deepEqual(await run.exit, endedWell, run.output);
    assert.match(run.output, /^ℹ pass 1$/m);
  });
}
