import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDisabled, isServiceLink, nearest, unknownVariables } from '../../src/settings/environment.ts';
import { lameduckServiceLinks } from '../support/service-links.ts';

const known = ['LAMEDUCK_SHUTDOWN_DELAY_DURATION', 'LAMEDUCK_PRE_STOP_SECONDS', 'LAMEDUCK_SHUTDOWN_SIGNALS'];

test('P-121 every variable that Kubernetes sets for a Service named lameduck is recognized as a service link', () => {
  for (const [name, value] of Object.entries(lameduckServiceLinks)) assert.ok(isServiceLink(name, value), name);
  assert.deepEqual(unknownVariables(lameduckServiceLinks, known), []);
});

test('P-121 a variable that has the name of a setting and the value of a service link is recognized as a service link', () => {
  assert.equal(isServiceLink('LAMEDUCK_PROBE_PORT', 'tcp://10.96.0.7:8081'), true);
  assert.equal(isServiceLink('LAMEDUCK_PROBE_PORT', 'udp://10.96.0.7:53'), true);
  assert.equal(isServiceLink('LAMEDUCK_PROBE_PORT', '8081'), false);
});

test('the variable of a setting is never recognized as a service link if no service link can have its name', () => {
  for (const name of known) assert.equal(isServiceLink(name, 'tcp://10.96.0.7:80'), false, name);
});

test('an unknown LAMEDUCK_ variable causes one warning with the nearest name', () => {
  const environment = { LAMEDUCK_SHUTDOWN_DELAY: '5s', LAMEDUCK_PRESTOP_SECONDS: '5', PATH: '/bin' };
  assert.deepEqual(unknownVariables(environment, known), [
    'unknown variable LAMEDUCK_SHUTDOWN_DELAY; the nearest is LAMEDUCK_SHUTDOWN_DELAY_DURATION',
    'unknown variable LAMEDUCK_PRESTOP_SECONDS; the nearest is LAMEDUCK_PRE_STOP_SECONDS',
  ]);
});

test('a variable whose name has the wrong letter case has no effect; lameduck warns, unless the variable with the correct name has the same value', () => {
  const other = { lameduck_pre_stop_seconds: '5', Lameduck_Disabled: '1', LAMEDUCK_SHUTDOWN_SIGNALs: 'SIGTERM' };
  assert.deepEqual(unknownVariables(other, known), [
    'unknown variable lameduck_pre_stop_seconds; the nearest is LAMEDUCK_PRE_STOP_SECONDS',
    'unknown variable Lameduck_Disabled; the nearest is LAMEDUCK_DISABLED',
    'unknown variable LAMEDUCK_SHUTDOWN_SIGNALs; the nearest is LAMEDUCK_SHUTDOWN_SIGNALS',
  ]);
  // On Windows, a program finds a variable whatever the letter case of its name.
  assert.deepEqual(unknownVariables({ ...other, LAMEDUCK_PRE_STOP_SECONDS: '5' }, known).length, 2);
  assert.deepEqual(unknownVariables({ ...other, LAMEDUCK_PRE_STOP_SECONDS: '6' }, known).length, 3);
});

test('the warning about an unknown variable quotes its name on one line of limited length, and is computed in limited time', () => {
  const names = [`LAMEDUCK_${'X'.repeat(100_000)}`, 'LAMEDUCK_PRE\nSTOP', 'LAMEDUCK_ÜBER', 'LAMEDUCK_'];
  const begun = process.cpuUsage();
  const warnings = unknownVariables(Object.fromEntries(names.map((name) => [name, ''])), known);
  const { user, system } = process.cpuUsage(begun);
  assert.ok(user + system < 1_000_000, `the warning took ${String(user + system)} µs of CPU time`);
  assert.equal(warnings.length, names.length);
  for (const warning of warnings) assert.match(warning, /^.{1,300}$/);
});

test('LAMEDUCK_DISABLED is a known variable, and only 1 and true disable lameduck', () => {
  assert.deepEqual(unknownVariables({ LAMEDUCK_DISABLED: '1' }, known), []);
  assert.equal(isDisabled({ LAMEDUCK_DISABLED: '1' }), true);
  assert.equal(isDisabled({ LAMEDUCK_DISABLED: 'true' }), true);
  assert.equal(isDisabled({ LAMEDUCK_DISABLED: '0' }), false);
  assert.equal(isDisabled({ LAMEDUCK_DISABLED: '' }), false);
  assert.equal(isDisabled({}), false);
  assert.equal(isDisabled({ LAMEDUCK_DISABLED: ' TRUE ' }), true);
  assert.equal(isDisabled({ LAMEDUCK_DISABLED: 'yes' }), undefined);
});

test('for an unknown name, a warning proposes a known name that differs from the unknown name in few letters, or that begins with the unknown name', () => {
  assert.equal(nearest('shutdownSignal', ['shutdownSignals', 'shutdownDelay']), 'shutdownSignals');
  assert.equal(nearest('SHUTDOWNSIGNALS', ['shutdownSignals']), 'shutdownSignals');
  assert.equal(nearest('shutdownDelay', ['shutdownSignals', 'shutdownDelayDuration']), 'shutdownDelayDuration');
  assert.equal(nearest('port', ['shutdownSignals', 'preStopSeconds']), undefined);
  assert.equal(nearest('', ['a']), undefined);
  assert.equal(nearest('a', []), undefined);
});
