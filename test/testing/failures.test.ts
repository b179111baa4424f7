// Tests the errors of runShutdown, and that it leaves nothing open after a failure.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { lameduck, type Lameduck, type Logger } from '../../src/index.ts';
import { runShutdown } from '../../src/testing.ts';
import { disposed } from '../support/disposed.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';

const logger: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

function serving(): { server: Server; duck: Lameduck } {
  const server = createServer((_request, response) => {
    setTimeout(() => response.end('served'), 20);
  });
  return { server, duck: lameduck(server, { logger }) };
}

const events = ['SIGTERM', 'SIGINT', 'uncaughtException', 'exit', 'beforeExit'] as const;

function processListeners(): number[] {
  return events.map((event) => process.listenerCount(event));
}

async function text(url: string): Promise<string> {
  return (await fetch(url)).text();
}

test('runShutdown rejects for a server that never becomes ready, with the names of the failing checks, and shuts it down', async () => {
  const { server, duck } = serving();
  let isDestroyed = false;
  duck.addReadyzCheck('database', () => false);
  duck.addPostStartHook('warm-up', () => new Promise(() => undefined));
  duck.addDestroyHook('pool', () => (isDestroyed = true));
  await assert.rejects(
    runShutdown(server, () => assert.fail('runShutdown() must not call its callback'), { timeout: '100ms' }),
    {
      code: 'LAMEDUCK_ERR_NEVER_READY',
      message: 'runShutdown(): the server was not ready after 100ms; failing: database, poststarthook/warm-up',
    },
  );
  assert.deepEqual([server.listening, isDestroyed, duck.signals.hasBeenReady.hasSignaled], [false, true, false]);
});

test('runShutdown rejects at once if a shutdown of the server begins before the server is ready', async () => {
  const { server, duck } = serving();
  duck.addPostStartHook('gives-up', () => {
    void duck.shutdown('nothing to do');
    return new Promise(() => undefined);
  });
  await assert.rejects(
    runShutdown(server, () => assert.fail('runShutdown() must not call its callback')),
    {
      code: 'LAMEDUCK_ERR_NEVER_READY',
      message: /when its shutdown began; failing: poststarthook\/gives-up, shutdown$/,
    },
  );
});

test('runShutdown rejects with the error that its callback threw, but only after the server has closed', async () => {
  for (const error of [
    new assert.AssertionError({ message: 'expected', actual: 1, expected: 2 }),
    new TypeError('no'),
  ]) {
    const { server } = serving();
    await assert.rejects(
      runShutdown(server, async (origin) => {
        await text(origin);
        throw error;
      }),
      (thrown) => thrown === error,
    );
    assert.equal(server.listening, false);
  }
});

test('if the callback of runShutdown rejects because requests were cut, runShutdown rejects with an error that lists these requests', async () => {
  const server = createServer(() => undefined);
  lameduck(server, { logger, terminationGracePeriodSeconds: 6, destroyHookTimeout: '1s' });
  await assert.rejects(
    runShutdown(server, async (origin) => {
      const paths = ['/report?year=2025', ...Array.from({ length: 11 }, (_, index) => `/orders/${String(index)}`)];
      await Promise.all(paths.map((path) => fetch(`${origin}${path}`, { method: 'PUT' })));
    }),
    ({ code, message, cause }: Error & { code?: string }) => {
      assert.equal(code, 'LAMEDUCK_ERR_WORK_FAILED');
      assert.match(
        message,
        /^runShutdown\(\): the function `work` failed \(fetch failed\) after the shutdown had cut 12 requests: PUT "\/report" after [\d.]+m?s, (PUT "\/orders\/\d+" after [\d.]+m?s, ){9}and 2 more$/,
      );
      assert.ok(cause instanceof TypeError);
      return true;
    },
  );
  assert.equal(server.listening, false);
});

