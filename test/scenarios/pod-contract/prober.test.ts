// The prober of the other files of this folder judges what it is answered as the kubelet does.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { runProbe, type Verdict } from '../../support/kubelet-probe.ts';
import { Prober } from '../../support/kubelet-prober.ts';

interface Peer {
  readonly port: number;
  /** What came on each connection. */
  readonly received: string[];
}

async function answering(
  t: TestContext,
  answer: (socket: Socket, request: string, port: number) => void,
): Promise<Peer> {
  const received: string[] = [];
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    socket.setEncoding('latin1').on('data', (text: string) => {
      received.push(text);
      answer(socket, text, port);
    });
  }).listen(0, '127.0.0.1');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, received };
}

const close = 'Connection: close\r\n';
const judged = ({ result, attempts }: Verdict): unknown[] => [result, attempts];

for (const [what, bytes, expected] of [
  ['200', `HTTP/1.1 200 OK\r\n${close}\r\nok`, ['success', 1]],
  ['204', `HTTP/1.1 204 No Content\r\n${close}\r\n`, ['success', 1]],
  ['200 and 1 MiB', `HTTP/1.1 200 OK\r\n${close}\r\n${'a'.repeat(1_048_576)}`, ['success', 1]],
  ['302 to another host', `HTTP/1.1 302 Found\r\nLocation: http://a.example/\r\n${close}\r\n`, ['success', 1]],
  ['304', `HTTP/1.1 304 Not Modified\r\n${close}\r\n`, ['success', 1]],
  ['301 to nowhere', `HTTP/1.1 301 Moved Permanently\r\n${close}\r\n`, ['success', 1]],
  ['302 to itself', `HTTP/1.1 302 Found\r\nLocation: /\r\n${close}\r\n`, ['failure', 1]],
  ['400', `HTTP/1.1 400 Bad Request\r\n${close}\r\n`, ['failure', 1]],
  ['429', `HTTP/1.1 429 Too Many Requests\r\n${close}\r\n`, ['failure', 1]],
  ['503', `HTTP/1.1 503 Service Unavailable\r\n${close}\r\n`, ['failure', 1]],
  ['no HTTP', 'SSH-2.0-OpenSSH\r\n', ['failure', 1]],
  ['nothing', '', ['failure', 1]],
  ['a body that is too short', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok', ['unknown', 3]],
] as const) {
  test(`the prober judges ${what}: ${expected.join(', ')}`, async (t) => {
    const { port } = await answering(t, (socket) => socket.end(bytes));
    assert.deepEqual(judged(await runProbe({ port })), expected);
  });
}

test('the prober takes silence for a failure, and a body that stalls for an error', async (t) => {
  const silent = await answering(t, () => undefined);
  const verdict = await runProbe({ port: silent.port, timeoutSeconds: 0.2 });
  assert.deepEqual(judged(verdict), ['failure', 1]);
  const stalling = await answering(t, (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok'));
  assert.deepEqual(judged(await runProbe({ port: stalling.port, timeoutSeconds: 0.2 })), ['unknown', 3]);
  assert.deepEqual(judged(await runProbe({ port: 1 })), ['failure', 1]);
});

test('the prober follows a redirect to the same host', async (t) => {
  const { port, received } = await answering(t, (socket, request) => {
    const isThere = request.startsWith('GET /there ');
    socket.end(`HTTP/1.1 ${isThere ? '404 Not Found' : '302 Found\r\nLocation: /there'}\r\n${close}\r\n`);
  });
  assert.equal((await runProbe({ port })).output, 'HTTP probe failed with statuscode: 404');
  assert.equal(received.length, 2);
});

test('the prober sends what the kubelet sends, and a header of the pod in its place', async (t) => {
  const { port, received } = await answering(t, (socket) => socket.end(`HTTP/1.1 200 OK\r\n${close}\r\n`));
  await runProbe({ port, path: '/livez?verbose' });
  await runProbe({ port, httpHeaders: { Host: 'a.example', Accept: 'text/plain' } });
  assert.equal(
    received[0],
    `GET /livez?verbose HTTP/1.1\r\nHost: 127.0.0.1:${String(port)}\r\nUser-Agent: kube-probe/1.36\r\nAccept: */*\r\nConnection: close\r\n\r\n`,
  );
  assert.match(received[1] ?? '', /^GET \/ HTTP\/1\.1\r\nHost: a\.example\r\n[^]*\r\nAccept: text\/plain\r\n/);
});

for (const [kind, successThreshold, failureThreshold, results, expected] of [
  ['liveness', 1, 3, 'SFFSFFF', '++++++-'],
  ['liveness', 1, 3, 'FFEF', '+++-'],
  ['liveness', 1, 1, 'EEEE', '++++'],
  ['readiness', 2, 1, 'SSFSS', '-+--+'],
  ['readiness', 1, 3, 'SFFSFFF', '++++++-'],
] as const) {
  test(`the prober of ${kind} with thresholds ${String(successThreshold)} and ${String(failureThreshold)} makes ${expected} of ${results}`, () => {
    const action = { port: 1 };
    const prober = new Prober({ kind, action, period: 1, successThreshold, failureThreshold });
    const published = results.split('').map((letter) => {
      const result = ({ S: 'success', F: 'failure', E: 'unknown' } as const)[letter as 'S' | 'F' | 'E'];
      prober.note({ result, output: '', status: undefined, attempts: 1, tookMs: 0 });
      return prober.published ? '+' : '-';
    });
    assert.equal(published.join(''), expected);
  });
}
