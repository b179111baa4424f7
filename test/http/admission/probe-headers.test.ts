// Compares what a client receives for every kind of probe with the expected response, byte for byte.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeProbedAdapters, serve, shutdownOf } from '../../support/serving.ts';

/**
 * The expected headers of a probe response, except Date and Connection. Other tests cover Date, which Node sets, and
 * Connection, which the drain sets.
 */
const plain = {
  'Content-Type': 'text/plain; charset=utf-8',
  'Cache-Control': 'no-cache, private, no-store',
};
const sniffless = { ...plain, 'X-Content-Type-Options': 'nosniff' };
const ok = { status: '200 OK', headers: { ...sniffless, 'Content-Length': '2' }, body: 'ok' };
const checkOk = { ...ok, headers: { ...plain, 'Content-Length': '2' } };

interface Answer {
  readonly status: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function answer(status: string, body: string): Answer {
  return { status, headers: { ...sniffless, 'Content-Length': String(body.length) }, body };
}

const failed = '500 Internal Server Error';
const withheld = answer(failed, 'internal server error: reason withheld\n');
const notFound = answer('404 Not Found', '404 page not found\n');
const isDown = answer(
  failed,
  '[+]ping ok\n[+]log ok\n[-]database failed: reason withheld\n[+]shutdown ok\nreadyz check failed\n',
);

const withDatabaseDown: readonly (readonly [request: string, Answer])[] = [
  ['GET /livez', ok],
  ['GET /healthz', ok],
  ['GET /livez/', ok],
  ['GET /LiveZ', ok],
  ['GET /livez?a=1', ok],
  ['HEAD /livez', { ...ok, body: '' }],
  ['GET /livez?verbose', answer('200 OK', '[+]ping ok\n[+]log ok\nlivez check passed\n')],
  ['GET /livez/ping', checkOk],
  ['HEAD /livez/ping', { ...checkOk, body: '' }],
  ['GET /livez/nothing', notFound],
  ['HEAD /livez/nothing', { ...notFound, body: '' }],
  ['GET /readyz', isDown],
  ['GET /readyz/?verbose=false', isDown],
  ['HEAD /readyz', { ...isDown, body: '' }],
  ['GET /readyz/database', withheld],
  ['HEAD /readyz/database', { ...withheld, body: '' }],
  ['GET /readyz/shutdown', checkOk],
  ['GET /readyz?exclude=database', ok],
  [
    'GET /readyz?exclude=database&verbose',
    answer('200 OK', '[+]ping ok\n[+]log ok\n[+]database excluded: ok\n[+]shutdown ok\nreadyz check passed\n'),
  ],
  [
    'GET /livez?exclude=nothing&verbose',
    answer(
      '200 OK',
      '[+]ping ok\n[+]log ok\nwarn: some health checks cannot be excluded: no matches for "nothing"\nlivez check passed\n',
    ),
  ],
];

const isShuttingDown = answer(
  failed,
  '[+]ping ok\n[+]log ok\n[+]database ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n',
);

const duringShutdown: readonly (readonly [request: string, Answer])[] = [
  ['GET /readyz', isShuttingDown],
  ['HEAD /readyz', { ...isShuttingDown, body: '' }],
  ['GET /readyz?verbose', isShuttingDown],
  ['GET /readyz/shutdown', withheld],
  ['GET /readyz/ping', checkOk],
  ['GET /readyz?exclude=shutdown', ok],
  ['GET /livez', ok],
  ['GET /healthz', ok],
  ['GET /livez/nothing', notFound],
];

describeProbedAdapters((adapter) => {
  it('A-085, A-086, A-087, A-088, A-089, P-080, P-086 every probe response has its exact status, headers, length and body, before and during the shutdown', async (t) => {
    let isUp = true;
    const serving = await serve(t, {
      adapter,
      listener: (_, response) => response.writeHead(418).end('the program'),
      prepare: (_, { handle }) => {
        handle.addReadyzCheck('database', () => isUp);
      },
      shutdownDelayDuration: '9s',
    });
    const ask = async (request: string): Promise<Answer> => {
      const client = await serving.dial();
      let received = '';
      client.socket.on('data', (chunk: string) => (received += chunk));
      // Send If-None-Match, as a cache may do. Even then, the status of a probe response must not be 304.
      client.send(`${request} HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: *\r\nConnection: close\r\n\r\n`);
      await client.ended();
      return parse(received);
    };

    isUp = false;
    for (const [request, expected] of withDatabaseDown) assert.deepEqual(await ask(request), expected, request);
    isUp = true;
    assert.deepEqual(await ask('GET /readyz'), ok);
    void shutdownOf(serving);
    for (const [request, expected] of duringShutdown) assert.deepEqual(await ask(request), expected, request);
    assert.equal(serving.handle.signals.afterShutdownDelayDuration.hasSignaled, false);
  });
});

function parse(received: string): Answer {
  const headEnd = received.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = received.slice(0, headEnd).split('\r\n');
  const headers = lines.map((line) => line.split(': ', 2) as [name: string, value: string]);
  return {
    status: statusLine.replace(/^HTTP\/1\.1 /, ''),
    headers: Object.fromEntries(headers.filter(([name]) => name !== 'Date' && name !== 'Connection')),
    body: received.slice(headEnd + 4),
  };
}
