// Tests the routes of the reference service. The reference service prints a `kill` command: the tests run this command,
// and check that the reference service shuts down.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { Agent, createServer, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { createServer as createNetServer, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { CommandUnderTest } from '../support/command-under-test.ts';
import { disposed } from '../support/disposed.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';

const shell = promisify(execFile);
const program = '../../examples/reference-service/main.ts';

/** ReferenceService is a running reference service: its own process, which is ready and listens on a free port. */
class ReferenceService extends ProcessUnderTest {
  constructor(env: Record<string, string> = {}) {
    super(program, { PORT: '0', ...env });
  }

  async url(): Promise<string> {
    await this.signaled('HasBeenReady');
    const { msg = '' } = await this.line('its address', (line) => /http:\S+/.test(line.msg ?? ''));
    return /http:\/\/localhost:\d+/.exec(msg)?.[0] as string;
  }

  /** Runs the `kill` command that the reference service prints, as a user would run it in a shell. */
  async runPrintedLine(): Promise<void> {
    const { msg = '' } = await this.line('a line to copy', (line) => /^ *kill -TERM \d+$/.test(line.msg ?? ''));
    await shell('sh', ['-c', msg]);
  }
}

/**
 * Upstream is the server that the reference service calls. A test can count the connections of the reference service to
 * Upstream, and can delay the responses of Upstream.
 */
