// Tests the streams that HTTP/2 clients have in flight when their session receives a GOAWAY.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { it, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { systemClock } from '../../../src/clock.ts';
import type { Session } from '../../../src/http/http2/session.ts';
import type { Parts } from '../../../src/parts.ts';
import { frame, preface, question, settings } from '../../support/http2-by-rote.ts';
import type { Outcome } from '../../support/http2-client.ts';
import {
  answerBehindBody,
  describeKinds,
  describeKindsInTurn,
  HeldAnswer,
  serve,
  serveHeld,
  streamsWithoutTls,
} from '../../support/serving-http2.ts';
import { until } from '../../support/until.ts';

function sessionsOf({ traffic }: Parts): Session[] {
  return [...traffic.connections].flatMap(({ session }) => session ?? []);
}

describeKinds((kind) => {
  const steps = kind.isSecure ? 'one step' : 'two steps';
  it(`P-025, P-043 a session with responses in flight gets its GOAWAY in ${steps}, and these responses are sent completely`, async (t) => {
    const held: (() => void)[] = [];
    const serving = await serve(t, kind, {
      shutdownDelayDuration: '200ms',
      listener: (_, answer) => {
        answer.respond(200);
        answer.write('half ');
        held.push(() => {
          answer.end('whole');
        });
      },
    });
    const client = await serving.dial();
    const outcomes = Promise.all([client.request('/'), client.request('/')]);
    await until(() => held.length === 2);
    const ended = serving.handle.shutdown('test');
    const expected = kind.isSecure ? [3] : [2 ** 31 - 1, 3];
    await until(() => client.goaways.length === expected.length);
    for (const end of held) end();
    assert.deepEqual(
      (await outcomes).map(({ body, isWhole }) => ({ body, isWhole })),
      Array.from({ length: 2 }, () => ({ body: 'half whole', isWhole: true })),
    );
    assert.deepEqual(client.goaways, expected);
    assert.equal((await ended).exitCode, 0);
  });

  it('P-043 a client that sends one request after another gets its GOAWAY while it waits for a response', async (t) => {
    const serving = await serve(t, kind, {
      shutdownDelayDuration: '400ms',
      listener: (path, answer) => {
        answer.respond(200);
        answer.end(path);
      },
    });
    const clients = await Promise.all(Array.from({ length: 8 }, () => serving.dial()));
    const waitsWhenTold: boolean[] = [];
    let count = 0;
    const loops = clients.map(async (client) => {
      let isWaiting = false;
      client.session.once('goaway', () => waitsWhenTold.push(isWaiting));
      while (client.goaways.length === 0) {
        isWaiting = true;
        assert.ok((await client.request('/x')).isWhole);
        isWaiting = false;
        count++;
        await setTimeout(10);
      }
    });
    await until(() => count > 50);
    const ended = serving.handle.shutdown('test');
    await Promise.all(loops);
    assert.deepEqual(
      waitsWhenTold,
      clients.map(() => true),
    );
    assert.equal((await ended).exitCode, 0);
  });

  it('P-043 even if the server always has much data to send on a session, the session gets its GOAWAY, and each of its responses is sent completely', async (t) => {
    const size = 2_000_000;
    let count = 0;
    const serving = await serve(t, kind, {
      shutdownDelayDuration: '100ms',
      listener: (_, answer) => {
        count++;
        answer.respond(200);
        answer.end('x'.repeat(size));
      },
    });
    const client = await serving.dial();
    const bodies = Array.from({ length: 4 }, async () => client.request('/'));
    await until(() => count === 4);
    const ended = serving.handle.shutdown('test');
    for (const { body, isWhole } of await Promise.all(bodies)) assert.ok(isWhole && body.length === size);
    assert.equal((await ended).exitCode, 0);
  });

  const skip = !kind.isCompatible && 'Node sends no 100 by itself on an HTTP/2 stream';
  it('P-024 an HTTP/2 client that sends Expect: 100-continue gets a 100 during the drain', { skip }, async (t) => {
    const serving = await serve(t, kind, { shutdownDelayDuration: '300ms', listener: answerBehindBody });
    const client = await serving.dial();
    const ended = serving.handle.shutdown('test');
    const headers = { ':path': '/', ':method': 'POST', expect: '100-continue' };
    const stream = client.session.request(headers, { endStream: false });
    stream.on('continue', () => stream.end('body'));
    assert.equal(await text(stream), 'read');
    assert.equal((await ended).exitCode, 0);
  });

  it('P-051 if a client closes its session just before the server sends its GOAWAY, the client still gets its response', async (t) => {
    const { serving, held, client, outcome } = await serveHeld(t, kind, 'whole');
    const [session] = sessionsOf(serving);
    const ended = serving.handle.shutdown('test');
    if (kind.isSecure) await until(() => session?.hold.isOn === true);
    held.finish();
    client.session.close();
    assert.equal((await outcome).body, 'whole');
    assert.equal((await ended).exitCode, 0);
  });

  it('P-027 an unfinished request is logged with the route that the program set on its request object', async (t) => {
    let isHere = false;
    const serving = await serve(t, kind, {
      functions: { route: (request) => (request as { routeOfMine?: string }).routeOfMine },
      listener: (_, _answer, request) => {
        Object.assign(request, { routeOfMine: '/things/:id' });
        isHere = true;
      },
    });
    const client = await serving.dial();
    void client.request('/things/1');
    await until(() => isHere);
    const expected = kind.isCompatible ? '/things/:id' : '/things/1';
    assert.deepEqual(
      serving.traffic.unfinished().map(({ route }) => route),
      [expected],
    );
  });

  it('P-022, P-043 a request that lameduck delays until it has sent the GOAWAY is served, even if the client ends the empty body of the request during the delay', async (t) => {
    const serving = await serve(t, kind, { listener: answerBehindBody });
    const client = await serving.dial();
    await until(() => sessionsOf(serving).length === 1);
    const [session] = sessionsOf(serving);
    const ended = serving.handle.shutdown('test');
    const stream = client.session.request({ ':path': '/', ':method': 'POST' }, { endStream: false });
    const body = text(stream);
    await until(() => session?.connection.isBusy === true);
    assert.ok(serving.traffic.hold.isOn || session?.hold.isOn === true);
    stream.end();
    assert.equal(await body, 'read');
    assert.equal((await ended).exitCode, 0);
  });

  // Fastify overrides the timeout of each HTTP/2 session with its own timeout of 72 s.
  const isByFastify = kind.by === 'Fastify';
  it(
    'P-022, P-043 server.setTimeout() does not end an HTTP/2 session whose requests lameduck delays, and applies again as soon as the delay has ended',
    { skip: isByFastify },
    async (t) => {
      const serving = await serve(t, kind, {
        listener: (path, answer) => {
          if (path !== '/answered') return;
          answer.respond(200);
          answer.end('ok');
        },
      });
      serving.server.setTimeout(200);
      const client = await serving.dial();
      const { hold, connections, requests } = serving.traffic;
      requests.beginShutdown(connections);
      hold.begin();
      const answers = [client.request('/answered'), client.request('/answered')];
      void client.request('/unanswered');
      await until(() => serving.traffic.counts.requestsInFlight === 3);
      // The session `idle` begins after all requests have arrived. So when its timeout has ended `idle`, the timeout of
      // the other session has passed too.
      const idle = await serving.dial();
      await idle.closed;
      assert.equal(client.session.destroyed, false);
      hold.end();
      for (const answer of answers) assert.equal((await answer).status, 200);
      await client.closed;
    },
  );

  it('P-022, P-043 if lameduck delays an upload until the GOAWAY, the handler can still read the trailers of the upload', async (t) => {
    const serving = await serve(t, kind, {
      listener: (_, answer, request) => {
        let { trailers } = request as { trailers?: object };
        const readable = request as Readable;
        readable.on('trailers', (said: object) => (trailers = said));
        readable.resume().on('end', () => {
          answer.respond(200);
          answer.end(JSON.stringify({ ...trailers }));
        });
      },
    });
    const { session } = await serving.dial();
    const { hold } = serving.traffic;
    hold.begin();
    const options = { endStream: false, waitForTrailers: true };
    const stream = session.request({ ':path': '/', ':method': 'POST' }, options);
    stream.on('wantTrailers', () => {
      stream.sendTrailers({ checksum: '1' });
      // The reply to this HTTP/2 ping shows that the server has read all frames that the client sent before the ping.
      session.ping(() => {
        hold.end();
      });
    });
    assert.equal(await text(stream.end('body')), '{"checksum":"1"}');
  });
});