test('runShutdown rejects if its callback sends no request, or only probes, because such a test would prove nothing', async () => {
  const works: readonly ((origin: string) => unknown)[] = [() => undefined, (origin) => text(`${origin}/readyz`)];
  for (const work of works) {
    const { server } = serving();
    await assert.rejects(
      runShutdown(server, async (origin) => work(origin)),
      {
        code: 'LAMEDUCK_ERR_WORK_FAILED',
        message:
          'runShutdown(): the function `work` sent no request other than probes, so the shutdown had nothing to wait for',
      },
    );
    assert.equal(server.listening, false);
  }
});

test('runShutdown rejects with an Error if its callback throws synchronously, or throws a value that is not an Error', async () => {
  await assert.rejects(
    runShutdown(serving().server, () => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error
      throw undefined;
    }),
    { code: 'LAMEDUCK_ERR_WORK_FAILED', message: 'runShutdown(): the function `work` threw undefined' },
  );
});

test('if the work function of runShutdown() sends a request after the server has stopped listening, the error of runShutdown() names this as the cause', async () => {
  const { server } = serving();
  await assert.rejects(
    runShutdown(server, async (origin) => {
      await text(origin);
      while (server.listening) await sleep(5);
      await text(origin);
    }),
    ({ code, message, cause }: Error & { code?: string }) => {
      assert.equal(code, 'LAMEDUCK_ERR_WORK_FAILED');
      assert.match(
        message,
        /a request of `work` was refused, because the server had already stopped listening .*`during`/,
      );
      assert.ok(cause instanceof Error);
      return true;
    },
  );
});

test('if the callback of runShutdown does not settle within the timeout, runShutdown closes the server and then rejects', async () => {
  const { server } = serving();
  const hangs = runShutdown(
    server,
    async (origin) => {
      await text(origin);
      await new Promise(() => undefined);
    },
    { timeout: '500ms' },
  );
  await assert.rejects(hangs, {
    code: 'LAMEDUCK_ERR_WORK_FAILED',
    message: 'runShutdown(): the function `work` was still running 500ms after the end of the shutdown',
  });
  assert.equal(server.listening, false);
});

test('runShutdown rejects if its callback neither sends a request nor ends', async () => {
  const hangs = runShutdown(serving().server, () => new Promise(() => undefined), { timeout: '500ms' });
  await assert.rejects(hangs, { code: 'LAMEDUCK_ERR_WORK_FAILED' });
});

test('runShutdown rejects if no request had the path in `during`, because with a misspelled path no request would meet the shutdown', async () => {
  await assert.rejects(
    runShutdown(serving().server, (origin) => text(`${origin}/slow`), { during: '/slwo' }),
    {
      code: 'LAMEDUCK_ERR_WORK_FAILED',
      message: 'runShutdown(): the function `work` sent no request to the path "/slwo"',
    },
  );
});

test('runShutdown rejects with LAMEDUCK_DISABLED, because there is no lifecycle to run', async (t) => {
  process.env['LAMEDUCK_DISABLED'] = '1';
  t.after(() => {
    delete process.env['LAMEDUCK_DISABLED'];
  });
  await assert.rejects(
    runShutdown(createServer(), () => undefined),
    { code: 'LAMEDUCK_ERR_DISABLED', message: /^runShutdown\(\): LAMEDUCK_DISABLED is set/ },
  );
});

test('runShutdown rejects a server that has closed, or whose shutdown has already begun', async () => {
  const { server, duck } = serving();
  void duck.shutdown('before the test');
  const again = { code: 'LAMEDUCK_ERR_SERVER_CLOSED', message: /the shutdown of this server has already begun/ };
  await assert.rejects(
    runShutdown(server, () => undefined),
    again,
  );
  await duck.ended;
  await assert.rejects(
    runShutdown(server, () => undefined),
    again,
  );
});

for (const [what, server] of Object.entries({
  undefined,
  null: null,
  'a port': 8080,
  'an object': {},
  'a function': serving,
})) {
  test(`runShutdown rejects a value that is not a server, and the error shows the value: ${what}`, async () => {
    await assert.rejects(
      runShutdown(server as never, () => undefined),
      { code: 'LAMEDUCK_ERR_SERVER_INVALID' },
    );
  });
}

