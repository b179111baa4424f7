import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createServer as createNetServer, type AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { lameduck, type Lameduck, type LameduckErrorCode, type Logger, type Server } from '../src/index.ts';

const quiet: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

const events = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGUSR2', 'SIGHUP', 'uncaughtException', 'exit'] as const;

function processListeners(): number[] {
  return events.map((event) => process.listenerCount(event));
}

/** `variable()` sets an environment variable until the test ends. */
function variable(context: TestContext, name: string, value: string): void {
  process.env[name] = value;
  context.after(() => {
    // eslint-disable-next-line @typescript-eslint/no-dynamic-delete
    delete process.env[name];
  });
}

function hasOwnEmit(server: unknown): boolean {
  return typeof server === 'object' && server !== null && Object.hasOwn(server, 'emit');
}

/**
 * `refused()` asserts that `lameduck()` throws an error with the given error code, and changes neither the process nor
 * the server.
 */
async function refused(code: LameduckErrorCode, server: unknown, options?: object, message = /./): Promise<void> {
  const before = processListeners();
  const hadEmit = hasOwnEmit(server);
  let duck: Lameduck | undefined;
  try {
    assert.throws(
      () => {
        duck = lameduck(server as Server, { logger: quiet, ...options });
      },
      { code, message },
    );
    assert.deepEqual(processListeners(), before);
    assert.equal(hasOwnEmit(server), hadEmit);
  } finally {
    await duck?.shutdown('it was not refused');
  }
}

async function ended(duck: Lameduck): Promise<void> {
  await duck.shutdown('end of the test');
}

const noServers: Readonly<Record<string, unknown>> = {
  undefined,
  null: null,
  'a number': 8080,
  'an object': {},
  'a server of node:net': createNetServer(),
  'an array that contains something other than a server': [createServer(), undefined],
  'a function': () => undefined,
};

for (const [what, server] of Object.entries(noServers)) {
  test(`lameduck() throws if it gets ${what} instead of a server, and the error names the given value`, async () => {
    await refused(
      'LAMEDUCK_ERR_SERVER_INVALID',
      server,
      {},
      /^server \d: .*: expected an open server of node:http, node:https or node:http2/,
    );
  });
}

test('lameduck() rejects an object without a prototype', async () => {
  await refused('LAMEDUCK_ERR_SERVER_INVALID', Object.create(null));
});

const kinds: readonly (readonly [string, () => Server])[] = [
  ['node:http', () => createServer()],
  ['node:https', () => createSecureServer()],
];

for (const [kind, create] of kinds) {
  test(`lameduck() rejects a server of ${kind} that has been closed`, async () => {
    const server = create();
    server.listen(0);
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
    await refused('LAMEDUCK_ERR_SERVER_CLOSED', server);
  });
}

test('a second call of lameduck() with the same server throws, and the server keeps the lifecycle of the first call', async () => {
  const server = createServer();
  const duck = lameduck(server, { logger: quiet });
  await refused('LAMEDUCK_ERR_SERVER_TAKEN', server);
  await refused('LAMEDUCK_ERR_SERVER_TAKEN', [createServer(), server]);
  await ended(duck);
});

test('lameduck() rejects an array that contains a server twice', async () => {
  const server = createServer();
  await refused('LAMEDUCK_ERR_SERVER_TAKEN', [server, server]);
});

test('an invalid option and an invalid variable are rejected in one error', async (context) => {
  variable(context, 'LAMEDUCK_PRE_STOP_SECONDS', '5s');
  const options = { shutdownDelayDuration: '10' };
  const both =
    /shutdownDelayDuration: "10" from code: .* did you mean 10s\?\n {2}preStopSeconds: "5s" from LAMEDUCK_PRE_STOP_SECONDS: expected/;
  await refused('LAMEDUCK_ERR_SETTINGS_INVALID', createServer(), options, both);
});

test('lameduck() rejects an unknown option', async () => {
  await refused('LAMEDUCK_ERR_SETTINGS_INVALID', createServer(), { port: 8080 }, /port from code: unknown option/);
});

test('invalid functions, an invalid logger and a setting that is out of range are rejected in one error', async () => {
  const given = { longRunning: true, route: '/orders', logger: { info: () => undefined }, preStopSeconds: -1 };
  const all = new RegExp(
    [
      '^invalid settings:',
      'preStopSeconds: -1 from code: expected a whole number of seconds from 0 to 2000000',
      'logger: \\{ info: \\[Function: info\\] \\} from code: expected an object with the functions info, warn, error',
      'longRunning: true from code: expected a function',
      'route: "/orders" from code: expected a function$',
    ].join('\\n {2}'),
  );
  await refused('LAMEDUCK_ERR_SETTINGS_INVALID', createServer(), given, all);
});

test('lameduck() rejects an invalid logger before anything is served', async () => {
  const logger: Partial<Logger> = {};
  let duck: Lameduck | undefined;
  try {
    assert.throws(
      () => {
        duck = lameduck([], { logger: logger as Logger });
      },
      { message: /logger/ },
    );
  } finally {
    Object.assign(logger, quiet);
    await duck?.shutdown('it was not refused');
  }
});

