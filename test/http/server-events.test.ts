// Tests what the patched `emit` changes on a server and what it leaves unchanged, also together with patches of other
// libraries.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, IncomingMessage, request as httpRequest, Server, ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createServer as createHttp2Server } from 'node:http2';
import { createServer as createNetServer } from 'node:net';
import { describe, it } from 'node:test';
import Fastify from 'fastify';
import { checkServer } from '../../src/http/server.ts';
import { serve, shutdownOf } from '../support/serving.ts';
import { until } from '../support/until.ts';

it('P-113 lameduck adds one property of its own and no event listener to a server object', async (t) => {
  const bare = createServer(() => undefined);
  const counts = (server: Server): Record<string, number> =>
    Object.fromEntries(
      [
        'request',
        'connection',
        'upgrade',
        'connect',
        'checkContinue',
        'checkExpectation',
        'clientError',
        'listening',
        'close',
      ].map((event) => [event, server.listenerCount(event)]),
    );
  let before: string[] = [];
  const serving = await serve(t, {
    listener: () => undefined,
    patch: (server) => {
      before = Reflect.ownKeys(server).map(String);
    },
    prepare: (server) => {
      const added = Reflect.ownKeys(server).map(String);
      assert.deepEqual(
        added.filter((key) => !before.includes(key)),
        ['emit'],
      );
    },
  });
  assert.deepEqual(counts(serving.server as Server), counts(bare));
});

it('P-113 a request with Upgrade: h2c gets the same response as without lameduck', async (t) => {
  const serving = await serve(t, { listener: (_, response) => response.end('plain') });
  const client = await serving.dial();
  client.get('/', 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n');
  assert.equal((await client.reader.next())?.body, 'plain');
});

it("P-112 if the program replaces `emit` of the server before it calls lameduck(), or `emit` of the prototype after this call, every request still reaches the program's `emit`", async (t) => {
  const seen: string[] = [];
  // This method is called with the server as its `this`.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const { emit } = Server.prototype;
  const serving = await serve(t, {
    listener: (_, response) => response.end('ok'),
    patch: (server) => {
      const inner = server.emit.bind(server) as (event: string, ...args: unknown[]) => boolean;
      server.emit = ((event: string, ...args: unknown[]) => {
        if (event === 'request') seen.push('instance');
        return inner(event, ...args);
      }) as Server['emit'];
    },
  });
  const client = await serving.dial();
  client.get('/');
  await client.reader.next();
  assert.deepEqual(seen, ['instance']);

  const plain = await serve(t, { listener: (_, response) => response.end('ok') });
  Server.prototype.emit = function (this: Server, event: string, ...args: unknown[]) {
    if (event === 'request') seen.push('prototype');
    return (emit as (...all: unknown[]) => boolean).call(this, event, ...args);
  } as Server['emit'];
  try {
    const second = await plain.dial();
    second.get('/');
    await second.reader.next();
  } finally {
    Server.prototype.emit = emit;
  }
  assert.deepEqual(seen, ['instance', 'prototype']);
});

it('P-024 Expect: 100-continue works as without lameduck: Node or, if the program has a checkContinue listener, this listener sends the 100', async (t) => {
  const serving = await serve(t, {
    listener: (request, response) => request.resume().on('end', () => response.end('ok')),
  });
  const request = httpRequest({ port: serving.port, method: 'POST', headers: { Expect: '100-continue' } });
  request.flushHeaders();
  await once(request, 'continue');
  request.end('body');
  const [response] = (await once(request, 'response')) as [{ statusCode: number; resume: () => void }];
  assert.equal(response.statusCode, 200);
  response.resume();
});

// docs/conformance.md has one column for each kind of server. The name of a suite is the kind of server on which the
// tests of the suite run.
describe('node:http', () => {
  it('P-031 a request that the program itself emits on the server, without a connection, is served, and the drain does not count it', async (t) => {
    const serving = await serve(t, { listener: () => undefined });
    const seen: unknown[] = [];
    serving.server.on('request', (request) => seen.push(request));
    const injected = { url: '/', socket: {} };
    serving.server.emit('request', injected as never, {} as never);
    assert.deepEqual(seen, [injected]);
    assert.equal(serving.traffic.requests.inFlight.serving, 0);
    const { ended } = shutdownOf(serving);
    assert.equal((await ended).exitCode, 0);
  });

  it("P-031 a request that a handler emits on the server with the socket of the client's request is served, and only the client's request counts", async (t) => {
    const held: ServerResponse[] = [];
    const emitted: string[] = [];
    const serving = await serve(t, {
      listener: (request, response) => {
        if (response.socket === null) {
          emitted.push(request.url ?? '');
          return;
        }
        held.push(response);
        const part = Object.assign(new IncomingMessage(request.socket), { url: '/part' });
        // The handler reads both responses itself, so neither of them is ever sent.
        serving.server.emit('request', part, new ServerResponse(part));
        serving.server.emit('request', request, new ServerResponse(request));
      },
    });
    const client = await serving.dial();
    client.get('/before');
    await until(() => held.length === 1);
    assert.equal(serving.traffic.counts.requestsInFlight, 1);
    held[0]?.end();
    await client.reader.next();
    assert.equal(serving.traffic.counts.requestsInFlight, 0);
    const { ended } = shutdownOf(serving);
    client.get('/during');
    await until(() => held.length === 2);
    assert.equal(serving.traffic.counts.requestsInFlight, 1);
    held[1]?.end();
    assert.equal((await client.reader.next())?.isClose, true);
    assert.equal((await ended).exitCode, 0);
    assert.deepEqual(emitted, ['/part', '/before', '/part', '/during']);
  });
});

it('passing an application instead of a server throws an error that says what to pass', () => {
  const method = (): void => undefined;
  const express = Object.assign(() => undefined, { handle: method, listen: method, use: method });
  for (const [given, remedy] of [
    [express, 'an Express application: pass the return value of `app.listen()`'],
    [{ callback: method, listen: method, use: method }, 'a Koa application: pass the return value of `app.listen()`'],
    [{ inject: method, register: method, decorate: method, ext: method }, 'a hapi server: pass `server.listener`'],
    [Fastify(), 'a Fastify application: pass `app.server`'],
    [
      { getHttpServer: method, init: method, listen: method, use: method },
      'a Nest application: pass `app.getHttpServer()`',
    ],
  ] as const) {
    assert.throws(
      () => {
        checkServer(given);
      },
      (error: Error) => error.message.endsWith(`. This is ${remedy}`),
    );
  }
});

it('only servers of node:http, node:https and node:http2 are accepted; the error for any other value names this value', () => {
  for (const [given, name] of [
    [createNetServer(), 'Server'],
    [undefined, 'undefined'],
    [null, 'null'],
    [{}, 'Object'],
    ['8080', '"8080"'],
  ] as const) {
    assert.throws(
      () => {
        checkServer(given);
      },
      { code: 'LAMEDUCK_ERR_SERVER_INVALID', message: new RegExp(`^server 1: ${name}: expected`) },
    );
  }
  for (const server of [createServer(), createSecureServer(), createHttp2Server()]) checkServer(server);
});