// Closed-loop clients use all of the processor, so no other test may run at the same time.
describeKindsInTurn((kind) => {
  it('P-003, P-043 if clients always have many streams open, none of these streams is refused when the clients get their GOAWAY', async (t) => {
    const serving = await serve(t, kind, {
      shutdownDelayDuration: '600ms',
      listener: (path, answer) => {
        systemClock.after(Math.random() * 30, () => {
          answer.respond(200);
          answer.end(path);
        });
      },
    });
    const clients = await Promise.all(Array.from({ length: 4 }, () => serving.dial()));
    const outcomes: Outcome[] = [];
    const loops = clients.flatMap((client) =>
      Array.from({ length: 20 }, async () => {
        while (client.goaways.length === 0 && !client.session.closed) {
          const outcome = await client.request('/x');
          // After a GOAWAY, Node's client itself fails the requests that it has not sent.
          const isKeptBack = outcome.code === 7 && client.goaways.join() === String(2 ** 31 - 1);
          if (!isKeptBack) outcomes.push(outcome);
        }
      }),
    );
    await until(() => outcomes.length > 200);
    const ended = serving.handle.shutdown('test');
    await Promise.all(loops);
    assert.deepEqual(
      outcomes.filter(({ isWhole }) => !isWhole),
      [],
    );
    assert.equal((await ended).exitCode, 0);
  });
});

