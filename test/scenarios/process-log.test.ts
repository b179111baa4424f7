// Tests how the log settings change the log lines of a program. Also tests the start line of the log of a program that
// sets every setting.
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { settingsTable, variableOf, type SettingName } from '../../src/settings/table.ts';
import { inspect, socketPath } from '../support/debug-socket.ts';
import { disposed } from '../support/disposed.ts';
import { registered } from '../support/under-register.ts';
import { probe } from '../support/probe-client.ts';
import { reservePort } from '../support/reserved-port.ts';
import { ProcessUnderTest, type Line } from '../support/process-under-test.ts';

const endedWell = { code: 0, signal: null };

/**
 * Starts a fixture and waits until its probe port reports it ready. With some log settings, no log line says that the
 * fixture is ready.
 */
async function probed(
  t: TestContext,
  fixture: string,
  env: Readonly<Record<string, string>>,
): Promise<ProcessUnderTest> {
  const port = await reservePort();
  const program = disposed(t, new ProcessUnderTest(fixture, { ...env, LAMEDUCK_PROBE_PORT: String(port) }));
  await program.port();
  const isReady = async (): Promise<boolean> => {
    try {
      return (await probe(port, '/readyz')).status === 200;
    } catch {
      return false;
    }
  };
  while (!(await isReady())) await setTimeout(10);
  return program;
}

/** Starts a program, ends it with SIGTERM, requires a clean exit, and returns the log lines of lameduck. */
async function linesOf(t: TestContext, env: Readonly<Record<string, string>>): Promise<readonly Line[]> {
  const program = await probed(t, 'knows-nothing.ts', registered(env));
  program.kill('SIGTERM');
  assert.deepEqual(await program.exit, endedWell, program.output);
  assert.equal(program.stderr, '');
  return program.lines.filter(({ msg }) => msg !== 'listening');
}

const isFinal = ({ schema }: Line): boolean => schema === 'lameduck/shutdown/v1';

// The grace period and the time limits of the hooks are short, because the tests of this file check only log lines.
const shortBudget = {
  LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '4',
  LAMEDUCK_PRE_SHUTDOWN_HOOK_TIMEOUT: '500ms',
  LAMEDUCK_DESTROY_HOOK_TIMEOUT: '500ms',
};

