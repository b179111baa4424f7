// Tests event streams in the formats of several providers. The providers' own clients read them while the server shuts
// down. `.ci/event-streams` runs this file. PROGRAMS is the folder in which the clients and the packed package are
// installed.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { CommandUnderTest } from '../../support/command-under-test.ts';
import { disposed } from '../../support/disposed.ts';
import { until } from '../../support/until.ts';

const root = process.env['PROGRAMS'] ?? '';
type Read = (origin: string, onBegin: () => void) => Promise<string>;
type Clients = Readonly<Record<string, Read>>;
const { clients, subscribers, sources, single } = (await import(
  pathToFileURL(join(root, 'clients.mjs')).href
)) as Readonly<Record<'clients' | 'subscribers' | 'sources' | 'single', Clients>>;
const responses = { ...clients, ...subscribers };

/**
 * shutDown waits until every response has begun, and then sends SIGTERM to the server. For each client, it returns the
 * text that the client has read, or the error that ended reading.
 */
async function shutDown(t: TestContext, whom: Clients, parts: number, environment: Readonly<Record<string, string>>) {
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
  const reading = Object.entries(whom).map(([name, read]) =>
    read(`http://127.0.0.1:${port}`, () => begun.add(name)).then(
      (text) => [name, text] as const,
      (error: unknown) => [name, error] as const,
    ),
  );
  await until(() => begun.size === reading.length);
  server.kill('SIGTERM');
  return { outcomes: new Map(await Promise.all(reading)), ...(await server.exit), output: server.output };
}

function textOf(parts: number): string {
  return Array.from({ length: parts }, (_, index) => `word${String(index)} `).join('');
}

test('P-033, P-034 every client of an event stream gets the whole response, and the exit code is 0', async (t) => {
  const { outcomes, code, output } = await shutDown(t, responses, 30, {});
  for (const [name, outcome] of outcomes) assert.equal(outcome, textOf(30), name);
  assert.equal(code, 0, output);
});

test('P-025, P-027 no client mistakes an event stream that is broken off for the whole response', async (t) => {
  const { outcomes, code, output } = await shutDown(t, responses, 200, {
    LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '4',
  });
  for (const [name, outcome] of outcomes) assert.ok(outcome instanceof Error, name);
  assert.equal(code, 80, output);
  assert.equal(output.match(/LAMEDUCK_EVENT_STREAMS=all/g)?.length, outcomes.size, output);
});

for (const [eventStreams, whom] of [
  ['reconnecting', sources],
  ['all', { ...sources, 'graphql-yoga by POST': subscribers['graphql-yoga'] as Read }],
] as const) {
  test(`P-033, P-034 with ${eventStreams} a GraphQL subscription ends with a hint to reconnect, and the exit code is 0`, async (t) => {
    const { outcomes, code, output } = await shutDown(t, whom, 200, { LAMEDUCK_EVENT_STREAMS: eventStreams });
    for (const [name, outcome] of outcomes) assert.match(String(outcome), /^word0 (word\d+ )*retry$/, name);
    assert.equal(code, 0, output);
  });
}

for (const [eventStreams, whom] of [
  ['reconnecting', single],
  ['all', { single: single['graphql-sse'] as Read, distinct: subscribers['graphql-sse'] as Read }],
] as const) {
  test(`P-034 with ${eventStreams} the client of graphql-sse sees the end of its stream, so that it reconnects`, async (t) => {
    const { outcomes, code, output } = await shutDown(t, whom, 200, { LAMEDUCK_EVENT_STREAMS: eventStreams });
    for (const [name, outcome] of outcomes) assert.ok(outcome instanceof Error, name);
    assert.equal(code, 0, output);
  });
}
