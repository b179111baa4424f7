// Tests clients that read slowly from a process whose network interface is removed when it ends. As in a pod, the
// kernel can deliver nothing after that.
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { Exit } from '../support/command-under-test.ts';
import { disposed } from '../support/disposed.ts';
import { PodNetwork } from '../support/pod-network.ts';
import type { Line, LoggingCommand } from '../support/process-under-test.ts';

const bytes = 1_500_000;
/**
 * The rate at which the client reads, in bytes per millisecond. At this rate, the client needs four seconds for the
 * bytes that are still in the kernel when the handler ends.
 */
const rate = 250;

const http = ['kept', 'close', 'halfClosed', 'upgraded'];

const skip = PodNetwork.skip ?? false;

interface Shutdown {
  readonly server: LoggingCommand;
  readonly exit: Promise<Exit>;
  /** For each client, the number of bytes of the response that the client has not received. */
  readonly missing: () => Promise<number[]>;
}

/**
 * shutDown sends SIGTERM after every client has begun to read its response. When the server process has ended, shutDown
 * removes the network interface of the simulated pod.
 */
async function shutDown(
  t: TestContext,
  kind: string,
  readers: readonly string[],
  env: Readonly<Record<string, string>> = {},
  prepare: (network: PodNetwork, server: LoggingCommand) => Promise<void> = () => Promise.resolve(),
): Promise<Shutdown> {
  const network = disposed(t, new PodNetwork());
  await network.create();
  const all = { KIND: kind, BYTES: String(bytes), RATE: String(rate), ...env };
  const server = disposed(t, network.startServer('answers-at-length.ts', all));
  const { port } = await server.line('listening', ({ msg }) => msg === 'listening');
  await server.line('HasBeenReady', ({ name }) => name === 'HasBeenReady');
  const where = { HOST: network.host, PORT: String(port) };
  const clients = disposed(t, network.startClients('reads-slowly.ts', readers, { ...all, ...where }));
  const said = (msg: string) => clients.lines.filter((line) => line.msg === msg);
  const allSaid = (msg: string) => clients.line(`${msg} by all`, () => said(msg).length === readers.length);
  await allSaid('begun');
  await prepare(network, server);
  server.kill('SIGTERM');
  const exit = server.exit.then(async (ended) => {
    await network.removeInterface();
    return ended;
  });
  const missing = async () => {
    await allSaid('read');
    return said('read').map((line) => Number(line['missing']));
  };
  return { server, exit, missing };
}

/** handedOver resolves when Node has passed the last byte of the response to the socket buffers of the kernel. */
async function handedOver(_: PodNetwork, server: LoggingCommand): Promise<void> {
  await server.line('the end of the handler', ({ msg }) => msg === 'handed over');
}

void describe('slow clients get their whole responses within the shutdown budget', { skip, concurrency: 3 }, () => {
  for (const [kind, readers, env] of [
    ['http', [...http, ...http], {}],
    ['https', ['tls'], {}],
    // lameduck ends a session when the client has answered a ping, and at the latest five seconds after the last
    // response.
    ['h2c', ['stream'], { RATE: '120' }],
  ] as const) {
    test(`P-006 each of ${String(readers.length)} slow readers over ${kind} has received its whole response when the process ends`, async (t) => {
      const { server, exit, missing } = await shutDown(t, kind, readers, env);
      assert.deepEqual(await exit, { code: 0, signal: null });
      assert.deepEqual(
        await missing(),
        readers.map(() => 0),
      );
      assert.deepEqual((await server.finalLine())['unfinished'], []);
    });
  }

  test('P-006 destroy hooks run even while slow clients are still reading their responses', async (t) => {
    const { server, exit } = await shutDown(t, 'http', ['kept']);
    const destroyed = Number((await server.line('destroyed', ({ msg }) => msg === 'destroyed'))['time']);
    await exit;
    const ended = Number((await server.finalLine())['time']);
    assert.ok(ended - destroyed > 1_500, `the process ended ${String(ended - destroyed)} ms after the destroy hook`);
  });

  test('P-025 at the end of the shutdown budget, a client that has not acknowledged all bytes is named in the log, and the exit code is 80', async (t) => {
    const { server, exit, missing } = await shutDown(
      t,
      'http',
      ['kept'],
      {
        LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '5',
        LAMEDUCK_DESTROY_HOOK_TIMEOUT: '1s',
        RATE: '100',
      },
      handedOver,
    );
    assert.deepEqual(await exit, { code: 80, signal: null });
    assert.ok(((await missing())[0] ?? 0) > 0);
    const [unfinished, ...others] = (await server.finalLine())['unfinished'] as Line[];
    assert.deepEqual(others, []);
    assert.match(String(unfinished?.['peer']), /^\[::ffff:192\.0\.2\.2\]:\d+$/);
    assert.ok(Number(unfinished?.['unacknowledgedBytes']) > 100_000);
    const line = await server.line('response not acknowledged', ({ msg }) => msg === 'response not acknowledged');
    assert.equal(line['peer'], unfinished?.['peer']);
    assert.equal(line['unacknowledgedBytes'], unfinished?.['unacknowledgedBytes']);
  });

  test("if a client does not read its response, the drain still ends so early that the program's own signal listeners finish before SIGKILL", async (t) => {
    const env = {
      LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '5',
      LAMEDUCK_DESTROY_HOOK_TIMEOUT: '1s',
      RATE: '100',
      CLEANS_UP: '1',
    };
    const { server, exit } = await shutDown(t, 'http', ['kept'], env, handedOver);
    assert.deepEqual(await exit, { code: 80, signal: null });
    assert.ok(server.lines.some(({ msg }) => msg === 'cleaned up'));
    assert.equal(((await server.finalLine())['unfinished'] as Line[]).length, 1);
  });

  test('P-021 a client that has disappeared without a FIN delays the exit by only a few seconds', async (t) => {
    const { server, exit } = await shutDown(t, 'http', ['kept'], {}, async (network, program) => {
      await handedOver(network, program);
      await network.muteClients();
    });
    assert.deepEqual(await exit, { code: 0, signal: null });
    const { durationMs } = (await server.finalLine()) as { durationMs?: number };
    assert.ok(Number(durationMs) < 12_000, `the shutdown took ${String(durationMs)} ms`);
  });
});