test('P-075 a shutdown budget that leaves less than 1 s for the drain is rejected, and the error has the sum of the budget', async () => {
  const options = { terminationGracePeriodSeconds: 15, shutdownDelayDuration: '10s' };
  await refused(
    'LAMEDUCK_ERR_BUDGET_TOO_SHORT',
    createServer(),
    options,
    /terminationGracePeriodSeconds 15s \(code\) - .* = drain 0s/,
  );
});

test('P-066, P-070 lameduck() adds its signal listeners even before the server listens, and removes them after the shutdown has begun', async () => {
  const before = processListeners();
  const duck = lameduck(createServer(), { logger: quiet, shutdownSignals: ['SIGTERM', 'SIGUSR2'] });
  const during = processListeners();
  assert.deepEqual(
    events.filter((_, index) => (during[index] ?? 0) > (before[index] ?? 0)),
    ['SIGTERM', 'SIGUSR2'],
  );
  await ended(duck);
  assert.deepEqual(processListeners(), before);
});

test('P-069 by default lameduck() listens only for SIGTERM and SIGINT', async () => {
  const before = processListeners();
  const duck = lameduck(createServer(), { logger: quiet });
  const during = processListeners();
  assert.deepEqual(
    events.filter((_, index) => (during[index] ?? 0) > (before[index] ?? 0)),
    ['SIGTERM', 'SIGINT'],
  );
  await ended(duck);
});

test('P-113 lameduck() adds no listener to the server', async () => {
  const server = createServer();
  const before = server.eventNames().map((name) => [name, server.listenerCount(name)]);
  const duck = lameduck(server, { logger: quiet });
  assert.deepEqual(
    server.eventNames().map((name) => [name, server.listenerCount(name)]),
    before,
  );
  await ended(duck);
});

test('lameduck() does not change the options object', async () => {
  const options = Object.freeze({ logger: quiet, shutdownDelayDuration: '0s' });
  await ended(lameduck(createServer(), options));
});

test('with LAMEDUCK_DISABLED=1, lameduck() changes neither the process nor the server, and shutdown() of its handle still runs the hooks', async (context) => {
  variable(context, 'LAMEDUCK_DISABLED', '1');
  const before = processListeners();
  const server = createServer((_request, response) => response.end('from the program'));
  const duck = lameduck(server, { logger: quiet });
  let isDestroyed = false;
  duck.addDestroyHook('pool', () => (isDestroyed = true));
  assert.deepEqual(processListeners(), before);
  assert.equal(Object.hasOwn(server, 'emit'), false);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${String(port)}/readyz`, { headers: { connection: 'close' } });
  assert.equal(await response.text(), 'from the program');
  await ended(duck);
  assert.equal(isDestroyed, true);
  assert.equal(server.listening, true);
  server.close();
  await once(server, 'close');
});

test('an unknown LAMEDUCK_ variable causes one warning, which is logged after the start', async (context) => {
  variable(context, 'LAMEDUCK_SHUTDOWN_SIGNAL', 'SIGQUIT');
  const lines: string[] = [];
  const logger: Logger = {
    ...quiet,
    info: (_details, message) => lines.push(message),
    warn: (_details, message) => lines.push(message),
  };
  const duck = lameduck([], { logger });
  await duck.signals.hasBeenReady.signaled;
  await ended(duck);
  const started = lines.findIndex((line) => line.startsWith('lifecycle started: terminationGracePeriodSeconds 30s'));
  const warned = 'unknown variable LAMEDUCK_SHUTDOWN_SIGNAL; the nearest is LAMEDUCK_SHUTDOWN_SIGNALS';
  assert.ok(started !== -1 && lines.indexOf(warned) > started, lines.join('\n'));
  assert.equal(lines.filter((line) => line === warned).length, 1);
});

for (const options of [null, 5, 'text', [], Promise.resolve({}), new Map()]) {
  test(`options of the type ${Object.prototype.toString.call(options)} are rejected`, () => {
    assert.throws(() => lameduck(createServer(), options as never), { code: 'LAMEDUCK_ERR_OPTIONS_INVALID' });
  });
}

test('an ambiguous value of LAMEDUCK_DISABLED is rejected', async (context) => {
  variable(context, 'LAMEDUCK_DISABLED', 'yes');
  await refused(
    'LAMEDUCK_ERR_SETTINGS_INVALID',
    createServer(),
    {},
    /LAMEDUCK_DISABLED: "yes": expected 1, 0, true or false/,
  );
});

test('with LAMEDUCK_DISABLED=1, lameduck accepts the same options and hooks as without this variable', async (context) => {
  variable(context, 'LAMEDUCK_DISABLED', '1');
  const duck = lameduck(createServer(), { terminationGracePeriodSeconds: 120 });
  duck.addPreShutdownHook('slow', () => undefined, { timeout: '60s' });
  await ended(duck);
});
