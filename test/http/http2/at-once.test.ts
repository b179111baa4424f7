// Tests streams whose frames all arrive together: Node receives all of them before it emits the `stream` event.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:http2';
import type { Server } from 'node:net';
import { duplexPair, type Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { it, type TestContext } from 'node:test';
import type { StreamResponse } from '../../../src/http/http2/stream-response.ts';
import type { Parts } from '../../../src/parts.ts';
import { frame, preface, question, secured, settings, uint32 } from '../../support/http2-by-rote.ts';
import { answerBehindBody, describeKinds, serve } from '../../support/serving-http2.ts';
import { until } from '../../support/until.ts';

// Connects a client to the server through memory, without a socket. Frames that the client sends in one turn of the
// event loop therefore arrive together.
function dialInProcess(t: TestContext, server: Server, isSecure: boolean): Duplex {
  const [near, far] = duplexPair();
  t.after(() => {
    near.destroy();
    far.destroy();
  });
  server.emit('connection', far);
  return isSecure ? secured(near) : near;
}

function heldBy({ traffic }: Pick<Parts, 'traffic'>): StreamResponse[] {
  return [...traffic.connections].flatMap(({ exchanges }) =>
    exchanges.map(({ response }) => response as StreamResponse),
  );
}

describeKinds((kind) => {
  const open = async (t: TestContext) => {
    let executed = 0;
    const serving = await serve(t, kind, {
      listener: (...args) => {
        executed++;
        answerBehindBody(...args);
      },
    });
    const socket = dialInProcess(t, serving.server, kind.isSecure);
    const session = connect('http://localhost', { createConnection: () => socket });
    await once(session, 'connect');
    const ask = () => session.request({ ':path': '/', ':method': 'POST' }, { endStream: false });
    return { serving, ask, executed: () => executed };
  };

  it('P-022, P-043 a request that lameduck delays until it has sent the GOAWAY is served, even if the client had ended the empty body of the request before the delay', async (t) => {
    const { serving, ask } = await open(t);
    const { hold, connections, requests } = serving.traffic;
    requests.beginShutdown(connections);
    hold.begin();
    const body = text(ask().end());
    await until(() => [...connections].some(({ isBusy }) => isBusy));
    hold.end();
    assert.equal(await body, 'read');
  });

  it('P-021 if a client closes a stream without an error while lameduck delays the request until the GOAWAY, the handler is not called', async (t) => {
    let executed = 0;
    const serving = await serve(t, kind, { listener: () => executed++ });
    const client = await serving.dial();
    const { hold, connections, requests } = serving.traffic;
    requests.beginShutdown(connections);
    hold.begin();
    const post = client.session.request({ ':path': '/', ':method': 'POST' }, { endStream: false });
    post.write('half');
    const streams = [post, client.session.request({ ':path': '/' })];
    await until(() => heldBy(serving).length === 2);
    for (const stream of streams) {
      stream.on('error', () => undefined);
      stream.close();
    }
    await until(() => heldBy(serving).every(({ stream }) => stream.closed));
    hold.end();
    await until(() => serving.traffic.counts.requestsInFlight === 0);
    assert.equal(executed, 0);
  });

  // If a client resets a stream with the code REFUSED_STREAM (7), Node emits an error on the server's stream. For the
  // code CANCEL (8), it emits none.
  for (const code of [8, 7]) {
    it(`P-021, P-051 if the reset of a stream with error code ${String(code)} arrives together with its request, the handler is not called, and no uncaught error is raised`, async (t) => {
      const { serving, executed } = await open(t);
      const socket = dialInProcess(t, serving.server, kind.isSecure);
      const ask = (id: number): Buffer => frame('headers', question, { flags: 5, id });
      socket.resume().write(Buffer.concat([preface, settings, ask(1), frame('reset', uint32(code)), ask(3)]));
      await until(() => executed() > 0);
      assert.equal(executed(), 1);
      await until(() => serving.traffic.counts.requestsInFlight === 0);
    });
  }
});