// The client of these tests writes raw bytes, because other HTTP/2 clients close the socket when they end the session.
const ping = '\0\0\x08\x06\0';
const goodbye = frame('goaway', [0, 0, 0, 0, 0, 0, 0, 0], { id: 0 });

for (const moment of ['before the shutdown', 'while the GOAWAY of the server waits to be sent'] as const) {
  test(`P-044, P-051 a client that sends a GOAWAY ${moment} gets no GOAWAY from the server after that, and does not delay the drain, even if it keeps its socket open`, async (t) => {
    const held = new HeldAnswer('whole');
    const serving = await serve(t, streamsWithoutTls, { listener: held.listener });
    const opened = once(serving.server, 'session');
    const socket = connect({ port: serving.port, host: '127.0.0.1', allowHalfOpen: true });
    t.after(() => socket.destroy());
    const isOver = once(socket, 'end');
    let received = '';
    socket.setEncoding('latin1').on('data', (data: string) => (received += data));
    socket.write(Buffer.concat([preface, settings]));
    const [session] = (await opened) as [{ readonly closed: boolean; readonly destroyed: boolean }];
    const [connection] = serving.traffic.connections;
    assert.equal(connection?.spoken.is, 'session');
    const finish = async (): Promise<void> => {
      socket.write(goodbye);
      await until(() => session.closed);
      held.finish();
      await until(() => session.destroyed);
    };
    let ended;
    if (moment === 'before the shutdown') {
      await finish();
      ended = serving.handle.shutdown('test');
    } else {
      socket.write(frame('headers', question, { flags: 5 }));
      await until(() => held.hasCome);
      ended = serving.handle.shutdown('test');
      await until(() => received.includes(ping));
      await finish();
    }
    await isOver;
    const record = await ended;
    assert.deepEqual([record.exitCode, record.requests.cut], [0, 0]);
    assert.ok(
      record.durationMs < 3_000,
      `the drain must take less than three seconds, but took ${String(record.durationMs)} ms`,
    );
    assert.ok(!received.includes('\x7f\xff\xff\xff'), 'a client that has sent its own GOAWAY must get no first GOAWAY');
  });
}