class Upstream implements AsyncDisposable {
  readonly connections = new Set<Socket>();
  readonly emptied: Promise<void>;
  #letGo: (() => void) | undefined;
  #held: Promise<void> | undefined;
  #noteEmpty!: () => void;
  readonly #server = createServer({ keepAliveTimeout: 60_000 }, (_request, response) => {
    void (this.#held ?? Promise.resolve()).then(() => response.end('{"stock":7}'));
  });

  constructor() {
    this.emptied = new Promise((resolve) => (this.#noteEmpty = resolve));
    this.#server.on('connection', (socket: Socket) => {
      this.connections.add(socket);
      socket.on('close', () => {
        this.connections.delete(socket);
        if (this.connections.size === 0) this.#noteEmpty();
      });
    });
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  hold(): void {
    this.#held = new Promise((resolve) => (this.#letGo = resolve));
  }

  letGo(): void {
    this.#letGo?.();
  }

  async asked(): Promise<void> {
    await once(this.#server, 'request');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

interface Answer {
  readonly status: number;
  readonly isClose: boolean;
  readonly body: unknown;
}

function send(url: string, options: RequestOptions, body?: string): Promise<Answer> {
  const request = httpRequest(url, options);
  const answer = answerTo(request);
  request.end(body);
  return answer;
}

async function answerTo(request: ReturnType<typeof httpRequest>): Promise<Answer> {
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const { statusCode = 0, headers } = response;
  return { status: statusCode, isClose: headers.connection === 'close', body: JSON.parse(await text(response)) };
}

/**
 * KeptClient sends requests on one connection until the server announces the close. Any other end of the connection
 * counts as a loss.
 */
class KeptClient {
  readonly hasBegun: Promise<void>;
  readonly hasLeft: Promise<void>;

  constructor(url: string, options: RequestOptions, body?: string) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const first = send(url, { ...options, agent }, body);
    this.hasBegun = first.then(() => undefined);
    this.hasLeft = first.then(async (answer) => {
      let { isClose } = answer;
      while (!isClose) {
        const next = await send(url, { ...options, agent }, body);
        assert.equal(next.status, answer.status);
        isClose = next.isClose;
      }
    });
  }
}

const json = { method: 'POST', headers: { 'Content-Type': 'application/json' } };

test('each route of the reference service responds, and invalid requests are rejected', async (t) => {
  const service = disposed(t, new ReferenceService());
  const url = await service.url();
  const ask = async (path: string, options: RequestInit = {}): Promise<[number, unknown]> => {
    const response = await fetch(url + path, options);
    return [response.status, await response.json()];
  };

  const [status, root] = await ask('/');
  assert.equal(status, 200);
  assert.equal((root as { pid: number }).pid, service.pid);
  assert.deepEqual(await ask('/slow?ms=1'), [200, { sleptMs: 1 }]);
  assert.deepEqual(await ask('/upstream'), [200, { upstream: { stock: 42 } }]);
  assert.deepEqual(await ask('/orders', { ...json, body: '{"id":"a"}' }), [201, { accepted: { id: 'a' } }]);
  for (const type of ['application/octet-stream', 'application/json', 'application/x-www-form-urlencoded']) {
    const upload = { method: 'POST', headers: { 'Content-Type': type }, body: 'x'.repeat(100_000) };
    assert.deepEqual(await ask('/upload', upload), [200, { bytes: 100_000 }], type);
  }
  assert.deepEqual(await ask('/upload', { method: 'POST' }), [200, { bytes: 0 }]);

  for (const path of ['/slow?ms=soon', '/slow?ms=-1', '/slow?ms=60001']) assert.equal((await ask(path))[0], 400, path);
  assert.equal((await ask('/orders', { method: 'POST' }))[0], 400);
  assert.equal((await ask('/nowhere'))[0], 404);
});

test('/readyz?verbose of the reference service names the upstream server, and fails while this server is unreachable', async (t) => {
  const upstream = new Upstream();
  const env = { UPSTREAM_URL: await upstream.listen() };
  await upstream[Symbol.asyncDispose]();
  const service = disposed(t, new ReferenceService(env));
  await service.line('the failing check', ({ check, msg }) => check === 'upstream' && msg === 'check fails');
  const { msg = '' } = await service.line('its address', (line) => /http:\S+/.test(line.msg ?? ''));
  const response = await fetch(`${/http:\/\/localhost:\d+/.exec(msg)?.[0] as string}/readyz`);
  assert.equal(response.status, 500);
  assert.match(await response.text(), /^\[-\]upstream failed: reason withheld$/m);
});

for (const mode of ['false', 'true']) {
  test(`P-022, P-096 the stop command that the reference service prints ends the service, and no client of any route loses a request, with shutdownSendRetryAfter ${mode}`, async (t) => {
    const upstream = disposed(t, new Upstream());
    const service = disposed(
      t,
      new ReferenceService({
        UPSTREAM_URL: await upstream.listen(),
        LAMEDUCK_SHUTDOWN_DELAY_DURATION: '2s',
        LAMEDUCK_SHUTDOWN_SEND_RETRY_AFTER: mode,
      }),
    );
    const url = await service.url();
    const kept = [
      new KeptClient(`${url}/`, {}),
      new KeptClient(`${url}/slow?ms=20`, {}),
      new KeptClient(`${url}/orders`, json, '{"id":"b"}'),
      new KeptClient(`${url}/upload`, { method: 'POST' }, 'x'.repeat(1_000)),
      new KeptClient(`${url}/upstream`, {}),
    ];
    await Promise.all(kept.map(({ hasBegun }) => hasBegun));

    upstream.hold();
    const upstreamAsked = upstream.asked();
    const throughPool = send(`${url}/upstream`, {});
    await upstreamAsked;
    const slow = send(`${url}/slow?ms=3500`, {});
    const upload = httpRequest(`${url}/upload`, { method: 'POST' });
    const uploaded = answerTo(upload);
    upload.write('x'.repeat(50_000));

    await service.runPrintedLine();
    await service.signaled('ShutdownInitiated');
    assert.equal((await fetch(`${url}/readyz`)).status, 500);
    assert.equal((await fetch(`${url}/livez`)).status, 200);
    upstream.letGo();
    await Promise.all(kept.map(({ hasLeft }) => hasLeft));
    assert.ok(
      !service.lines.some(({ name }) => name === 'NotAcceptingNewRequest'),
      'every client must have closed its connection before the listener closes',
    );

    await service.signaled('NotAcceptingNewRequest');
    upload.end('x'.repeat(50_000));
    assert.deepEqual(await uploaded, { status: 200, isClose: true, body: { bytes: 100_000 } });
    assert.deepEqual((await throughPool).body, { upstream: { stock: 7 } });
    assert.deepEqual(await slow, { status: 200, isClose: true, body: { sleptMs: 3_500 } });
    assert.notEqual(upstream.connections.size, 0, 'the pool must be open until the last request has its response');

    assert.deepEqual(await service.exit, { code: 0, signal: null });
    await upstream.emptied;
    const { requests, hookFailures, heldBy } = await service.finalLine();
    assert.equal((requests as { cut: number }).cut, 0);
    assert.deepEqual({ hookFailures, heldBy }, { hookFailures: [], heldBy: [] });
  });
}

test('P-034 an event stream client resumes at another replica after the last event that it received', async (t) => {
  const [old, young] = [disposed(t, new ReferenceService()), disposed(t, new ReferenceService())];
  const [oldUrl, youngUrl] = await Promise.all([old.url(), young.url()]);
  const first = await fetch(`${oldUrl}/events`, { headers: { Accept: 'text/event-stream' } });
  assert.deepEqual([first.status, first.headers.get('content-type')], [200, 'text/event-stream']);
  const [body, copy] = (first.body as ReadableStream<Uint8Array>).tee();
  const seen = eventsOf(copy);
  for (let event = 0; event < 2; event++) await seen.next();
  await seen.return();
  await old.runPrintedLine();

  const whole = await text(body);
  assert.match(whole, /^(id: \d+\ndata: \S+\n\n){2,}retry: \d+\n\n?$/);
  assert.deepEqual(await old.exit, { code: 0, signal: null });
  const { longRunningEnded, heldBy } = await old.finalLine();
  assert.deepEqual({ longRunningEnded, heldBy }, { longRunningEnded: 1, heldBy: [] });

  const ids = [...whole.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  assert.deepEqual(
    ids,
    ids.map((_id, index) => (ids[0] as number) + index),
  );
  const last = ids.at(-1) as number;
  const second = await fetch(`${youngUrl}/events`, {
    headers: { Accept: 'text/event-stream', 'Last-Event-ID': String(last) },
  });
  const events = eventsOf(second.body as ReadableStream<Uint8Array>);
  assert.match((await events.next()).value ?? '', new RegExp(`^id: ${String(last + 1)}$`, 'm'));
  await events.return();
});

test('P-065 if npm starts the reference service, the service warns once that npm may not forward SIGTERM, and ends when its own PID gets SIGTERM', async (t) => {
  // The option --ignore-scripts skips the build before `npm start`, because the build would replace files that other
  // tests are using.
  const options = { env: { PORT: '0' } };
  const npm = disposed(t, new CommandUnderTest('npm', ['start', '--ignore-scripts'], options));
  const url = (await npm.printed(/http:\/\/localhost:\d+/))[0];
  await npm.printed(/"name":"HasBeenReady"/);
  const slow = send(`${url}/slow?ms=500`, {});
  const [line, pid] = await npm.printed(/^ *kill -TERM (\d+)$/m);
  assert.equal(((await send(`${url}/`, {})).body as { pid: number }).pid, Number(pid));

  await shell('sh', ['-c', line]);
  assert.deepEqual((await slow).body, { sleptMs: 500 });
  assert.deepEqual(await npm.exit, { code: 0, signal: null });
  assert.equal(npm.output.match(/"msg":"started (by|through a shell)/g)?.length, 1);
  assert.match(npm.output, /"schema":"lameduck\/shutdown\/v1","reason":"SIGTERM","exitCode":0/);
});

test('the reference service listens on every address, because a pod may have only an IPv6 address', async (t) => {
  const service = disposed(t, new ReferenceService());
  const { port } = new URL(await service.url());
  for (const host of ['127.0.0.1', '[::1]']) {
    assert.equal((await send(`http://${host}:${port}/`, {})).status, 200, host);
  }
});

test('the reference service reports an invalid setting in one line', async (t) => {
  const taken = createNetServer().listen(0, '0.0.0.0');
  await once(taken, 'listening');
  const port = String((taken.address() as AddressInfo).port);
  const cases: [Record<string, string>, RegExp][] = [
    [{ PORT: port }, /^Cannot listen on port \d+: listen EADDRINUSE: .*PORT=8081 npm start\n$/],
    [{ PORT: 'http' }, /^PORT=http: expected 0 to 65535, where 0 takes any free port\n$/],
    [{ UPSTREAM_URL: 'stock:80' }, /^UPSTREAM_URL=stock:80: expected an http or https URL\n$/],
  ];
  for (const [env, message] of cases) {
    const service = disposed(t, new ReferenceService(env));
    assert.deepEqual(await service.exit, { code: 1, signal: null });
    assert.match(withoutWarnings(service.stderr), message);
    assert.deepEqual(service.lines, []);
  }
  await new Promise((resolve) => taken.close(resolve));
});

// Removes the warning about type stripping, which Node 22 prints once.
function withoutWarnings(stderr: string): string {
  return stderr.replace(/^\(.*\n/gm, '');
}

/** Yields the parsed events of an event stream. The connection is closed when the caller stops reading. */
async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, void> {
  let kept = '';
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    const events = (kept + part).split('\n\n');
    kept = events.pop() as string;
    yield* events;
  }
}