test('runShutdown rejects a callback that is not a function, and invalid options, before anything listens', async () => {
  const { server, duck } = serving();
  const bad: readonly (readonly [unknown, unknown, string])[] = [
    ['/orders', {}, 'LAMEDUCK_ERR_FUNCTION_INVALID'],
    [undefined, {}, 'LAMEDUCK_ERR_FUNCTION_INVALID'],
    [() => 1, null, 'LAMEDUCK_ERR_OPTIONS_INVALID'],
    [() => 1, { delay: '1s' }, 'LAMEDUCK_ERR_OPTIONS_INVALID'],
    [() => 1, { during: 'orders' }, 'LAMEDUCK_ERR_OPTIONS_INVALID'],
    [() => 1, { during: '/orders?id=1' }, 'LAMEDUCK_ERR_OPTIONS_INVALID'],
    [() => 1, { during: /orders/ }, 'LAMEDUCK_ERR_OPTIONS_INVALID'],
    [() => 1, { timeout: '10' }, 'LAMEDUCK_ERR_TIMEOUT_INVALID'],
    [() => 1, { timeout: 0 }, 'LAMEDUCK_ERR_TIMEOUT_INVALID'],
  ];
  for (const [work, options, code] of bad) {
    await assert.rejects(runShutdown(server, work as () => number, options as never), { code });
  }
  assert.equal(server.listening, false);
  assert.equal(duck.signals.shutdownInitiated.hasSignaled, false);
  await duck.shutdown('end of the test');
});

test('runShutdown passes no origin for a server on a unix socket', async () => {
  const { server } = serving();
  server.listen(join(tmpdir(), `lameduck-${String(process.pid)}.sock`));
  await once(server, 'listening');
  await assert.rejects(
    runShutdown(server, () => undefined),
    { code: 'LAMEDUCK_ERR_SERVER_INVALID', message: /Unix socket/ },
  );
  assert.equal(server.listening, false);
});

test('during runShutdown, and after it has ended in any way, lameduck has no listener on the process', async () => {
  const before = processListeners();
  const { server } = serving();
  assert.notDeepEqual(processListeners(), before);
  await runShutdown(server, async (origin) => {
    assert.deepEqual(processListeners(), before);
    await text(origin);
  });
  assert.deepEqual(processListeners(), before);
  for (const work of [() => Promise.reject(new Error('no')), () => undefined]) {
    const other = serving();
    const emit = Object.getOwnPropertyDescriptor(other.server, 'emit');
    await runShutdown(other.server, work).catch(() => undefined);
    assert.deepEqual(processListeners(), before);
    assert.deepEqual(Object.getOwnPropertyDescriptor(other.server, 'emit'), emit);
  }
});

test('a process that has called runShutdown several times, with and without errors, ends on its own with its own exit code', async (t) => {
  const program = disposed(t, new ProcessUnderTest('runs-shutdowns.ts', { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '10s' }));
  assert.deepEqual(await program.exit, { code: 7, signal: null }, program.output);
  const done = await program.line('the end', ({ msg }) => msg === 'done');
  assert.deepEqual(done['after'], done['before']);
  assert.deepEqual(done['outcomes'], ['served', 'LAMEDUCK_ERR_NEVER_READY', 'boom', 'served']);
});

test('runShutdown rejects with the error of listen() if another server uses the port', async (t) => {
  const taken = createServer().listen(0);
  await once(taken, 'listening');
  t.after(() => taken.close());
  const { server, duck } = serving();
  const { port } = taken.address() as AddressInfo;
  const listen = server.listen.bind(server);
  server.listen = ((): Server => listen(port)) as Server['listen'];
  await assert.rejects(
    runShutdown(server, () => undefined),
    { code: 'EADDRINUSE' },
  );
  assert.equal(duck.signals.shutdownInitiated.hasSignaled, true);
});
