// Sends SIGTERM while clients send each request immediately after the previous response and never retry. Under this
// load, other packages lose requests. ROUNDS is the number of shutdowns for each combination of settings.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { isSecure, type AdapterName } from '../support/adapters.ts';
import { get, newAccount, post, runClient, type Account } from '../support/closed-loop-client.ts';
import { disposed } from '../support/disposed.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';
import { until } from '../support/until.ts';

const rounds = Number(process.env['ROUNDS'] ?? 1);
const clientCount = 30;
const fewRequests = 10 * clientCount;
const manyRequests = 70 * clientCount;

for (const adapter of ['node:http', 'node:https', 'Fastify'] as const) {
  for (const delay of ['500ms', '0s']) {
    for (const retryAfter of [false, true]) {
      describe(`${adapter}, shutdownDelayDuration ${delay}, shutdownSendRetryAfter ${String(retryAfter)}: no request is lost`, () => {
        for (let round = 1; round <= rounds; round++) {
          it('P-003, P-047 thirty closed-loop keep-alive clients that never retry lose no request at SIGTERM', async (t) => {
            await shutDownUnderLoad(t, adapter, delay, retryAfter);
          });
        }
      });
    }
  }
}

describe('a program that also closes its connection pool and its server in its own SIGTERM listener loses no request', () => {
  for (const adapter of ['node:http', 'Fastify'] as const) {
    for (let round = 1; round <= rounds; round++) {
      it(`P-055, P-111 on ${adapter}, thirty closed-loop clients lose no request, and no handler finds the connection pool of the program closed`, async (t) => {
        const { answered } = await shutDownUnderLoad(t, adapter, '1s', false, manyRequests, { OWN_LISTENER: '1' });
        t.diagnostic(`${String(answered)} requests`);
      });
    }
  }
});

async function shutDownUnderLoad(
  t: TestContext,
  adapter: AdapterName,
  delay: string,
  retryAfter: boolean,
  requestsBefore = fewRequests,
  env: Readonly<Record<string, string>> = {},
): Promise<Account> {
  const server = disposed(
    t,
    new ProcessUnderTest('serve.ts', {
      ...env,
      ADAPTER: adapter,
      LAMEDUCK_SHUTDOWN_DELAY_DURATION: delay,
      LAMEDUCK_SHUTDOWN_SEND_RETRY_AFTER: String(retryAfter),
    }),
  );
  const port = await server.ready();
  const account = newAccount();
  const stop = new AbortController();
  const clients = Array.from({ length: clientCount }, async (_, index) =>
    runClient({
      port,
      isSecure: isSecure(adapter),
      request: index % 2 === 0 ? get : post,
      account,
      stop: stop.signal,
    }),
  );
  await until(() => account.answered >= requestsBefore);
  const answeredBefore = account.answered;
  server.kill('SIGTERM');
  const { code } = await server.exit;
  await Promise.all(clients);
  assert.equal(code, 0);
  assert.deepEqual({ lost: account.lost, failed: account.failed }, { lost: [], failed: 0 });
  const record = await server.finalLine();
  assert.deepEqual(record['unfinished'], []);
  assert.ok(account.answered > answeredBefore, 'some requests must be served after the process signal');
  // A simulated client stops when the server refuses its new connection. The server may refuse this connection only
  // after it has announced the close of the client's previous connection.
  //
  // When a server closes its listening socket, the kernel resets connections that the server has not accepted yet. Such
  // a reset counts as a refusal. If the listening socket closes too early, nearly every client gets a reset (P-018).
  const accepted = await server.acceptedPorts(port);
  const resets = account.resetPorts.filter((reset) => accepted.includes(reset));
  assert.deepEqual(resets, [], 'no accepted connection may be reset');
  const allowed = ['ECONNREFUSED', 'ECONNRESET', ...(retryAfter ? ['429'] : [])];
  assert.deepEqual(
    account.refused.filter((reason) => !allowed.includes(reason)),
    [],
  );
  const neverAccepted = account.refused.filter((reason) => reason === 'ECONNRESET').length;
  assert.ok(
    neverAccepted <= clientCount / 3,
    `${String(neverAccepted)} connections were reset before they were accepted`,
  );
  if (neverAccepted > 0) t.diagnostic(`${String(neverAccepted)} connections were reset before they were accepted`);
  return account;
}
