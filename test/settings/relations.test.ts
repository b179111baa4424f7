import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainBudget } from '../../src/settings/budget.ts';
import { completeSettings } from '../../src/settings/complete.ts';
import { relationWarnings } from '../../src/settings/relations.ts';
import type { SettingsOptions } from '../../src/settings/table.ts';

function warningsOf(options: SettingsOptions, { environment = {}, longestHook = 0 } = {}): string[] {
  const { settings, sources } = completeSettings(options, environment);
  return relationWarnings(settings, sources, explainBudget(settings, longestHook, sources));
}

test('the default settings cause no warning, in a cluster and outside of it', () => {
  assert.deepEqual(warningsOf({}), []);
  assert.deepEqual(warningsOf({}, { environment: { KUBERNETES_SERVICE_HOST: '10.96.0.1' } }), []);
});

test('P-075 a requestTimeout that is longer than the time for the drain causes one warning, with both values, their sources and the sum of the shutdown budget', () => {
  assert.deepEqual(warningsOf({ requestTimeout: '25s' }), []);
  const [warning = '', ...others] = warningsOf(
    { preStopSeconds: 5 },
    { environment: { LAMEDUCK_REQUEST_TIMEOUT: '25s' } },
  );
  assert.deepEqual(others, []);
  assert.match(warning, /^requestTimeout 25s \(LAMEDUCK_REQUEST_TIMEOUT\) is longer than the time limit of the drain/);
  assert.match(warning, /preStopSeconds 5s \(code\).* = drain 20s$/);
});

test('P-075 the warning that requestTimeout is longer than the drain subtracts the time limit of the longest registered hook from the drain', () => {
  assert.deepEqual(warningsOf({ requestTimeout: '15s' }, { longestHook: 10_000 }), []);
  assert.match(warningsOf({ requestTimeout: '15s' }, { longestHook: 10_001 })[0] ?? '', /= drain 14\.999s$/);
});

test('A-140 if the grace period for long-running requests is longer than the drain, the time limit of the drain applies. A warning reports this, except if the grace period is the default', () => {
  const short = { terminationGracePeriodSeconds: 10 };
  assert.deepEqual(warningsOf(short), []);
  assert.deepEqual(warningsOf({ shutdownWatchTerminationGracePeriod: '25s' }), []);
  const [warning = '', ...others] = warningsOf({ ...short, shutdownWatchTerminationGracePeriod: '10s' });
  assert.deepEqual(others, []);
  assert.match(
    warning,
    /^shutdownWatchTerminationGracePeriod 10s \(code\) .* the drain ends long-running requests when the time limit of the drain is reached: .* = drain 5s$/,
  );
});

test('P-090 a livez stall limit that is shorter than the readyz stall limit causes one warning, unless the livez stall limit is off', () => {
  assert.deepEqual(warningsOf({ livezEventLoopStallLimit: '5s' }), []);
  assert.deepEqual(warningsOf({ livezEventLoopStallLimit: '0s' }), []);
  assert.match(
    warningsOf({ livezEventLoopStallLimit: '4s' })[0] ?? '',
    /^livezEventLoopStallLimit 4s \(code\) is shorter than readyzEventLoopStallLimit 5s \(default\): /,
  );
});

test("P-081 a healthCheckTimeout that is not shorter than a probe's default timeout of one second causes one warning", () => {
  assert.deepEqual(warningsOf({ healthCheckTimeout: 999 }), []);
  assert.match(
    warningsOf({ healthCheckTimeout: '1s' })[0] ?? '',
    /^healthCheckTimeout 1s \(code\) is not shorter than 1s/,
  );
});
