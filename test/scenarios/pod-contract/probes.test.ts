// Tests, on a real process, what the kubelet's probes require of a server in a pod.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, test, type TestContext } from 'node:test';
import { connect as connectSecure } from 'node:tls';
import { newAccount, runClient } from '../../support/closed-loop-client.ts';
import { disposed } from '../../support/disposed.ts';
import { type HttpGet, Prober, runProbe } from '../../support/kubelet-prober.ts';
import { probe } from '../../support/probe-client.ts';
import { ProbedProcess } from '../../support/probed-process.ts';
import { ProcessUnderTest } from '../../support/process-under-test.ts';
import { until } from '../../support/until.ts';

const pod = { fixture: 'runs-in-a-pod.ts' };

const verdict = async (action: HttpGet): Promise<string> => {
  const { result, output } = await runProbe(action);
  return result === 'success' ? result : `${result}: ${output}`;
};

/** The addresses of this machine except loopback. The kubelet probes the pod's IP address. */
const podAddresses = Object.values(networkInterfaces())
  .flatMap((list = []) => list)
  .filter(({ internal, address }) => !internal && !address.startsWith('fe80'))
  .map(({ address }) => address);

test(
  'K-193 the main port and the probe port accept connections on every address of the pod',
  { skip: podAddresses.length === 0 },
  async (t) => {
    const program = await ProbedProcess.start(t, {}, pod);
    for (const host of podAddresses) {
      for (const port of [await program.port(), program.probePort]) {
        assert.equal(await verdict({ host, port, path: '/readyz' }), 'success', host);
      }
    }
  },
);

test('K-196 the main port accepts connections during the startup, and readiness fails until the startup is complete', async (t) => {
  const program = disposed(t, new ProcessUnderTest('runs-in-a-pod.ts', { WARM_UP: 'on' }));
  const port = await program.port();
  assert.equal(await verdict({ port, path: '/livez' }), 'success');
  assert.equal(await verdict({ port, path: '/readyz' }), 'failure: HTTP probe failed with statuscode: 500');
  program.child.stdin?.write('warm\n');
  await program.signaled('HasBeenReady');
  assert.equal(await verdict({ port, path: '/readyz' }), 'success');
});

test("K-197 while a dependency hangs, liveness passes at once on both ports, and readiness fails within the probe's timeout of one second", async (t) => {
  const program = await ProbedProcess.start(t, {}, pod);
  const port = await program.port();
  await probe(port, '/hang');
  for (const one of [port, program.probePort]) {
    const readyz = runProbe({ port: one, path: '/readyz', timeoutSeconds: 5 });
    for (let count = 0; count < 5; count++) assert.equal(await verdict({ port: one, path: '/livez' }), 'success');
    const { status, tookMs } = await readyz;
    assert.equal(status, 500);
    // lameduck ends a check at the time limit of the check, 900 ms. The response to the probe may arrive later, because
    // the machine can be busy.
    assert.ok(tookMs < 2_500, String(tookMs));
  }
});

test('K-197 under overload every liveness probe passes on the probe port, and most pass immediately', async (t) => {
  const program = await ProbedProcess.start(t, {}, { fixture: 'is-busy.ts' });
  const port = await program.port();
  const account = newAccount();
  const stop = new AbortController();
  const clients = Array.from({ length: 200 }, async () => runClient({ port, account, stop: stop.signal }));
  await until(() => account.answered >= 200);
  const action = { port: program.probePort, path: '/livez' };
  const liveness = new Prober({ kind: 'liveness', action, period: 20 }).start();
  await until(() => liveness.outcomes.length >= 60);
  await liveness.stop();
  stop.abort();
  await Promise.all(clients);
  const failed = liveness.outcomes.filter(({ result }) => result !== 'success');
  assert.deepEqual([failed, liveness.published], [[], true]);
  const sorted = liveness.outcomes.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] as number;
  assert.ok(median < 100, `${String(median)} ms`);
});

test('K-199 a failing probe response has a Content-Length, is short, and arrives in one write, on both ports', async (t) => {
  const program = await ProbedProcess.start(t, {}, pod);
  await probe(await program.port(), '/hang');
  for (const port of [await program.port(), program.probePort]) {
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /readyz?verbose=&exclude=none HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    const [head = '', body = ''] = chunk.toString().split('\r\n\r\n');
    assert.match(head, /^HTTP\/1\.1 500 /);
    assert.doesNotMatch(head, /^(Transfer-Encoding|Location):/im);
    assert.equal(Number(/^Content-Length: (\d+)$/im.exec(head)?.[1]), Buffer.byteLength(body));
    assert.ok(body.endsWith('readyz check failed\n') && body.length < 10_240, body);
    socket.destroy();
  }
});

