// Tests a pre-shutdown hook that sends requests to its own server, over real sockets.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { Client } from '../support/serving.ts';
import { describeAdapters, serve } from '../support/serving.ts';

describeAdapters((adapter) => {
  for (const shutdownSendRetryAfter of [false, true]) {
    const mode = `shutdownSendRetryAfter ${String(shutdownSendRetryAfter)}`;

    test(`A-057 after the shutdown delay, a pre-shutdown hook gets responses to requests to the program's own server, on new and on keep-alive connections, ${mode}`, async (t) => {
      const answers: string[] = [];
      const serving = await serve(t, {
        adapter,
        shutdownDelayDuration: '100ms',
        shutdownSendRetryAfter,
        listener: (request, response) => response.end(request.url),
      });
      const { handle } = serving;
      const kept = await serving.dial();
      const ask = async (client: Client, path: string): Promise<void> => {
        client.get(path);
        const response = await client.reader.next();
        answers.push(`${String(response?.status)} ${response?.body ?? ''}`);
      };
      handle.addPreShutdownHook('say-goodbye', async () => {
        await handle.signals.afterShutdownDelayDuration.signaled;
        await ask(kept, '/kept');
        for (let index = 0; index < 5; index++) await ask(await serving.dial(), `/${String(index)}`);
        assert.equal(handle.signals.notAcceptingNewRequest.hasSignaled, false);
      });
      const record = await handle.shutdown('test');
      assert.deepEqual(answers, ['200 /kept', '200 /0', '200 /1', '200 /2', '200 /3', '200 /4']);
      assert.deepEqual([record.exitCode, record.hookFailures], [0, []]);
      assert.deepEqual(record.requests, { answered: 6, refused: 0, aborted: 0, cut: 0 });
      const late = connect(serving.port, '127.0.0.1');
      await assert.rejects(once(late, 'connect'), { code: 'ECONNREFUSED' });
    });
  }

  test('A-006, A-057 clients are served while a pre-shutdown hook is running, even long after the shutdown delay has ended', async (t) => {
    const serving = await serve(t, { adapter, listener: (_request, response) => response.end('served') });
    const { handle } = serving;
    const hook = Promise.withResolvers<undefined>();
    handle.addPreShutdownHook('leave-the-ring', () => hook.promise);
    const ended = handle.shutdown('test');
    await handle.signals.afterShutdownDelayDuration.signaled;
    const client = await serving.dial();
    client.get('/');
    assert.equal((await client.reader.next())?.status, 200);
    hook.resolve(undefined);
    assert.equal((await ended).requests.answered, 1);
  });
});
