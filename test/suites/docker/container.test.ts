// Runs the image from start to end with a read-only root file system and no capabilities, as docker/compose.yaml does.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, test, type TestContext } from 'node:test';
import { disposed } from '../../support/disposed.ts';
import { get, newAccount, post, runClient } from '../../support/closed-loop-client.ts';
import { reservePort } from '../../support/reserved-port.ts';
import { until } from '../../support/until.ts';
import { composedOptions, gracePeriod } from './compose.ts';
import { Container, image } from './runtime.ts';

interface Service {
  readonly container: Container;
  readonly port: number;
}

async function start(t: TestContext, variables: Readonly<Record<string, string>> = {}): Promise<Service> {
  const [port, probePort] = [await reservePort(), await reservePort()];
  const ports = { PORT: String(port), LAMEDUCK_PROBE_PORT: String(probePort) };
  const container = disposed(t, new Container(composedOptions({ ...ports, ...variables })));
  return { container, port };
}

async function ready(t: TestContext, variables: Readonly<Record<string, string>> = {}): Promise<Service> {
  const service = await start(t, variables);
  await service.container.printed(/"name":"HasBeenReady"/);
  return service;
}

const order = post
  .replace('POST / ', 'POST /orders ')
  .replace('text/plain', 'application/json')
  .replace('5\r\n\r\nhello', '7\r\n\r\n{"a":1}');

const finalLine = /"schema":"lameduck\/shutdown\/v1","reason":"SIGTERM","exitCode":0,.*\n$/;

test('H-176 H-168 the container serves requests as a user that has no privileges and can write no file', async (t) => {
  const { container, port } = await ready(t);
  assert.equal((await fetch(`http://127.0.0.1:${String(port)}/`)).status, 200);
  const status = await container.node(`console.log(require('fs').readFileSync('/proc/1/status', 'utf8'))`);
  assert.match(status, /^Uid:\t65532\t65532\t65532\t65532$/m);
  assert.match(status, /^Gid:\t65532\t65532\t65532\t65532$/m);
  for (const set of ['CapEff', 'CapPrm', 'CapBnd']) assert.match(status, new RegExp(`^${set}:\t0+$`, 'm'));
  assert.match(status, /^NoNewPrivs:\t1$/m);
  const attempts = ['/app/x', '/app/dist/x', '/tmp/x', '/home/nonroot/x', '/x'];
  const written = await container.node(
    `for (const path of ${JSON.stringify(attempts)}) try { fs.writeFileSync(path, ''); console.log(path); } catch {}`,
  );
  assert.equal(written, '');
});

test('H-170 node is the first and only process of the container', async (t) => {
  const { container } = await ready(t);
  const processes = await container.node(
    `for (const pid of fs.readdirSync('/proc').filter(Number)) if (pid !== String(process.pid))
       console.log(pid, fs.readFileSync('/proc/' + pid + '/cmdline', 'utf8').split('\\0')[0]);`,
  );
  assert.equal(processes, '1 /nodejs/bin/node\n');
});

test('H-172 the health check passes, fails while a dependency is unavailable, and passes again', async (t) => {
  const upstream = createServer((_request, response) => response.writeHead(isAway ? 503 : 200).end());
  let isAway = false;
  await once(upstream.listen(0, '127.0.0.1'), 'listening');
  t.after(() => upstream.close());
  const url = `http://127.0.0.1:${String((upstream.address() as AddressInfo).port)}`;
  const { container } = await ready(t, { UPSTREAM_URL: url });
  await container.becomes('healthy');
  isAway = true;
  await container.becomes('unhealthy');
  isAway = false;
  await container.becomes('healthy');
});

test('H-176 HC-39 SIGTERM under load loses no request, and the process exits on its own within the grace period', async (t) => {
  const { container, port } = await ready(t, { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '3s' });
  const [account, stop] = [newAccount(), new AbortController()];
  const clients = Array.from({ length: 20 }, async (_, index) =>
    runClient({ port, request: index % 2 === 0 ? get : order, account, stop: stop.signal }),
  );
  await until(() => account.answered >= 200);
  const slow = fetch(`http://127.0.0.1:${String(port)}/slow?ms=5000`);
  const began = performance.now();
  await container.stop(gracePeriod());
  const seconds = (performance.now() - began) / 1_000;
  stop.abort();
  await Promise.all(clients);
  assert.deepEqual(await (await slow).json(), { sleptMs: 5_000 });
  assert.deepEqual(await container.exit, { code: 0, signal: null }, container.output);
  assert.match(container.output, finalLine);
  assert.deepEqual(account.lost, []);
  assert.deepEqual(
    account.refused.filter((reason) => reason !== 'ECONNREFUSED'),
    [],
  );
  assert.ok(account.toldToClose >= 20);
  assert.ok(seconds > 5 && seconds < gracePeriod() / 2, `the container ended after ${String(seconds)} s`);
});

describe('H-169 H-176 HC-39 SIGTERM during the start of the container ends the container, before and after the program is loaded', () => {
  // Node runs a module of `--import` after every module of `--require`, and before the program.
  const boots = (code: string): Record<string, string> => ({ NODE_OPTIONS: `--import=data:text/javascript,${code}` });
  const forLong = boots(`console.log('boots');await(new(Promise)((resolve)=>setTimeout(resolve,60_000)))`);

  it('SIGTERM before the program has started ends the container at once', async (t) => {
    const { container } = await start(t, forLong);
    await container.printed(/^boots$/m);
    const began = performance.now();
    await container.stop(20);
    assert.deepEqual(await container.exit, { code: 0, signal: null }, container.output);
    assert.ok(performance.now() - began < 5_000);
    assert.match(container.output, /boots\n$/);
  });

  it('without docker/pid-1.cjs, the container ignores SIGTERM until SIGKILL ends it', async (t) => {
    const options = [...composedOptions(forLong), '--entrypoint', '/nodejs/bin/node'];
    const container = disposed(t, new Container(options, image, ['/app/examples/reference-service/main.ts']));
    await container.printed(/^boots$/m);
    await container.stop(2);
    assert.deepEqual(await container.exit, { code: 137, signal: null }, container.output);
  });

  const moments: readonly [string, RegExp][] = [
    ['when the program is about to be loaded', /^boots$/m],
    ['when it begins to listen', /"msg":"lifecycle started/],
    ['when it is ready', /"name":"HasBeenReady"/],
  ];
  for (const [moment, line] of moments) {
    it(`SIGTERM ${moment} ends the container of the reference service with exit code 0`, async (t) => {
      const { container } = await start(t, {
        ...boots(`console.log('boots')`),
        LAMEDUCK_SHUTDOWN_DELAY_DURATION: '1s',
      });
      await container.printed(line);
      await container.stop(20);
      assert.deepEqual(await container.exit, { code: 0, signal: null }, container.output);
    });
  }
});
