// Tests probes as load balancers, kubelets and others send them, over real connections to every kind of server.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Response } from '../support/closed-loop-client.ts';
import { fails } from '../support/health-under-test.ts';
import { describeProbedAdapters, serve, shutdownOf, type Client, type Serving } from '../support/serving.ts';
import { until } from '../support/until.ts';

const host = 'Host: localhost\r\n';
const program = 418;

/** `ask()` sends a complete request on its own connection and resolves with the response. */
async function ask(serving: Serving, request: string): Promise<Response> {
  const client = await serving.dial();
  client.send(request);
  return next(client);
}

async function next(client: Client): Promise<Response> {
  const response = await client.reader.next();
  assert.ok(response !== undefined, `no response: ${client.reader.error ?? 'FIN'}`);
  return response.status === 100 ? next(client) : response;
}

describeProbedAdapters((adapter) => {
  const start = async (
    t: Parameters<typeof serve>[0],
    prepare: (serving: Pick<Serving, 'handle'>) => void = () => undefined,
    options: Partial<Parameters<typeof serve>[1]> = {},
  ): Promise<Serving> =>
    serve(t, {
      adapter,
      listener: (_, response) => response.writeHead(program, { 'Content-Length': 11 }).end('the program'),
      prepare: (_, { handle }) => {
        prepare({ handle });
      },
      ...options,
    });

  it('A-071 a probe gets the same response for every method, without a body for HEAD', async (t) => {
    const serving = await start(t, ({ handle }) => {
      handle.addLivezCheck('bad', fails);
    });
    const expected = '[+]ping ok\n[+]log ok\n[-]bad failed: reason withheld\nlivez check failed\n';
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
      const whole = await ask(serving, `${method} /livez HTTP/1.1\r\n${host}Content-Length: 0\r\n\r\n`);
      assert.deepEqual([whole.status, whole.body], [500, expected], method);
      const one = await ask(serving, `${method} /livez/ping HTTP/1.1\r\n${host}Content-Length: 0\r\n\r\n`);
      assert.deepEqual([one.status, one.body], [200, 'ok'], method);
    }
    const client = await serving.dial();
    let received = '';
    client.socket.on('data', (text: string) => (received += text));
    client.send(`HEAD /livez HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);
    await client.ended();
    assert.match(received, new RegExp(`^HTTP/1.1 500 .*\r\nContent-Length: ${String(expected.length)}\r\n`, 's'));
    assert.ok(received.endsWith('\r\n\r\n'));
  });

  it('A-071 a probe gets its response before its request body has arrived', async (t) => {
    const serving = await start(t);
    const client = await serving.dial();
    client.send(`POST /livez HTTP/1.1\r\n${host}Content-Length: 100000\r\n\r\n`);
    assert.equal((await next(client)).body, 'ok');
    client.send('x'.repeat(100_000));
    client.get('/livez/ping');
    assert.equal((await next(client)).body, 'ok', 'the connection must serve further requests after the probe');
    const expects = `PUT /livez HTTP/1.1\r\n${host}Expect: 100-continue\r\nContent-Length: 4\r\n\r\n`;
    assert.equal((await ask(serving, expects)).body, 'ok');
    const upgrade = `GET /livez HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`;
    assert.equal((await ask(serving, upgrade)).body, 'ok');
  });

  it('P-080 a request with a probe URL in absolute form, as a forward proxy receives it, is passed to the program', async (t) => {
    const serving = await start(t);
    for (const target of [
      'http://elsewhere.example:80/readyz?verbose',
      'http://localhost/livez',
      'http://localhost/',
    ]) {
      assert.equal((await ask(serving, `GET ${target} HTTP/1.1\r\n${host}\r\n`)).status, program, target);
    }
  });

  it('P-015, P-078 an HTTP/1.0 probe gets its response and its connection ends', async (t) => {
    const serving = await start(t);
    for (const request of ['GET /readyz HTTP/1.0\r\n\r\n', `GET /readyz HTTP/1.0\r\n${host}User-Agent: old\r\n\r\n`]) {
      const client = await serving.dial();
      client.send(request);
      const answer = await next(client);
      assert.deepEqual([answer.status, answer.body, answer.isClose], [200, 'ok', true]);
      await client.ended();
      assert.equal(client.reader.error, undefined);
    }
  });

  it('P-082 pipelined probes get their responses in order, and share the runs of their checks', async (t) => {
    let runs = 0;
    const gate = Promise.withResolvers<boolean>();
    let isHeld = false;
    const serving = await start(t, ({ handle }) => {
      handle.addReadyzCheck('slow', () => {
        runs++;
        return isHeld ? gate.promise : true;
      });
    });
    isHeld = true;
    const before = runs;
    const client = await serving.dial();
    const paths = ['/readyz', '/livez', '/readyz?verbose', '/readyz/slow', '/nothing', '/readyz/ping', '/readyz'];
    client.send(paths.map((path) => `GET ${path} HTTP/1.1\r\n${host}\r\n`).join(''));
    await until(() => runs > before);
    // The client has sent all earlier probes in one packet. So when this later probe gets its response, the server has
    // also read the earlier probes.
    assert.equal((await ask(serving, `GET /livez HTTP/1.1\r\n${host}\r\n`)).body, 'ok');
    gate.resolve(true);
    const bodies: string[] = [];
    for (const _ of paths) bodies.push((await next(client)).body);
    const verbose = '[+]ping ok\n[+]log ok\n[+]slow ok\n[+]shutdown ok\nreadyz check passed\n';
    assert.deepEqual(bodies, ['ok', 'ok', verbose, 'ok', 'the program', 'ok', 'ok']);
    assert.equal(runs, before + 1);
  });

  it('P-082 fifty simultaneous probes, each on its own connection, run a check once', async (t) => {
    let runs = 0;
    const gate = Promise.withResolvers<boolean>();
    let isHeld = false;
    const serving = await start(
      t,
      ({ handle }) => {
        handle.addReadyzCheck('slow', () => {
          runs++;
          return isHeld ? gate.promise : true;
        });
      },
      { healthCheckTimeout: '30s' },
    );
    isHeld = true;
    const before = runs;
    const clients = await Promise.all(Array.from({ length: 50 }, async () => serving.dial()));
    for (const client of clients) client.get('/readyz');
    // Wait until all 50 probes of this test have arrived. They must wait for the same run of the check.
    await until(() => serving.traffic.connections.size >= 50 && probesOf(serving) === 50);
    assert.equal(runs, before + 1);
    gate.resolve(false);
    for (const client of clients) assert.equal((await next(client)).status, 500);
    assert.equal(runs, before + 1);
    assert.equal((await ask(serving, `GET /readyz HTTP/1.1\r\n${host}\r\n`)).status, 500);
    assert.equal(runs, before + 2);
  });

  it('A-003, A-090, A-106, P-077, P-078, P-091 during the shutdown delay probes get responses on old and new connections, and no check can make /readyz pass', async (t) => {
    let isTakenOut = false;
    const serving = await start(
      t,
      ({ handle }) => {
        handle.addReadyzCheck('taken-out', () => !isTakenOut);
      },
      // If `random` returns 0.9, lameduck sends `Connection: close` on a connection only near the end of the shutdown
      // delay. Until then, the clients of this test can send several probes on one connection.
      { shutdownDelayDuration: '9s', random: () => 0.9 },
    );
    const kept = await serving.dial();
    const readyz = async (client: Client, query = ''): Promise<Response> => {
      client.get(`/readyz${query}`);
      return next(client);
    };
    isTakenOut = true;
    assert.match((await readyz(kept)).body, /^\[-\]taken-out failed/m);
    isTakenOut = false;
    assert.equal((await readyz(kept)).body, 'ok');
    void shutdownOf(serving);
    const red = '[+]ping ok\n[+]log ok\n[+]taken-out ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n';
    for (const client of [kept, await serving.dial()]) {
      for (const isOut of [true, false]) {
        isTakenOut = isOut;
        const { status, body } = await readyz(client);
        assert.deepEqual(
          [status, body],
          [500, isOut ? red.replace(/\[\+\](taken-out) ok/, '[-]$1 failed: reason withheld') : red],
        );
      }
    }
    for (const path of ['/livez', '/healthz', '/readyz?exclude=shutdown']) {
      assert.equal((await ask(serving, `GET ${path} HTTP/1.1\r\n${host}\r\n`)).body, 'ok', path);
    }
    assert.equal(serving.handle.signals.afterShutdownDelayDuration.hasSignaled, false);
  });

  it('if the client of a probe disconnects before the check of this probe has ended, no error occurs', async (t) => {
    const gate = Promise.withResolvers<boolean>();
    let isHeld = false;
    const serving = await start(t, ({ handle }) => {
      handle.addReadyzCheck('slow', () => (isHeld ? gate.promise : true));
    });
    isHeld = true;
    const [leaves, resets, stays] = await Promise.all([serving.dial(), serving.dial(), serving.dial()]);
    for (const client of [leaves, resets, stays]) client.get('/readyz');
    await until(() => probesOf(serving) === 3);
    leaves.socket.destroy();
    resets.reset();
    await until(() => serving.traffic.connections.size === 1);
    gate.resolve(true);
    assert.equal((await next(stays)).body, 'ok');
  });

  it('P-082 a check that probes its own endpoint fails at its time limit, without endless recursion', async (t) => {
    let serving: Serving | undefined;
    let runs = 0;
    serving = await start(
      t,
      ({ handle }) => {
        handle.addReadyzCheck('asks-itself', async () => {
          if (serving === undefined) return true;
          runs++;
          return (await ask(serving, `GET /readyz HTTP/1.1\r\n${host}\r\n`)).status === 200;
        });
      },
      { healthCheckTimeout: '200ms' },
    );
    const answer = await ask(serving, `GET /readyz HTTP/1.1\r\n${host}\r\n`);
    assert.match(answer.body, /^\[-\]asks-itself failed: reason withheld$/m);
    assert.equal(runs, 1);
    serving = undefined;
  });

  it('a probe URL of the maximum length gets a short response, and a longer URL does not end the server', async (t) => {
    const serving = await start(t);
    const query = Array.from({ length: 1_400 }, (_, index) => `exclude=${index.toString(36)}%00`).join('&');
    assert.ok(query.length > 15_000);
    const long = await ask(serving, `GET /readyz?verbose&${query.slice(0, 15_900)} HTTP/1.1\r\n${host}\r\n`);
    assert.equal(long.status, 200);
    assert.ok(long.body.length < 1_000);
    assert.match(long.body, / and \d+ more\nreadyz check passed\n$/);
    const tooLong = await ask(serving, `GET /readyz?${query}&${query} HTTP/1.1\r\n${host}\r\n`);
    assert.equal(tooLong.status, 431);
    for (const target of ['/readyz/%', '/readyz/%00', '/readyz/ping%2F', '/readyz/%2e%2e/livez']) {
      assert.equal((await ask(serving, `GET ${target} HTTP/1.1\r\n${host}\r\n`)).status, 404, target);
    }
    assert.equal((await ask(serving, `GET /readyz HTTP/1.1\r\n${host}\r\n`)).body, 'ok');
  });
});

/** probesOf counts the probes that have arrived and have no response yet. */
function probesOf({ traffic }: Serving): number {
  return [...traffic.connections].reduce((sum, { exchanges }) => sum + exchanges.length, 0);
}
