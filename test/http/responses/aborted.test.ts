// Tests requests that the program itself ends without a complete response while the server drains.
import assert from 'node:assert/strict';
import { Server, type ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import { pipeline, Readable } from 'node:stream';
import { it } from 'node:test';
import { describeAdapters, serve, type Serving } from '../../support/serving.ts';
import { describeKinds, serve as serveHttp2, streamOf } from '../../support/serving-http2.ts';
import type { Http2Client } from '../../support/http2-client.ts';
import { until } from '../../support/until.ts';

type End = (response: ServerResponse, serving: Serving) => void;

const ends: Readonly<Record<string, End>> = {
  'response.destroy()': (response) => response.destroy(),
  'response.destroy() after the response headers': (response) => {
    response.write('half');
    response.destroy();
  },
  'request.destroy()': ({ req }) => req.destroy(),
  'socket.destroy()': ({ req }) => req.socket.destroy(),
  'a pipeline that fails': (response) => {
    const source = new Readable({ read: () => undefined });
    pipeline(source, response, () => undefined);
    source.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' }));
  },
  'closeAllConnections() of the prototype': (_, { server }) => {
    Server.prototype.closeAllConnections.call(server);
  },
};

describeAdapters((adapter) => {
  for (const [name, end] of Object.entries(ends)) {
    if (name.startsWith('closeAllConnections') && !['node:http', 'Fastify', 'register'].includes(adapter)) continue;
    it(`P-027 the final log line counts a request that ends by ${name} as aborted`, async (t) => {
      const held: ServerResponse[] = [];
      const serving = await serve(t, { adapter, listener: (_, response) => held.push(response) });
      const client = await serving.dial();
      client.get('/');
      await until(() => held.length === 1);
      const ended = serving.handle.shutdown('test');
      end(held[0] as ServerResponse, serving);
      const { exitCode, requests } = await ended;
      assert.deepEqual(
        { exitCode, requests },
        { exitCode: 0, requests: { answered: 0, refused: 0, aborted: 1, cut: 0 } },
      );
    });
  }

  for (const leaves of ['a FIN', 'a reset'] as const) {
    for (const begun of [false, true]) {
      const when = begun ? 'after the response headers' : 'before the response headers';
      it(`P-027 if a client disconnects with ${leaves} during the drain, ${when}, its request is not counted as aborted`, async (t) => {
        const held: ServerResponse[] = [];
        const serving = await serve(t, { adapter, listener: (_, response) => held.push(response) });
        const client = await serving.dial();
        client.get('/');
        await until(() => held.length === 1);
        const response = held[0] as ServerResponse;
        if (begun) response.writeHead(200, { 'Content-Length': 100 }).write('half');
        const ended = serving.handle.shutdown('test');
        if (leaves === 'a reset') client.reset();
        else client.socket.destroy();
        const writing = setInterval(() => begun && response.write('x'), 20);
        t.after(() => {
          clearInterval(writing);
        });
        const { exitCode, requests } = await ended;
        assert.deepEqual(
          { exitCode, requests },
          { exitCode: 0, requests: { answered: 0, refused: 0, aborted: 0, cut: 0 } },
        );
      });
    }
  }
});

const cancel = 8;

const streamEnds: Readonly<Record<string, (stream: ServerHttp2Stream) => void>> = {
  'stream.destroy()': (stream) => stream.destroy(),
  'stream.close(CANCEL)': (stream) => {
    stream.close(cancel);
  },
  'session.destroy()': (stream) => {
    stream.session?.destroy();
  },
  'a pipeline that fails': (stream) => {
    const source = new Readable({ read: () => undefined });
    pipeline(source, stream, () => undefined);
    source.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' }));
  },
};

const clientEnds: Readonly<Record<string, (client: Http2Client, close: (code: number) => void) => void>> = {
  'a CANCEL': (_, close) => {
    close(cancel);
  },
  'a reset of the stream without an error': (_, close) => {
    close(0);
  },
  'session.destroy()': ({ session }) => {
    session.destroy();
  },
  'session.destroy(error)': ({ session }) => {
    session.destroy(new Error('gone'));
  },
};

describeKinds((kind) => {
  const hold = async (scope: Parameters<typeof serveHttp2>[0], begins: boolean) => {
    let stream: ServerHttp2Stream | undefined;
    const serving = await serveHttp2(scope, kind, {
      listener: (_, answer, request) => {
        stream = streamOf(request);
        stream.on('error', () => undefined);
        if (!begins) return;
        answer.respond(200);
        answer.write('half');
      },
    });
    const client = await serving.dial();
    const asked = client.session.request({ ':path': '/' });
    asked.on('error', () => undefined);
    await until(() => stream !== undefined);
    return { client, asked, stream: stream as unknown as ServerHttp2Stream, ended: serving.handle.shutdown('test') };
  };
  for (const begins of [false, true]) {
    const when = begins ? 'after the response headers' : 'before the response headers';
    for (const [name, end] of Object.entries(streamEnds)) {
      it(`P-027 a stream that is ended by ${name} ${when} counts as aborted in the final log line`, async (t) => {
        const { stream, ended } = await hold(t, begins);
        end(stream);
        assert.deepEqual((await ended).requests, { answered: 0, refused: 0, aborted: 1, cut: 0 });
      });
    }
    for (const [name, leave] of Object.entries(clientEnds)) {
      it(`P-027 if an HTTP/2 client ends its request by ${name} ${when}, the request is not counted as aborted`, async (t) => {
        const { client, asked, ended } = await hold(t, begins);
        leave(client, (code) => {
          asked.close(code);
        });
        assert.deepEqual((await ended).requests, { answered: 0, refused: 0, aborted: 0, cut: 0 });
      });
    }
  }
});
