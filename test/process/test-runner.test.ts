import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { runsTests } from '../../src/process/test-runner.ts';

const lameduck = new URL('../../src/index.ts', import.meta.url).href;
const server = `
  import { createServer } from 'node:http';
  import { once } from 'node:events';
  import { lameduck } from ${JSON.stringify(lameduck)};

  export async function serveOnce(options) {
    const server = createServer((request, response) => response.end('hello'));
    const duck = lameduck(server, options);
    server.listen(0, '127.0.0.1');
    await duck.signals.hasBeenReady.signaled;
    await (await fetch('http://127.0.0.1:' + server.address().port)).text();
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }
`;

/** `run()` runs a module beside `server.mjs`, and returns its output when it has ended on its own. */
function run(t: TestContext, program: string, ...args: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'lameduck-test-runner-'));
  t.after(() => {
    rmSync(folder, { recursive: true });
  });
  const file = join(folder, 'main.test.mjs');
  writeFileSync(join(folder, 'server.mjs'), server);
  writeFileSync(file, program);
  const env = { ...process.env, NODE_OPTIONS: '', NODE_TEST_CONTEXT: undefined };
  const { stdout, stderr, status } = spawnSync(process.execPath, [...args, file], {
    env,
    encoding: 'utf8',
    timeout: 20_000,
  });
  assert.equal(status, 0, `ended with ${String(status)}:\n${stdout}${stderr}`);
  return `${stdout}${stderr}`;
}

const testOfServer = `
  import { test } from 'node:test';
  import { serveOnce } from './server.mjs';
  test('serves', () => serveOnce());
`;

// Node 22 knows the option --test-isolation only as --experimental-test-isolation.
const isolation = process.allowedNodeEnvironmentFlags.has('--test-isolation')
  ? '--test-isolation'
  : '--experimental-test-isolation';

test('a process that runs tests is recognized', () => {
  assert.equal(runsTests({}), true);
});

for (const args of [[], ['--test'], ['--test', `${isolation}=none`]]) {
  const command = ['node', ...args].join(' ');
  test(`under ${command}, lameduck logs nothing about a server that a test closes, and the test process ends on its own`, (t) => {
    const output = run(t, testOfServer, ...args);
    assert.match(output, /pass 1\b/);
    assert.doesNotMatch(output, /lifecycle|shutdown|"level"/);
  });
}

test('in a process that runs tests, lameduck logs if the test passes a logger', (t) => {
  const output = run(
    t,
    `
      import { test } from 'node:test';
      import { serveOnce } from './server.mjs';
      const write = (details, message) => console.log(message);
      test('serves', () => serveOnce({ logger: { info: write, warn: write, error: write } }));
    `,
  );
  assert.match(output, /lifecycle started/);
});

test('if a test starts a program as a separate process, lameduck logs in the separate process as usual', (t) => {
  const output = run(
    t,
    `
      import { spawnSync } from 'node:child_process';
      import { test } from 'node:test';
      test('starts a program', () => {
        const args = ['--input-type=module', '--eval', "import { serveOnce } from './server.mjs'; await serveOnce();"];
        const { stdout } = spawnSync(process.execPath, args, { cwd: import.meta.dirname, encoding: 'utf8' });
        console.log(stdout);
      });
    `,
  );
  assert.match(output, /lifecycle started/);
});

for (const [runner, preparation] of [
  ['Mocha or Jasmine', 'globalThis.describe = globalThis.it = () => undefined;'],
  ['Jest or Vitest', "globalThis[Symbol.for('$$jest-matchers-object')] = {};"],
] as const) {
  test(`the global variables that ${runner} adds are recognized`, (t) => {
    const output = run(t, `${preparation} await (await import('./server.mjs')).serveOnce();`);
    assert.equal(output, '');
  });
}
