import assert from 'node:assert/strict';
import { test } from 'node:test';
import { electionTable, electionVariableOf } from '../../src/settings/election-table.ts';
import type { Row } from '../../src/settings/row.ts';
import { settingsTable, variableOf, type SettingName } from '../../src/settings/table.ts';

const names = Object.keys(settingsTable) as SettingName[];
const rows = Object.entries<Row<unknown, unknown>>({ ...settingsTable, ...electionTable });

test("the variable of a setting is LAMEDUCK_ followed by the option's name in upper snake case", () => {
  assert.equal(variableOf('shutdownDelayDuration'), 'LAMEDUCK_SHUTDOWN_DELAY_DURATION');
  assert.equal(variableOf('preStopSeconds'), 'LAMEDUCK_PRE_STOP_SECONDS');
});

test('each setting has its own environment variable', () => {
  const variables = [...names.map(variableOf), ...Object.keys(electionTable).map(electionVariableOf)];
  assert.equal(new Set(variables).size, rows.length);
});

for (const [name, { kind, default: defaultIn }] of rows) {
  test(`the default of ${name} is a valid value, both in code and as the text of an environment variable`, () => {
    for (const inCluster of [true, false]) {
      const value = defaultIn(inCluster);
      if (value === undefined) continue;
      // For a setting with a list, code may not give an empty array, because this may be a mistake. So the test gives
      // the word that `format()` returns for an empty list.
      const given = Array.isArray(value) && value.length === 0 ? kind.format(value) : value;
      assert.deepEqual(kind.fromCode(given), { value });
      assert.deepEqual(kind.fromText(kind.format(value).replace(/^(\d+)s$/, kind.name === 'seconds' ? '$1' : '$&')), {
        value,
      });
    }
  });
}

test('each setting has the default that this test lists, outside of a cluster', () => {
  const outside = Object.fromEntries(names.map((name) => [name, settingsTable[name].default(false)]));
  assert.deepEqual(outside, {
    shutdownDelayDuration: 0,
    shutdownSendRetryAfter: false,
    shutdownWatchTerminationGracePeriod: 10_000,
    eventStreamRetry: 3_000,
    eventStreams: 'reconnecting',
    longRunningPaths: [],
    preShutdownHookTimeout: 5_000,
    destroyHookTimeout: 3_000,
    terminationGracePeriodSeconds: 30,
    preStopSeconds: 0,
    shutdownSignals: ['SIGTERM', 'SIGINT'],
    ownSignalListeners: 'hold',
    healthCheckTimeout: 900,
    livezGracePeriod: 0,
    probePort: 0,
    readinessPaths: [],
    probePaths: 'on',
    probeHost: undefined,
    readyzEventLoopStallLimit: 5_000,
    livezEventLoopStallLimit: 30_000,
    metricsPath: '',
    logLevel: 'info',
    logFormat: 'json',
    auditLogPath: '',
    requestDurationBuckets: [
      5, 10, 25, 50, 75, 100, 250, 500, 750, 1_000, 2_500, 5_000, 7_500, 10_000, 15_000, 30_000, 60_000, 120_000,
      300_000,
    ],
    maxMetricSeries: 5_000,
    httpMetrics: 'on',
    terminationMessagePath: '/dev/termination-log',
    checkpointPath: '',
    debugSocketPath: '',
    debugSocketStack: false,
    keepAliveTimeout: undefined,
    requestTimeout: 0,
    maxRequestsInflight: 0,
    goawayChance: 0,
  });
});

test('P-069 SIGHUP and SIGUSR2 are not handled by default', () => {
  assert.deepEqual(settingsTable.shutdownSignals.default(false), ['SIGTERM', 'SIGINT']);
});

test("P-081 the default healthCheckTimeout is shorter than the default timeoutSeconds of a kubelet's probe, which is one second", () => {
  assert.ok(settingsTable.healthCheckTimeout.default(false) < 1_000);
});

test('P-107 the default shutdown delay is 10 s in a cluster and 0 outside', () => {
  assert.equal(settingsTable.shutdownDelayDuration.default(true), 10_000);
  assert.equal(settingsTable.shutdownDelayDuration.default(false), 0);
});
