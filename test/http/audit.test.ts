import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { test } from 'node:test';
import { RecordingAudit } from '../support/recording-audit.ts';
import { describeAdapters, noProbes, serve } from '../support/serving.ts';
import { describeKinds, serve as serveHttp2 } from '../support/serving-http2.ts';
import { until } from '../support/until.ts';

const eventStream = 'text/event-stream';

function answer(request: IncomingMessage, response: ServerResponse): void {
  if (request.url === '/stream') response.writeHead(200, { 'Content-Type': eventStream }).write('data: 1\n\n');
  else if (request.url === '/cut') response.writeHead(200, { 'Content-Length': '9' }).write('part');
  else if (request.url !== '/hang') response.writeHead(201).end('made\n');
}

describeAdapters((adapter) => {
  test('A-205 a request has an audit entry when it is received and another when its response is complete', async (t) => {
    const audit = new RecordingAudit();
    const serving = await serve(t, { adapter, audit, listener: answer });
    const client = await serving.dial();
    for (const path of ['/a', '/b']) {
      client.get(path);
      await client.reader.next();
    }
    await until(() => audit.of('/b').length === 2);
    assert.deepEqual(
      [audit.of('/a'), audit.of('/b')],
      [
        ['received', '201 whole'],
        ['received', '201 whole'],
      ],
    );
  });

  test('a probe has no audit entry', { skip: noProbes(adapter) }, async (t) => {
    const audit = new RecordingAudit();
    const serving = await serve(t, { adapter, audit, listener: answer });
    const client = await serving.dial();
    client.get('/readyz');
    await client.reader.next();
    assert.deepEqual(audit.paths, []);
  });

  test('an event stream has an additional audit entry when its headers are sent', async (t) => {
    const audit = new RecordingAudit();
    const serving = await serve(t, { adapter, audit, listener: answer });
    const client = await serving.dial();
    client.get('/stream', `Accept: ${eventStream}\r\n`);
    await until(() => audit.of('/stream').length === 2);
    assert.deepEqual(audit.of('/stream'), ['received', 'started 200']);
    client.socket.destroy();
    await until(() => audit.of('/stream').length === 3);
    assert.deepEqual(audit.of('/stream').slice(2), ['200 incomplete']);
  });

  test('a request whose client disconnects has a final audit entry with the status that was sent, if any', async (t) => {
    const audit = new RecordingAudit();
    const serving = await serve(t, { adapter, audit, listener: answer });
    for (const [path, end] of [
      ['/hang', 'undefined incomplete'],
      ['/cut', '200 incomplete'],
    ] as const) {
      const client = await serving.dial();
      const begun = path === '/cut' ? once(client.socket, 'data') : undefined;
      client.get(path);
      await until(() => audit.of(path).length === 1);
      await begun;
      client.reset();
      await until(() => audit.of(path).length === 2);
      assert.deepEqual(audit.of(path), ['received', end]);
    }
  });

  test('a request that lameduck rejects with 429 gets no audit entry', async (t) => {
    const audit = new RecordingAudit();
    const serving = await serve(t, { adapter, audit, maxRequestsInflight: 1, listener: answer });
    const [first, second] = [await serving.dial(), await serving.dial()];
    first.get('/hang');
    await until(() => audit.of('/hang').length === 1);
    second.get('/rejected');
    assert.equal((await second.reader.next())?.status, 429);
    assert.deepEqual(audit.paths, ['/hang']);
  });

  test('if lameduck delays a request while the listening socket closes, it writes the first audit entry of this request only when it calls the handler', async (t) => {
    const audit = new RecordingAudit();
    const serving = await serve(t, { adapter, audit, listener: answer });
    const [served, gone] = [await serving.dial(), await serving.dial()];
    serving.traffic.hold.begin();
    served.get('/served');
    gone.get('/gone');
    await until(() => serving.traffic.counts.requestsInFlight === 2);
    assert.deepEqual(audit.paths, []);
    gone.reset();
    await until(() => serving.traffic.counts.requestsInFlight === 1);
    serving.traffic.hold.end();
    assert.equal((await served.reader.next())?.status, 201);
    await until(() => audit.of('/served').length === 2);
    assert.deepEqual(audit.of('/served'), ['received', '201 whole']);
    assert.deepEqual(audit.of('/gone'), []);
  });
});

const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
const answers: readonly [status: number, text: string][] = [
  [101, 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
  [401, 'HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n'],
];
for (const [status, text] of answers) {
  for (const method of ['write', 'end'] as const) {
    test(`an upgrade that its handler rejects with ${String(status)} by ${method}() has an audit entry with that status`, async (t) => {
      const audit = new RecordingAudit();
      const serving = await serve(t, {
        audit,
        listener: answer,
        prepare: (server) => {
          server.on('upgrade', (_request, socket) => {
            socket[method](Buffer.from(text));
            socket.on('data', () => undefined).on('error', () => undefined);
            assert.ok(
              !Object.hasOwn(socket, 'write') && !Object.hasOwn(socket, 'end'),
              'after the first write, the socket must have the methods of Node again',
            );
          });
        },
      });
      const client = await serving.dial();
      client.get('/socket', upgrade);
      await once(client.socket, 'data');
      assert.deepEqual(audit.of('/socket'), ['received', `started ${String(status)}`]);
      client.reset();
      await until(() => audit.of('/socket').length === 3);
      assert.deepEqual(audit.of('/socket').slice(2), ['closed']);
    });
  }
}

describeKinds((kind) => {
  test('A-205 an HTTP/2 stream has an audit entry when it is received and another when its response is complete', async (t) => {
    const audit = new RecordingAudit();
    const serving = await serveHttp2(t, kind, {
      audit,
      listener: (_path, response) => {
        response.respond(201);
        response.end('made');
      },
    });
    const client = await serving.dial();
    await Promise.all(['/a', '/b'].map((path) => client.request(path)));
    await until(() => audit.of('/b').length === 2);
    assert.deepEqual(
      [audit.of('/a'), audit.of('/b')],
      [
        ['received', '201 whole'],
        ['received', '201 whole'],
      ],
    );
  });

  test('an event stream over HTTP/2 gets one audit entry when its request arrives, and another when its headers are sent', async (t) => {
    const audit = new RecordingAudit();
    const serving = await serveHttp2(t, kind, {
      audit,
      listener: (_path, response) => {
        response.respond(200, eventStream);
        response.write('data: 1\n\n');
      },
    });
    const client = await serving.dial();
    void client.request('/stream', { accept: eventStream });
    await until(() => audit.of('/stream').length === 2);
    assert.deepEqual(audit.of('/stream'), ['received', 'started 200']);
  });
});
