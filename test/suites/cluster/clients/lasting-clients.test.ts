// Tests whether the test clients with long-lived connections (HTTP/2, event streams and WebSockets) count each request
// as answered, lost, refused or wrong.
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { constants, createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import type { Server, Socket } from 'node:net';
import { after, describe, it, type TestContext } from 'node:test';
import { WebSocketServer, type WebSocket as ServedWebSocket } from 'ws';
import { listen } from '../../../support/listening.ts';
import type { Client } from '../programs/exchange.ts';
import { http2Client } from '../programs/http2-client.ts';
import { eventStreamClient, webSocketClient } from '../programs/stream-clients.ts';

async function urlOf(t: TestContext, server: Server): Promise<URL> {
  return new URL(`http://127.0.0.1:${String(await listen(t, server))}`);
}

const used: Client[] = [];

/**
 * `judged()` returns the result that the client gave to its last request: answered, lost, refused or wrong, and whether
 * the connection was new.
 */
async function judged(client: Client, exchanges = 1): Promise<string> {
  used.push(client);
  let last = '';
  for (let count = 0; count < exchanges; count++) {
    const { outcome, toldToClose, isNewConnection } = await client.ask();
    last = [outcome, toldToClose && 'told to close', isNewConnection && 'on a new connection']
      .filter(Boolean)
      .join(', ');
  }
  return last;
}

after(() => {
  for (const client of used) client.end();
});

describe('the event stream client of the cluster tests counts each stream as answered, refused, lost or wrong', () => {
  const streaming = async (t: TestContext, ...answers: RequestListener[]) => {
    const server = createServer((request, response) => {
      response.setHeader('Content-Type', 'text/event-stream');
      answers.shift()?.(request, response);
    });
    return eventStreamClient(await urlOf(t, server));
  };
  const whole =
    (text: string): RequestListener =>
    (_, response) =>
      response.end(text);

  it('the event stream client counts a complete stream as answered, and reconnects with the ID of its last event', async (t) => {
    const client = await streaming(t, whole('id: 7\ndata: a\n\n'), ({ headers }, response) => {
      assert.equal(headers['last-event-id'], '7');
      response.end('id: 8\ndata: b\n\nretry: 900\n\n');
    });
    assert.equal(await judged(client, 2), 'answered, told to close, on a new connection');
  });

  it('the event stream client counts a stream that breaks off as lost', async (t) => {
    const cut: RequestListener = ({ socket }, response) => response.write('id: 7\n\n', () => socket.destroy());
    assert.match(await judged(await streaming(t, cut)), /^lost/);
  });

  it('the event stream client counts a stream with a missing event as wrong', async (t) => {
    const client = await streaming(t, whole('id: 7\n\n'), whole('id: 9\n\n'));
    assert.match(await judged(client, 2), /^wrong/);
  });

  it('the event stream client counts a refused connect as refused', async () => {
    assert.match(await judged(eventStreamClient(new URL('http://127.0.0.1:1'))), /^refused/);
  });
});

describe('the WebSocket client of the cluster tests distinguishes four results of a message: an echo, the close code 1001, a loss, and a wrong answer', () => {
  const serving = async (t: TestContext, onMessage: (socket: ServedWebSocket, text: string) => void) => {
    const server = createServer();
    const sockets = new WebSocketServer({ server });
    sockets.on('connection', (socket) => {
      socket.on('message', (message: Buffer) => {
        onMessage(socket, message.toString());
      });
    });
    return webSocketClient(await urlOf(t, server));
  };
  const fates: [title: string, verdict: RegExp, act: (socket: ServedWebSocket) => void][] = [
    [
      'the close code 1001 in place of an echo as an announced end',
      /^answered, told to close$/,
      (socket) => socket.close(1001),
    ],
    ['another close code as lost', /^lost$/, (socket) => socket.close(1011)],
    ['a connection that ends without a close code as lost', /^lost$/, (socket) => socket.terminate()],
    ['the echo of another message as wrong', /^wrong$/, (socket) => socket.send('another')],
  ];

  for (const [title, verdict, act] of fates) {
    it(`the WebSocket client of the cluster tests counts ${title}`, async (t) => {
      let asked = 0;
      const client = await serving(t, (socket, text) => {
        asked += 1;
        if (asked === 1) socket.send(`${text} pod`);
        else act(socket);
      });
      assert.match(await judged(client, 2), verdict);
    });
  }

  it('if its connection is refused, the WebSocket client counts the request as refused and not as lost', async () => {
    assert.match(await judged(webSocketClient(new URL('http://127.0.0.1:1'))), /^refused/);
  });
});

describe('the HTTP/2 client of the cluster tests distinguishes five results of a request: a response, a response after a GOAWAY, a refusal, a loss, and a wrong answer', () => {
  type Act = (stream: ServerHttp2Stream, connection: Socket) => void;
  const serving = async (t: TestContext, act: Act) => {
    let asked = 0;
    let connection: Socket;
    const server = createHttp2Server().on('stream', (stream: ServerHttp2Stream) => {
      let body = '';
      stream.on('error', () => undefined);
      stream.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      stream.on('end', () => {
        asked += 1;
        if (asked > 1) act(stream, connection);
        if (stream.closed || stream.destroyed || stream.headersSent) return;
        stream.respond({ ':status': 201 });
        stream.end(body);
      });
    });
    server.on('connection', (socket: Socket) => (connection = socket));
    return http2Client(await urlOf(t, server));
  };
  const fates: [title: string, verdict: RegExp, act: Act, exchanges: number][] = [
    [
      'a response on a session with a GOAWAY as an announced end',
      /^answered, told.*new/,
      ({ session }) => session?.close(),
      3,
    ],
    ['a session that breaks off as lost', /^lost$/, (_, connection) => connection.destroy(), 2],
    ['a refused stream as refused', /^refused$/, (s) => s.close(constants.NGHTTP2_REFUSED_STREAM), 2],
    ['a reset stream as lost', /^lost$/, (s) => s.close(constants.NGHTTP2_INTERNAL_ERROR), 2],
    ['a complete 503 as refused', /^refused$/, (s) => s.respond({ ':status': 503 }, { endStream: true }), 2],
    ['another status as wrong', /^wrong$/, (s) => s.respond({ ':status': 500 }, { endStream: true }), 2],
  ];

  for (const [title, verdict, act, exchanges] of fates) {
    it(`the HTTP/2 client of the cluster tests counts ${title}`, async (t) => {
      assert.match(await judged(await serving(t, act), exchanges), verdict);
    });
  }

  it('after the first of two GOAWAYs, the HTTP/2 client opens another session for the requests that it has not sent yet', async (t) => {
    let isLeaving = true;
    const leave = (stream: ServerHttp2Stream) => {
      if (!isLeaving) return;
      isLeaving = false;
      stream.session?.goaway(constants.NGHTTP2_NO_ERROR, 2 ** 31 - 1);
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
    };
    assert.match(await judged(await serving(t, leave), 2), /^answered, told.*new/);
  });

  it('if its connection is refused, the HTTP/2 client counts the request as refused and not as lost', async () => {
    assert.match(await judged(http2Client(new URL('http://127.0.0.1:1'))), /^refused/);
  });
});
