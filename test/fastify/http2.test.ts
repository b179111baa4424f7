// Tests an HTTP/2 application with the plugin.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type ClientHttp2Session } from 'node:http2';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { certificate } from '../fixtures/certificate.ts';
import { createApp, recordCloses } from '../support/fastify.ts';
import { until } from '../support/until.ts';

const kinds: Readonly<Record<string, object>> = {
  'HTTP/2 without TLS': { http2: true },
  'HTTP/2 over TLS': { http2: true, https: certificate },
  'HTTP/2 over TLS with forceCloseConnections': { http2: true, https: certificate, forceCloseConnections: true },
};

async function ask(session: ClientHttp2Session, path: string): Promise<{ status: unknown; body: string }> {
  const stream = session.request({ ':path': path });
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
  return { status: headers[':status'], body: await text(stream) };
}

for (const [kind, serverOptions] of Object.entries(kinds)) {
  test(`P-033, P-042, P-102 an application on ${kind} serves the requests in flight, and then Fastify closes`, async (t) => {
    const app = await createApp(t, { metricsPath: '/metrics' }, serverOptions);
    const { names } = recordCloses(app);
    const inHand = new Set<string>();
    let letGo = (): void => undefined;
    app.get('/held/:id', async () => {
      await new Promise<void>((resolve) => {
        letGo = resolve;
        inHand.add('held');
      });
      return 'let go';
    });
    app.get('/poll', { config: { lameduck: { longRunning: true } } }, async (request) => {
      const signal = app.lameduck.abortSignal(request);
      inHand.add('poll');
      await once(signal, 'abort');
      return 'come back';
    });
    const origin = await app.listen({ host: '127.0.0.1', port: 0 });
    await app.lameduck.signals.hasBeenReady.signaled;
    const session = connect(origin, { rejectUnauthorized: false });
    t.after(() => {
      session.destroy();
    });
    assert.deepEqual(await ask(session, '/readyz'), { status: 200, body: 'ok' });

    const [held, poll] = [ask(session, '/held/7'), ask(session, '/poll')];
    await until(() => inHand.size === 2);
    const closed = app.close();
    assert.deepEqual(await poll, { status: 200, body: 'come back' });
    assert.deepEqual(names, []);
    letGo();
    assert.deepEqual(await held, { status: 200, body: 'let go' });
    await closed;
    assert.deepEqual(names, ['pool', 'preClose', 'onClose']);
    const { exitCode, longRunningEnded } = await app.lameduck.ended;
    assert.deepEqual({ exitCode, longRunningEnded }, { exitCode: 0, longRunningEnded: 1 });
  });
}
