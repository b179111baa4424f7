// Responses that are event streams, read by the clients of their providers while the server shuts down. `.ci/event-streams`
// runs it: PROGRAMS is the folder in which they are installed, with the packed package among them.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { CommandUnderTest } from '../support/command-under-test.ts';
import { disposed } from '../support/disposed.ts';
import { until } from '../support/until.ts';

const root = process.env['PROGRAMS'] ?? '';
type Read = (origin: string, onBegin: () => void) => Promise<string>;
const { clients } = (await import(pathToFileURL(join(root, 'clients.mjs')).href)) as {
  readonly clients: Readonly<Record<string, Read>>;
};
const names = Object.keys(clients);

/** shutDown signals the server when every response has begun, and returns how each client ended. */
async function shutDown(t: TestContext, parts: number, environment: Readonly<Record<string, string>>) {
  const server = disposed(
    t,
    new CommandUnderTest(process.execPath, ['--import', 'lameduck/register', 'server.mjs'], {
      cwd: root,
      env: {
        ...environment,
        PORT: '0',
        PARTS: String(parts),
        LAMEDUCK_PROBE_PORT: 'off',
        LAMEDUCK_SHUTDOWN_DELAY_DURATION: '100ms',
        LAMEDUCK_PRE_SHUTDOWN_HOOK_TIMEOUT: '100ms',
        LAMEDUCK_DESTROY_HOOK_TIMEOUT: '100ms',
      },
    }),
  );
  const [, port = ''] = await server.printed(/"addresses":\["[^"]*:(\d+)"/);
  const begun = new Set<string>();
  const reading = names.map(async (name) => clients[name]?.(`http://127.0.0.1:${port}`, () => begun.add(name)));
  const settled = Promise.allSettled(reading);
  await until(() => begun.size === names.length);
  server.kill('SIGTERM');
  return { outcomes: await settled, ...(await server.exit), output: server.output };
}

function textOf(parts: number): string {
  return Array.from({ length: parts }, (_, index) => `word${String(index)} `).join('');
}

test('P-033, P-034 every client gets the whole response, and the exit code is 0', async (t) => {
  const { outcomes, code, output } = await shutDown(t, 30, {});
  outcomes.forEach((outcome, index) => {
    assert.deepEqual(outcome, { status: 'fulfilled', value: textOf(30) }, names[index]);
  });
  assert.equal(code, 0, output);
});

test('P-025, P-027 no client takes a response that was broken off for the whole one', async (t) => {
  const { outcomes, code, output } = await shutDown(t, 200, { LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '4' });
  outcomes.forEach(({ status }, index) => {
    assert.equal(status, 'rejected', names[index]);
  });
  assert.equal(code, 80, output);
  assert.equal(output.match(/LAMEDUCK_EVENT_STREAMS=all/g)?.length, names.length, output);
});
