// Tests that the program of docs/health.md runs, and responds as the page shows.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readinessPaths } from '../../src/health/readiness-paths.ts';
import { CommandUnderTest } from '../support/command-under-test.ts';
import { disposed } from '../support/disposed.ts';
import { blocksIn, firstColumn, readPage, tablesIn } from '../support/markdown.ts';
import { fails, HealthUnderTest } from '../support/health-under-test.ts';

const page = readPage('docs/health.md');
const [program = ''] = blocksIn(page).flatMap(({ language, text }) => (language === 'ts' ? [text] : []));
const sessions = blocksIn(page).flatMap(({ language, text }) => (language === 'console' ? [text] : []));

// Stubs for the code that a reader of docs/health.md writes, such as a database pool. When the test writes a line to
// standard input, the stubs behave as unavailable dependencies.
const stubs = `
  import { createServer } from 'node:http';
  let isAway = false;
  process.stdin.once('data', () => { isAway = true; console.log('stub: away'); }).unref();
  const orders = createServer((_, response) => response.writeHead(isAway ? 503 : 200).end()).listen(0, '127.0.0.1').unref();
  export const app = (_, response) => response.end('from the app');
  export const ordersUrl = { toString: () => 'http://127.0.0.1:' + orders.address().port };
  export const checkPool = { query: async () => { if (isAway) throw new Error('connection refused'); } };
  export const warmUp = async () => undefined;
  export const worker = { isMoving: () => true };
`;

interface Exchange {
  readonly target: string;
  readonly answer: string;
}

/**
 * exchangesIn returns the path of each curl command in a console block of docs/health.md, with the response that
 * follows it in the block.
 */
function exchangesIn(session: string): Exchange[] {
  return session
    .split(/^\$ /m)
    .slice(1)
    .map((text) => {
      const [, target = '', answer = ''] = /^curl 'localhost:8080(.*)'\n([^]*)$/.exec(text) ?? [];
      return { target, answer };
    });
}

test('the program of docs/health.md responds as the page shows, and its check fails and passes again', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'health-'));
  t.after(async () => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'app.js'), stubs);
  const source = JSON.stringify(new URL('../../src/index.ts', import.meta.url).href);
  await writeFile(join(folder, 'program.ts'), program.replace("'lameduck'", source));
  const anyPort = `--import=${new URL('../support/any-port.ts', import.meta.url).href}`;
  const args = [anyPort, '--disable-warning=ExperimentalWarning', join(folder, 'program.ts')];
  const running = disposed(t, new CommandUnderTest(process.execPath, args, { stdin: 'pipe' }));
  const [, port = ''] = await running.printed(/"addresses":\["[^"]+:(\d+)"\]/);
  await running.printed(/"name":"HasBeenReady"/);
  const ask = async (target: string): Promise<Response> => fetch(`http://127.0.0.1:${port}${target}`);

  const [healthy = '', away = '', ...others] = sessions;
  assert.deepEqual(others, []);
  for (const session of [healthy, away]) {
    const exchanges = exchangesIn(session);
    assert.notEqual(exchanges.length, 0);
    for (const { target, answer } of exchanges) {
      // A terminal prints its prompt directly after the response `ok`, which has no newline. The page shows a newline
      // instead of the prompt.
      assert.equal((await (await ask(target)).text()).replace(/^ok$/, 'ok\n'), answer, target);
    }
    if (session !== healthy) continue;
    for (const status of [500, 200]) {
      running.kill('SIGUSR2');
      while ((await ask('/readyz')).status !== status);
    }
    running.child.stdin?.write('away\n');
    await running.printed(/stub: away/);
  }
  await running.printed(/"check":"database","reason":"check \\"database\\" failed: connection refused"/);
  running.kill('SIGTERM');
  assert.deepEqual(await running.exit, { code: 0, signal: null }, running.output);
});

test('docs/health.md lists exactly the checks that exist', () => {
  const under = new HealthUnderTest({ livezGracePeriod: 1, isLoopWatched: true });
  under.health.addPostStartHook('<name>', () => true);
  const names = ['readyz', 'livez', 'healthz'].flatMap((endpoint) =>
    [...under.bodyOf(`/${endpoint}?verbose`).matchAll(/^\[\+\](\S+) ok$/gm)].map(([, name = '']) => name),
  );
  const isOptional = (name: string): boolean =>
    name.startsWith('add') || ['listening', 'worker-threads'].includes(name);
  const listed = firstColumn(page, 'check').filter((name) => !isOptional(name));
  assert.deepEqual([...new Set(listed)].sort(), [...new Set(names)].sort());
});

const states: Readonly<Record<string, (under: HealthUnderTest) => void>> = {
  'every check passes': () => undefined,
  'a post-start hook has not ended': ({ health }) => {
    health.addPostStartHook('warm-up', () => false);
  },
  'a check added with `addReadyzCheck` fails': ({ health }) => {
    health.addReadyz('database', fails);
  },
  'a check added with `addLivezCheck` fails': ({ health }) => {
    health.addLivez('worker', fails);
  },
  'the shutdown has begun': ({ lifecycle }) => {
    lifecycle.report('ShutdownInitiated');
  },
};

test('the paths have the statuses that docs/health.md lists for each state of the process', () => {
  const rows = Object.entries(states).map(([state, enter]) => {
    const under = new HealthUnderTest();
    enter(under);
    const answerOwn = readinessPaths(['/health'], under.lifecycle.signals.shutdownInitiated);
    const [get, head, post] = ['GET', 'HEAD', 'POST'].map((method) => answerOwn('/health', method)?.status);
    assert.deepEqual([head, post], [get, undefined]);
    const statuses = ['/readyz', '/livez', '/healthz'].map((path) => `\`${path}\`: ${String(under.statusOf(path))}`);
    const own = get === undefined ? 'the HTTP status that your program answers' : `${String(get)} for GET and HEAD`;
    return [state, ...statuses, `\`readinessPaths\`: ${own}`];
  });
  const [table] = tablesIn(page).filter(([head]) => head?.[0] === 'state of the process');
  assert.deepEqual(table?.slice(1), rows);
});
