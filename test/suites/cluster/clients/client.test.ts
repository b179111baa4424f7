// Tests how the clients of the cluster tests classify responses and errors. If they missed a loss, the rollout test
// would prove nothing. The clients in Go and Python are tested where Go and Python are installed.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { Job, Kind, Line, Outcome, Tally } from '../programs/exchange.ts';

type Failure = Extract<Line, { type: 'failure' }>;
type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

const folder = mkdtempSync(join(tmpdir(), 'clients-'));
const isInstalled = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;

const stacks: Readonly<Record<string, { command: string[]; kinds: Kind[]; isThere: boolean }>> = {
  Node: {
    command: [process.execPath, join(import.meta.dirname, '..', 'programs', 'client.ts')],
    kinds: ['kept GET', 'kept POST', 'new GET', 'new POST'],
    isThere: true,
  },
  Go: {
    command: [join(folder, 'client')],
    kinds: ['kept GET', 'kept POST', 'new GET'],
    isThere: isInstalled('go', 'version'),
  },
  Python: {
    command: ['python3', join(import.meta.dirname, 'client.py')],
    kinds: ['kept GET', 'new POST'],
    isThere: isInstalled('python3', '--version'),
  },
};

const answerRightly: Answer = (request, response, body) => {
  response.statusCode = request.method === 'POST' ? 201 : 200;
  response.end(body);
};

/**
 * Runs the test clients against a test server. The server responds correctly until all clients have started, and then
 * responds with `answer`. The function stops the clients when `isEnough` returns true.
 */
async function load(
  t: TestContext,
  { command: [program = '', ...args], kinds }: { command: string[]; kinds: Kind[] },
  answer: Answer,
  isEnough: (failures: Failure[], requests: number) => boolean,
): Promise<{ failures: Failure[]; tallies: Record<string, Tally> }> {
  let current = answerRightly;
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      current(request, response, body);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const jobs: Job[] = kinds.map((kind) => ({ name: kind, kind, url, clients: 3, rest: 20 }));
  const client = spawn(program, [...args, JSON.stringify(jobs)], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => {
    client.kill('SIGKILL');
    server.close().closeAllConnections();
  });
  const failures: Failure[] = [];
  for await (const text of createInterface({ input: client.stdout })) {
    const line = JSON.parse(text) as Line;
    if (line.type === 'started') current = answer;
    if (line.type === 'failure') failures.push(line);
    if (line.type === 'summary') return { failures, tallies: line.tallies };
    const requests =
      line.type === 'second' ? Object.values(line.tallies).reduce((sum, one) => sum + one.requests, 0) : 0;
    if (!client.killed && isEnough(failures, requests)) client.kill('SIGTERM');
  }
  throw new Error('the client ended without its summary');
}

const failing: [title: string, outcome: Outcome, answer: Answer][] = [
  ['a reset of its connection before a response', 'lost', ({ socket }) => socket.resetAndDestroy()],
  ['the end of its connection before a response', 'lost', ({ socket }) => socket.end()],
  [
    'an incomplete response',
    'lost',
    ({ socket }, response) => response.writeHead(200, { 'Content-Length': 100 }).write('{', () => socket.destroy()),
  ],
  ['a complete response with status 429', 'refused', (_, response) => response.writeHead(429).end()],
  ['a complete response with status 503', 'refused', (_, response) => response.writeHead(503).end()],
  ['a complete response with status 500', 'wrong', (_, response) => response.writeHead(500).end()],
];

for (const [name, stack] of Object.entries(stacks)) {
  describe(
    `the test clients written in ${name} notice lost, refused and wrong responses`,
    { skip: !stack.isThere && `${name} is not installed` },
    () => {
      before(() => {
        if (name !== 'Go') return;
        const built = spawnSync('go', ['build', '-trimpath', '-o', join(folder, 'client'), '.'], {
          cwd: import.meta.dirname,
          env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false' },
          encoding: 'utf8',
        });
        assert.equal(built.status, 0, built.stderr);
      });

      for (const [title, outcome, answer] of failing) {
        it(`if a request gets ${title}, the test clients written in ${name} count the request as ${outcome}, on both keep-alive and new connections`, async (t) => {
          const namesOf = (failures: Failure[]) => new Set(failures.map((failure) => failure.name));
          const isEnough = (seen: Failure[]) => namesOf(seen).size === stack.kinds.length;
          const { failures, tallies } = await load(t, stack, answer, isEnough);
          for (const failure of failures) {
            assert.equal(failure.outcome, outcome, failure.reason);
            assert.ok(failure.reason !== '');
          }
          for (const tally of Object.values(tallies)) {
            assert.ok(tally[outcome] > 0);
            assert.equal(tally.answered + tally[outcome], tally.requests);
          }
        });
      }

      it(`if a response belongs to another request, the test clients written in ${name} count the response as wrong`, async (t) => {
        const posting = { ...stack, kinds: stack.kinds.filter((kind) => kind.endsWith('POST')) };
        const swap: Answer = (_, response) => response.writeHead(201).end('another');
        const { failures } = await load(t, posting, swap, (seen) => seen.length > 3);
        assert.ok(failures.every((failure) => failure.outcome === 'wrong'));
      });

      it(`the test clients written in ${name} count a refused connection as refused and not as lost`, async (t) => {
        const leave: Answer = (request, response, body) => {
          response.setHeader('Connection', 'close');
          answerRightly(request, response, body);
          // Call the `close()` of net.Server. The `close()` of http.Server would also end idle connections on which a
          // client is about to send a request.
          NetServer.prototype.close.call((request.socket as Socket & { server: NetServer }).server);
        };
        // When the server's listening socket closes, the kernel resets some connections (P-018). The test does not
        // count these resets as refused connections.
        const refused = (failures: Failure[]) => failures.filter(({ reason }) => /refused/i.test(reason));
        const { failures } = await load(t, stack, leave, (seen) => refused(seen).length > 20);
        assert.ok(refused(failures).every((failure) => failure.outcome === 'refused'));
      });

      it(`the keep-alive test clients written in ${name} reuse their connection until a response says Connection: close`, async (t) => {
        let asked = 0;
        const tell: Answer = (request, response, body) => {
          if (++asked % 3 === 0) response.setHeader('Connection', 'close');
          answerRightly(request, response, body);
        };
        const { failures, tallies } = await load(t, stack, tell, (_, requests) => requests > 300);
        assert.deepEqual(failures, []);
        for (const [kind, { connections, toldToClose, requests }] of Object.entries(tallies)) {
          if (kind.startsWith('new')) assert.equal(connections, requests);
          else assert.ok(connections < requests && toldToClose > 10 && connections - toldToClose <= 3, kind);
        }
      });
    },
  );
}

after(() => {
  rmSync(folder, { recursive: true });
});
