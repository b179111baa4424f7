// Tests a Fastify application in its own process, which gets real process signals.
import assert from 'node:assert/strict';
import { describe, it, test, type TestContext } from 'node:test';
import { get, newAccount, post, runClient } from '../support/closed-loop-client.ts';
import { disposed } from '../support/disposed.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';
import { until } from '../support/until.ts';

const clientCount = 20;
const hooks = ['pool', 'preClose', 'onClose'];

for (const [delay, retryAfter] of [
  ['1s', 'false'],
  ['0s', 'false'],
  ['1s', 'true'],
  ['0s', 'true'],
] as const) {
  void describe(`a Fastify application under load shuts down, with shutdownDelayDuration ${delay} and shutdownSendRetryAfter ${retryAfter}`, () => {
    it('P-003, P-102, P-103 closed-loop clients of a Fastify application lose no request at SIGTERM, and its hooks run after the last request', async (t) => {
      await shutDownUnderLoad(t, delay, retryAfter);
    });
  });
}

async function shutDownUnderLoad(t: TestContext, delay: string, retryAfter: string): Promise<void> {
  const program = disposed(
    t,
    new ProcessUnderTest('fastify-serves.ts', {
      HOST: 'localhost',
      LAMEDUCK_SHUTDOWN_DELAY_DURATION: delay,
      LAMEDUCK_SHUTDOWN_SEND_RETRY_AFTER: retryAfter,
    }),
  );
  const port = await program.ready();
  const account = newAccount();
  const stop = new AbortController();
  const clients = Array.from({ length: clientCount }, async (_, index) =>
    runClient({ port, request: index % 2 === 0 ? get : post, account, stop: stop.signal }),
  );
  await until(() => account.answered >= 10 * clientCount);
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, { code: 0, signal: null });
  await Promise.all(clients);
  assert.deepEqual(account.lost, []);

  const { reason, exitCode, unfinished, heldBy } = await program.finalLine();
  assert.deepEqual(
    { reason, exitCode, unfinished, heldBy },
    { reason: 'SIGTERM', exitCode: 0, unfinished: [], heldBy: [] },
  );
  const drained = program.lines.findIndex(({ name }) => name === 'InFlightRequestsDrained');
  const behind = program.lines.slice(drained).flatMap(({ msg = '' }) => (hooks.includes(msg) ? [msg] : []));
  assert.deepEqual(behind, hooks);
  const { executed } = await program.line('what was executed', ({ msg }) => msg === 'executed');
  assert.equal(executed, account.answered, 'every request that a handler received must have its response');
  const accepted = await program.acceptedPorts(port);
  const resets = account.resetPorts.filter((reset) => accepted.includes(reset));
  assert.deepEqual(resets, [], 'no accepted connection may be reset');
}

const moments = {
  'while it loads': { WHEN: 'loading', LOADING_TAKES: '200', LOOKUP_TAKES: '20' },
  'when it begins to listen': { WHEN: 'listening', LOADING_TAKES: '0', LOOKUP_TAKES: '20' },
  'when it begins to listen, with a slow lookup of localhost,': {
    WHEN: 'listening',
    LOADING_TAKES: '0',
    LOOKUP_TAKES: '300',
  },
};

for (const [when, env] of Object.entries(moments)) {
  test(`P-054, P-067 a Fastify application that gets SIGTERM ${when} exits with code 0, and closes a server that has begun to listen`, async (t) => {
    const program = disposed(t, new ProcessUnderTest('fastify-is-signaled-before-it-listens.ts', env));
    assert.deepEqual(await program.exit, { code: 0, signal: null }, program.output);
    const { hookFailures, heldBy } = await program.finalLine();
    assert.deepEqual({ hookFailures, heldBy }, { hookFailures: [], heldBy: [] }, program.output);
    assert.ok(program.lines.some(({ msg }) => msg === 'onClose'));
    assert.ok(
      program.lines.some(({ msg }) => msg === 'listened'),
      program.output,
    );
    assert.equal(program.stderr, '');
  });
}

test('P-058 if an onClose hook fails, the process still ends, with code 81 and the reason in its log', async (t) => {
  const program = disposed(t, new ProcessUnderTest('fastify-serves.ts', { FAILS: '1' }));
  await program.ready();
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, { code: 81, signal: null });
  const { hookFailures } = await program.finalLine();
  const error = 'destroy hook "fastify" failed: the pool does not close';
  assert.deepEqual(hookFailures, [{ kind: 'destroy', name: 'fastify', error }]);
  assert.equal(program.stderr, '');
});

test('with LAMEDUCK_DISABLED=1, app.lameduck has no effect, and SIGTERM ends the process as without the Fastify plugin', async (t) => {
  const program = disposed(t, new ProcessUnderTest('fastify-serves.ts', { LAMEDUCK_DISABLED: '1' }));
  const port = await program.port();
  const response = await fetch(`http://127.0.0.1:${String(port)}/readyz`);
  assert.equal(response.status, 404);
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, { code: null, signal: 'SIGTERM' });
  assert.deepEqual(
    program.lines.map(({ msg }) => msg),
    ['listening'],
  );
});
