// Tests HTTP/2 clients in Go (net/http) and curl, under load while their server shuts down. `.ci/http2-clients` runs
// this file with three variables. HTTP2_CLIENT names the client in Go, and CURL names curl. ROUNDS is the number of
// shutdowns of each kind of server.
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { disposed } from '../../support/disposed.ts';
import { ProcessUnderTest } from '../../support/process-under-test.ts';
import { until } from '../../support/until.ts';
import { curl, goClient, type Asked, type ForeignClient } from './http2-account.ts';

const delay = 1_000;
const rounds = Number(process.env['ROUNDS'] ?? 1);

// How many responses the clients must have before the test begins the shutdown. Each HTTP/2 session has then carried
// many requests.
const loaded = 300;

for (const [name, SECURE] of [
  ['without TLS', '0'],
  ['over TLS', '1'],
] as const) {
  for (const [how, sendRetryAfter] of [
    ['that first closes its listening socket', 'false'],
    ['that refuses requests with retry-after', 'true'],
  ] as const) {
    describe(`HTTP/2 ${name}: Go and curl get a response to each request from a server ${how}`, () => {
      for (let round = 1; round <= rounds; round++) {
        test(`P-003, P-043 Go and curl lose no request while their sessions move to another server, round ${String(round)}`, async (t) => {
          await goAway(t, {
            SECURE,
            LAMEDUCK_SHUTDOWN_DELAY_DURATION: `${String(delay)}ms`,
            LAMEDUCK_SHUTDOWN_SEND_RETRY_AFTER: sendRetryAfter,
          });
        });
      }
    });
  }
}

async function goAway(t: TestContext, environment: Readonly<Record<string, string>>): Promise<void> {
  const program = disposed(t, new ProcessUnderTest('tells-what-it-executed.ts', environment));
  const port = await program.ready();
  const url = `${environment['SECURE'] === '1' ? 'https' : 'http'}://127.0.0.1:${String(port)}`;
  const clients = [goClient(url), curl('get', url), curl('post', url), curl('download', url)];
  for (const client of clients) disposed(t, client);
  await until(() => clients.every(({ asked }) => asked.length > loaded / clients.length));
  const before = clients.map(({ asked }) => asked.length);
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, { code: 0, signal: null }, program.output);
  const exitedAt = Date.now();
  await Promise.all(clients.map(({ exit }) => exit));

  const stopped = (await program.signaled('NotAcceptingNewRequest'))['time'] as number;
  const accepted = new Set(await program.acceptedPorts(port));
  const executed = (await program.line('what was executed', ({ msg }) => msg === 'executed'))['executed'] as string[];
  for (const [index, client] of clients.entries()) {
    const { name, asked, died, resent } = client;
    const ofLost = lost(client, accepted).map((one) => ({ ...one, isExecuted: executed.includes(one.id) }));
    assert.deepEqual(
      [...ofLost, ...died],
      [],
      `the client ${name} lost requests, and the server exited at ${String(exitedAt)}`,
    );
    const early = asked.filter((one) => one.outcome === 'refused' && one.at < stopped);
    assert.deepEqual(early, [], `the client ${name} was refused before NotAcceptingNewRequest`);
    const { answered, refused, unsent } = counted(asked);
    assert.ok(
      answered > Number(before[index]) + 10 && refused > 0,
      `the client ${name} must send requests from before the process signal to the end`,
    );
    const said = `${String(answered)} answered, ${String(refused)} refused, ${String(unsent)} never sent`;
    t.diagnostic(`${name}: ${said}, ${String(resent)} sent again`);
  }
  const answered = clients.flatMap(({ asked }) => asked.filter(({ outcome }) => outcome === 'answered'));
  assert.deepEqual(
    executed.sort(),
    answered.map(({ id }) => id).sort(),
    'each request must be executed once or refused',
  );
  assert.deepEqual((await program.finalLine())['unfinished'], []);
}

// Returns the lost requests. When a listening socket closes, the kernel resets the connections that the program has not
// accepted yet. Requests on such connections count as refused and not as lost.
function lost({ asked }: ForeignClient, accepted: ReadonlySet<number>): readonly Asked[] {
  return asked.filter(({ outcome, port }) => outcome === 'lost' && (port === 0 || accepted.has(port)));
}

function counted(asked: readonly Asked[]): Readonly<Record<Asked['outcome'], number>> {
  const counts = { answered: 0, refused: 0, unsent: 0, lost: 0 };
  for (const { outcome } of asked) counts[outcome]++;
  return counts;
}