describe('lameduck logs at the level and in the format that the settings select', { concurrency: 4 }, () => {
  test('P-101 with LAMEDUCK_LOG_LEVEL=silent, lameduck/register writes no log line', async (t) => {
    assert.deepEqual(await linesOf(t, { LAMEDUCK_LOG_LEVEL: 'silent', LAMEDUCK_DELAY: '1s' }), []);
  });

  test('P-101 with LAMEDUCK_LOG_LEVEL=error, a process without errors logs only its final log line', async (t) => {
    const lines = await linesOf(t, { LAMEDUCK_LOG_LEVEL: 'error', LAMEDUCK_DELAY: '1s' });
    assert.deepEqual(lines.map(isFinal), [true]);
  });

  test('P-101 with LAMEDUCK_LOG_LEVEL=warn, a process logs only its warnings and the final log line', async (t) => {
    const lines = await linesOf(t, { LAMEDUCK_LOG_LEVEL: 'warn', LAMEDUCK_DELAY: '1s' });
    assert.deepEqual(
      lines.map(({ level, msg }) => [level, msg]),
      [
        [40, 'unknown variable LAMEDUCK_DELAY'],
        [30, 'shutdown ended'],
      ],
    );
  });

  test('P-101 with LAMEDUCK_LOG_LEVEL=debug, each hook logs a line with its duration when it ends', async (t) => {
    const program = disposed(t, new ProcessUnderTest('fails-in-its-hooks.ts', { LAMEDUCK_LOG_LEVEL: 'debug' }));
    await program.signaled('HasBeenReady');
    program.kill('SIGTERM');
    await program.exit;
    const ends = program.lines.filter(({ msg }) => msg === 'hook ended');
    assert.equal(ends.length, 10);
    const { level, kind, durationMs } = ends.find(({ name }) => name === 'last') ?? {};
    assert.deepEqual([level, kind, typeof durationMs], [20, 'destroy', 'number']);
  });

  test('P-101 LAMEDUCK_LOG_FORMAT=gcp writes severity, message and time in the form that Google Cloud reads', async (t) => {
    const lines = await linesOf(t, { LAMEDUCK_LOG_FORMAT: 'gcp', LAMEDUCK_DELAY: '1s' });
    assert.ok(lines.length > 5, JSON.stringify(lines));
    for (const line of lines) {
      const { level, msg, severity, time, message } = line;
      assert.deepEqual([level, msg, typeof message], [undefined, undefined, 'string'], JSON.stringify(line));
      assert.equal(severity, message === 'unknown variable LAMEDUCK_DELAY' ? 'WARNING' : 'INFO');
      assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
    assert.equal(lines.filter(isFinal).length, 1);
  });

  test('P-118 the log lines of the probe thread have the same form as those of the main thread', async (t) => {
    const env = { ...shortBudget, LAMEDUCK_LOG_FORMAT: 'gcp', BLOCK_AT_DESTROY: '60000' };
    const program = await probed(t, 'blocks-for-a-while.ts', { ...env, LAMEDUCK_READYZ_EVENT_LOOP_STALL_LIMIT: '1s' });
    program.kill('SIGTERM');
    await program.exit;
    const stall = program.lines.find(({ message }) => String(message).startsWith('event loop blocked'));
    assert.deepEqual([stall?.['severity'], stall?.msg], ['WARNING', undefined]);
    const final = await program.finalLine();
    assert.deepEqual([final['severity'], final['message']], ['ERROR', 'shutdown cannot end']);
  });

  test('P-118 with the log level silent, a blocked process also ends after its shutdown budget, and logs no line', async (t) => {
    const env = { ...shortBudget, LAMEDUCK_LOG_LEVEL: 'silent', BLOCK_AT_DESTROY: '60000' };
    const program = await probed(t, 'blocks-for-a-while.ts', { ...env, LAMEDUCK_READYZ_EVENT_LOOP_STALL_LIMIT: '1s' });
    program.kill('SIGTERM');
    assert.deepEqual(await program.exit, { code: null, signal: 'SIGKILL' });
    assert.deepEqual(
      program.lines.map(({ msg }) => msg),
      ['listening'],
    );
  });
});

/** For each setting, a valid value that differs from the default of the setting. */
const values: Readonly<Record<SettingName, string>> = {
  shutdownDelayDuration: '1ms',
  shutdownSendRetryAfter: 'true',
  shutdownWatchTerminationGracePeriod: '7.5s',
  eventStreamRetry: '4s',
  eventStreams: 'all',
  longRunningPaths: '/watch,/poll',
  preShutdownHookTimeout: '6s',
  destroyHookTimeout: '4s',
  terminationGracePeriodSeconds: '600',
  preStopSeconds: '5',
  shutdownSignals: 'SIGTERM,SIGINT,SIGHUP,SIGUSR2',
  ownSignalListeners: 'run',
  healthCheckTimeout: '800ms',
  livezGracePeriod: '1m30s',
  probePort: '',
  probeHost: '127.0.0.1',
  readinessPaths: Array.from({ length: 60 }, (_, index) => `/health/${String(index)}`).join(','),
  probePaths: 'off',
  readyzEventLoopStallLimit: '6s',
  livezEventLoopStallLimit: '40s',
  logLevel: 'debug',
  logFormat: 'json',
  auditLogPath: '/dev/null',
  terminationMessagePath: '/dev/null',
  checkpointPath: '',
  debugSocketPath: '',
  debugSocketStack: 'true',
  keepAliveTimeout: '50s',
  requestTimeout: '59s',
  maxRequestsInflight: '400',
  goawayChance: '0.001',
  metricsPath: '/metrics',
  requestDurationBuckets: '100ms,1s,10s,20s',
  maxMetricSeries: '9000',
  httpMetrics: 'off',
};

test('P-107 even if every setting is set, the start line of the log has at most 600 bytes, and the debug socket reports the value of every setting', async (t) => {
  const debugSocketPath = socketPath(t);
  const own = {
    probePort: String(await reservePort()),
    debugSocketPath,
    checkpointPath: `${debugSocketPath}.checkpoint`,
  };
  const given = { ...values, ...own };
  const names = Object.keys(settingsTable) as SettingName[];
  const env = Object.fromEntries(names.map((name) => [variableOf(name), given[name]]));
  const program = disposed(t, new ProcessUnderTest('listens.ts', env));
  await program.line('the debug socket', ({ msg }) => msg === 'debug socket listens');

  const [text = ''] = program.output.split('\n').filter((line) => line.includes('"msg":"lifecycle started: '));
  assert.ok(Buffer.byteLength(`${text}\n`) <= 600, `${String(Buffer.byteLength(text))}: ${text}`);
  const { settings, settingsOmitted, msg } = JSON.parse(text) as {
    readonly settings: Readonly<Record<string, string>>;
    readonly settingsOmitted: number;
    readonly msg: string;
  };
  const inSum = names.filter((name) => msg.includes(`${name} `));
  assert.equal(inSum.length, 4);
  assert.equal(Object.keys(settings).length + settingsOmitted + inSum.length, names.length);
  for (const [name, shown] of Object.entries(settings)) assert.equal(shown, `${given[name as SettingName]} (env)`);

  const found = await inspect(debugSocketPath);
  for (const name of names) {
    const { value, source } = found.settings[name] ?? {};
    assert.deepEqual(
      [value?.replace(/^(\d+)s$/, '$1'), source],
      [given[name].replace(/^(\d+)s$/, '$1'), variableOf(name)],
    );
  }
});