describe('K-200 a server in a pod responds to every form of probe that the kubelet may send', () => {
  const hosts = ['10.0.0.1:8080', 'a.example', '[2001:db8::1]:80', '_', 'x'.repeat(200)];

  test('K-200 probes without TLS pass with any Host, query and method', async (t) => {
    const program = await ProbedProcess.start(t, {}, pod);
    for (const port of [await program.port(), program.probePort]) {
      for (const Host of hosts) {
        for (const path of ['/readyz', '/livez?a=b', '/healthz?verbose', '/livez/ping']) {
          assert.equal(
            await verdict({ port, path, headers: [{ name: 'Host', value: Host }] }),
            'success',
            `${Host} ${path}`,
          );
        }
      }
      const { status, body } = await probe(port, '/readyz', { method: 'HEAD' });
      assert.deepEqual([status, body], [200, '']);
    }
  });

  for (const [protocol, fixture, env] of [
    ['HTTP/1.1', 'serve.ts', { ADAPTER: 'node:https' }],
    ['HTTP/2', 'serves-over-tls.ts', {}],
  ] as const) {
    test(`K-200 probes over TLS without a server name pass, by ${protocol}`, async (t) => {
      const program = disposed(t, new ProcessUnderTest(fixture, env));
      const port = await program.ready();
      for (const path of ['/readyz', '/livez?a=b', '/healthz']) {
        assert.equal(await verdict({ port, path, scheme: 'HTTPS' }), 'success');
      }
      program.kill('SIGTERM');
      assert.deepEqual(
        await program.exit,
        { code: 0, signal: null },
        'the connections of probes must not delay the drain',
      );
    });
  }
});

test('K-201 a thousand probes add no line to the log, and no request to the metrics', async (t) => {
  const program = await ProbedProcess.start(t, {}, pod);
  const ports = [await program.port(), program.probePort];
  const before = program.lines.length;
  for (let round = 0; round < 10; round++) {
    const probes = Array.from({ length: 100 }, async (_, index) => {
      const action = {
        port: ports[index % 2] as number,
        path: index % 3 === 0 ? '/readyz' : '/livez',
        timeoutSeconds: 20,
      };
      return verdict(action);
    });
    assert.deepEqual([...new Set(await Promise.all(probes))], ['success']);
  }
  const { body } = await probe(program.probePort, '/metrics');
  assert.match(body, /^# TYPE http_server_request_duration_seconds histogram$/m);
  assert.doesNotMatch(body, /^http_server_request_duration_seconds_count/m);
  assert.doesNotMatch(body, /^http_server_active_requests\{.*\} [1-9]/m);
  assert.deepEqual(program.lines.slice(before), []);
});

test('K-202 connections on which no byte arrives, and broken-off TLS handshakes, cause no log line on any kind of port', async (t) => {
  const plain = await ProbedProcess.start(t, {}, pod);
  const secure = disposed(t, new ProcessUnderTest('serve.ts', { ADAPTER: 'node:https' }));
  const both = disposed(t, new ProcessUnderTest('serves-over-tls.ts'));
  const ports = [await plain.port(), plain.probePort, await secure.ready(), await both.ready()];
  const lines = (): number => plain.lines.length + secure.lines.length + both.lines.length;
  const before = lines();
  for (const port of ports) for (let count = 0; count < 20; count++) await touch(port, count % 4);
  const [http, probes, ...https] = ports as [number, number, number, number];
  for (const port of [http, probes]) assert.equal(await verdict({ port, path: '/livez' }), 'success');
  for (const port of https) assert.equal(await verdict({ port, path: '/livez', scheme: 'HTTPS' }), 'success');
  assert.equal(lines(), before);
  assert.deepEqual([plain.stderr, secure.stderr, both.stderr], ['', '', '']);
  await endsWell(t, plain, secure, both);
});

/** `touch()` opens a connection as a TCP probe does, or begins a TLS handshake and does not finish it. */
async function touch(port: number, how: number): Promise<void> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  if (how === 0) socket.end().resume();
  else if (how === 1) socket.resetAndDestroy();
  else if (how === 2) socket.end(Buffer.from([22, 3, 1, 2, 0, 1])).resume();
  else {
    const wrapped = connectSecure({ socket, rejectUnauthorized: false }).on('error', () => undefined);
    socket.once('data', () => socket.destroy());
    setTimeout(() => socket.destroy(), 50).unref();
    wrapped.resume();
  }
  if (!socket.closed) await once(socket, 'close');
}

async function endsWell(t: TestContext, ...programs: readonly ProcessUnderTest[]): Promise<void> {
  for (const program of programs) {
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, { code: 0, signal: null }, t.name);
  }
}
