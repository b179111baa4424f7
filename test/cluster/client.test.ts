// The judgement of the load client, case by case: the zero of the rollout is worth what the client's words are worth.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Line, Outcome } from './client.ts';

type Failure = Extract<Line, { type: 'failure' }>;
type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

const answerRightly: Answer = (request, response, body) => {
  response.statusCode = request.method === 'POST' ? 201 : 200;
  response.end(body);
};

/** Gives the load right answers until it has begun, then those of `answer` until `isEnough`. */
async function load(t: TestContext, answer: Answer, isEnough: (failures: Failure[], requests: number) => boolean) {
  let current = answerRightly;
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      current(request, response, body);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const program = fileURLToPath(new URL('client.ts', import.meta.url));
  const address = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const client = spawn(process.execPath, [program, address], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => {
    client.kill('SIGKILL');
    server.close().closeAllConnections();
  });
  const failures: Failure[] = [];
  for await (const text of createInterface({ input: client.stdout })) {
    const line = JSON.parse(text) as Line;
    if (line.type === 'started') current = answer;
    if (line.type === 'failure') failures.push(line);
    if (line.type === 'summary') return { failures, kinds: line.kinds };
    if (!client.killed && isEnough(failures, line.type === 'second' ? line.requests : 0)) client.kill('SIGTERM');
  }
  throw new Error('the client ended without its summary');
}

const failing: [title: string, outcome: Outcome, reason: RegExp, answer: Answer][] = [
  ['a reset in place of an answer', 'lost', /^ECONNRESET$/, ({ socket }) => socket.resetAndDestroy()],
  ['a connection ended without an answer', 'lost', /^ECONNRESET$/, ({ socket }) => socket.end()],
  [
    'an answer that is cut short',
    'lost',
    /^truncated answer$/,
    ({ socket }, response) => response.writeHead(200, { 'Content-Length': 100 }).write('{', () => socket.destroy()),
  ],
  ['a whole 429', 'refused', /^429$/, (_, response) => response.writeHead(429).end()],
  ['a whole 503', 'refused', /^503$/, (_, response) => response.writeHead(503).end()],
  ['another status', 'wrong', /^status 500$/, (_, response) => response.writeHead(500).end()],
  [
    'an answer to another request',
    'wrong',
    /^not the order that was posted$|^status 201$/,
    (_, response) => response.writeHead(201).end('another'),
  ],
];

describe('the load client', () => {
  for (const [title, outcome, reason, answer] of failing) {
    it(`takes ${title} for ${outcome}, on kept and on new connections`, async (t) => {
      const kindsOf = (failures: Failure[]) => new Set(failures.map(({ kind }) => kind));
      const { failures, kinds } = await load(t, answer, (seen) => kindsOf(seen).size === 4);
      for (const failure of failures) {
        assert.equal(failure.outcome, outcome);
        assert.match(failure.reason ?? '', reason);
      }
      for (const tally of Object.values(kinds)) {
        assert.ok(tally[outcome] > 0);
        assert.equal(tally.answered + tally[outcome], tally.requests);
      }
    });
  }

  it('takes a connect that is refused for refused', async (t) => {
    const leave: Answer = (request, response, body) => {
      response.setHeader('Connection', 'close');
      answerRightly(request, response, body);
      // Not the close of http.Server, which ends connections whose clients are about to ask.
      NetServer.prototype.close.call((request.socket as Socket & { server: NetServer }).server);
    };
    // The close itself may reset some connects (P-018): those are no refusals, and not what is looked for here.
    const refused = (failures: Failure[]) => failures.filter(({ reason }) => reason === 'ECONNREFUSED');
    const { failures } = await load(t, leave, (seen) => refused(seen).length > 20);
    assert.ok(refused(failures).every(({ outcome }) => outcome === 'refused'));
  });

  it('opens a new connection after `Connection: close`, and keeps its connection otherwise', async (t) => {
    const tell: Answer = (request, response, body) => {
      if (request.method === 'POST') response.setHeader('Connection', 'close');
      answerRightly(request, response, body);
    };
    const { failures, kinds } = await load(t, tell, (_, requests) => requests > 300);
    assert.deepEqual(failures, []);
    assert.equal(kinds['kept GET'].connections, 3);
    assert.ok(kinds['kept POST'].toldToClose > 20);
    assert.ok(kinds['kept POST'].connections - kinds['kept POST'].toldToClose <= 3);
    assert.equal(kinds['new GET'].connections, kinds['new GET'].requests);
  });
});
