// Tests the start line of the log, and the warnings about settings that follow it.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test, type TestContext } from 'node:test';
import { lameduck, type LameduckOptions, type Logger } from '../../src/index.ts';
import { version } from '../../src/version.ts';

interface Line {
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** startLines returns the first log line of the lifecycle, and the warnings that follow this line. */
async function startLines(
  t: TestContext,
  options: LameduckOptions,
  variables: Readonly<Record<string, string>> = {},
): Promise<{ start: Line; warnings: string[] }> {
  Object.assign(process.env, variables);
  t.after(() => {
    for (const name of Object.keys(variables)) Reflect.deleteProperty(process.env, name);
  });
  const lines: Line[] = [];
  const warnings: string[] = [];
  const logger: Logger = {
    info: (details, message) => lines.push({ message, details: details as Line['details'] }),
    warn: (_details, message) => warnings.push(message),
    error: () => undefined,
  };
  const server = createServer();
  const duck = lameduck(server, { ...options, logger });
  duck.addPreShutdownHook('leave', () => undefined, { timeout: '12s' });
  server.listen(0, '127.0.0.1');
  await duck.signals.hasBeenReady.signaled;
  await duck.shutdown('end of the test');
  const start = lines.find(({ message }) => message.startsWith('lifecycle started'));
  assert.ok(start !== undefined);
  return { start, warnings };
}

test('P-075 the start line of the log has the sum of the shutdown budget, with the source of each number', async (t) => {
  const { start } = await startLines(
    t,
    { destroyHookTimeout: '2s' },
    { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '5s', LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '40' },
  );
  assert.equal(
    start.message,
    'lifecycle started: terminationGracePeriodSeconds 40s (env)' +
      ' - preStopSeconds 0s (default) - margin 2s = budget 38s;' +
      ' budget - max(shutdownDelayDuration 5s (env), pre-shutdown hooks 12s)' +
      ' - destroyHookTimeout 2s (code) = drain 24s',
  );
  assert.deepEqual(start.details['settings'], {}, 'a part of the sum must not be repeated');
});

test('P-107 the start line of the log has the version, and the value and source of each setting that is not the default', async (t) => {
  const readinessPaths = ['/health', '/ready'];
  const { start } = await startLines(t, { requestTimeout: 5_000, readinessPaths }, { LAMEDUCK_GOAWAY_CHANCE: '0.01' });
  assert.equal(start.details['version'], version);
  assert.deepEqual(start.details['settings'], {
    readinessPaths: '/health,/ready (code)',
    requestTimeout: '5s (code)',
    goawayChance: '0.01 (env)',
  });
});

test('P-107 the start line of the log marks the default delay as a default', async (t) => {
  assert.match((await startLines(t, {})).start.message, /max\(shutdownDelayDuration 0s \(default\)/);
});

test('P-075 warnings about settings that contradict each other follow the start line of the log, and also cover the time limits of the registered hooks', async (t) => {
  const options = { requestTimeout: '15s', healthCheckTimeout: '2s', shutdownWatchTerminationGracePeriod: '20s' };
  const { warnings } = await startLines(t, options, { LAMEDUCK_DELAY: '5s' });
  const ours = warnings.filter((warning) => !warning.startsWith('started '));
  assert.equal(ours.length, 4, ours.join('\n'));
  assert.match(ours[0] ?? '', /^unknown variable LAMEDUCK_DELAY$/);
  assert.match(ours[1] ?? '', /^requestTimeout 15s \(code\) .* pre-shutdown hooks 12s\) .* = drain 13s$/);
  assert.match(ours[2] ?? '', /^shutdownWatchTerminationGracePeriod 20s \(code\) /);
  assert.match(ours[3] ?? '', /^healthCheckTimeout 2s \(code\) /);
});
