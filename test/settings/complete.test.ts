import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLameduckError } from '../../src/errors.ts';
import { completeSettings } from '../../src/settings/complete.ts';
import { functionAllowed } from '../../src/settings/kinds.ts';
import type { SettingsOptions } from '../../src/settings/table.ts';
import { lameduckServiceLinks } from '../support/service-links.ts';

function problems(options: object, environment: Record<string, string> = {}): string[] {
  try {
    completeSettings(options, environment);
  } catch (error) {
    assert.ok(isLameduckError(error));
    assert.equal(error.code, 'LAMEDUCK_ERR_SETTINGS_INVALID');
    return error.message.split('\n  ').slice(1);
  }
  throw new Error('nothing was refused');
}

test('environment variables override options in code, options in code override defaults, and `sources` names where each value comes from', () => {
  const { settings, sources } = completeSettings(
    { shutdownDelayDuration: '1s', destroyHookTimeout: '1s' },
    { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '2s' },
  );
  assert.equal(settings.shutdownDelayDuration, 2_000);
  assert.equal(sources.shutdownDelayDuration, 'LAMEDUCK_SHUTDOWN_DELAY_DURATION');
  assert.equal(settings.destroyHookTimeout, 1_000);
  assert.equal(sources.destroyHookTimeout, 'code');
  assert.equal(settings.preShutdownHookTimeout, 5_000);
  assert.equal(sources.preShutdownHookTimeout, 'default');
});

test('an empty variable counts as not set, and an option that is undefined as not given', () => {
  const { settings, sources } = completeSettings(
    { preShutdownHookTimeout: undefined, destroyHookTimeout: 7 },
    { LAMEDUCK_DESTROY_HOOK_TIMEOUT: '', LAMEDUCK_PRE_STOP_SECONDS: ' ' },
  );
  assert.equal(settings.destroyHookTimeout, 7);
  assert.deepEqual(
    [sources.destroyHookTimeout, sources.preStopSeconds, sources.preShutdownHookTimeout],
    ['code', 'default', 'default'],
  );
});

test('white space around the value of a variable is ignored', () => {
  assert.equal(completeSettings({}, { LAMEDUCK_PRE_STOP_SECONDS: ' 5\n' }).settings.preStopSeconds, 5);
});

test('an option with the value 0 or false keeps this value, and does not get its default', () => {
  const given = { shutdownDelayDuration: 0, terminationGracePeriodSeconds: 0, shutdownSendRetryAfter: false };
  const inCluster = { KUBERNETES_SERVICE_HOST: '10.96.0.1' };
  const { settings, sources } = completeSettings(given, inCluster);
  assert.equal(settings.shutdownDelayDuration, 0);
  assert.equal(settings.terminationGracePeriodSeconds, 0);
  assert.equal(sources.shutdownSendRetryAfter, 'code');
  assert.equal(
    completeSettings({}, { ...inCluster, LAMEDUCK_SHUTDOWN_DELAY_DURATION: '0' }).settings.shutdownDelayDuration,
    0,
  );
});

test('a duration that is a number in code is in milliseconds', () => {
  assert.equal(completeSettings({ shutdownDelayDuration: 10 }, {}).settings.shutdownDelayDuration, 10);
});

test('P-107 the shutdown delay is 10 s by default in a cluster and 0 outside of it, and can be overridden', () => {
  const inCluster = { KUBERNETES_SERVICE_HOST: '10.96.0.1' };
  assert.equal(completeSettings({}, inCluster).settings.shutdownDelayDuration, 10_000);
  assert.equal(completeSettings({}, {}).settings.shutdownDelayDuration, 0);
  assert.equal(completeSettings({}, { KUBERNETES_SERVICE_HOST: '' }).settings.shutdownDelayDuration, 0);
  assert.equal(completeSettings({ shutdownDelayDuration: '3s' }, inCluster).settings.shutdownDelayDuration, 3_000);
});

test('all invalid settings are in one error, each with its name, value, source and rule', () => {
  const options = { shutdownDelayDuration: -1, healthCheckTimeout: 'soon', shutdownSendRetryAfter: 'yes', dely: 1 };
  const environment = {
    LAMEDUCK_DESTROY_HOOK_TIMEOUT: '10',
    LAMEDUCK_SHUTDOWN_SIGNALS: 'SIGKILL',
    LAMEDUCK_DISABLED: 'perhaps',
  };
  assert.deepEqual(problems(options, environment), [
    'shutdownDelayDuration: -1 from code: expected a duration such as 15s or 1m30s, from 0s to 596h',
    'shutdownSendRetryAfter: "yes" from code: expected true or false',
    'destroyHookTimeout: "10" from LAMEDUCK_DESTROY_HOOK_TIMEOUT: expected a duration with its unit; did you mean 10s?',
    'shutdownSignals: "SIGKILL" from LAMEDUCK_SHUTDOWN_SIGNALS: expected one or more of the process signals that a program can catch, such as SIGTERM,SIGINT',
    'healthCheckTimeout: "soon" from code: expected a duration such as 15s or 1m30s, from 1ms to 596h',
    'dely from code: unknown option',
    'LAMEDUCK_DISABLED: "perhaps": expected 1, 0, true or false',
  ]);
});

test('an unknown option is rejected, and the error proposes the nearest known name', () => {
  assert.deepEqual(problems({ shutdownDelay: '5s', ShutdownSignals: 'SIGTERM' }), [
    'shutdownDelay from code: unknown option; the nearest is shutdownDelayDuration',
    'ShutdownSignals from code: unknown option; the nearest is shutdownSignals',
  ]);
});

test('an option whose value is null counts as given, and is rejected', () => {
  assert.match(problems({ shutdownDelayDuration: null })[0] ?? '', /^shutdownDelayDuration: null from code: /);
});

test('an invalid environment variable is rejected even if the code sets the same setting to a valid value', () => {
  assert.equal(problems({ preStopSeconds: 1 }, { LAMEDUCK_PRE_STOP_SECONDS: '1s' }).length, 1);
});

test('a number of milliseconds that was probably meant in seconds causes a warning, which shows the value to write instead', () => {
  const { warnings } = completeSettings({ shutdownDelayDuration: 10, healthCheckTimeout: 900, preStopSeconds: 5 }, {});
  assert.deepEqual(warnings, [
    'shutdownDelayDuration: 10 from code is 10ms, because a number means milliseconds; did you mean "10s"?',
  ]);
  const others = { shutdownDelayDuration: '10ms', livezGracePeriod: 0, keepAliveTimeout: 61 };
  assert.deepEqual(completeSettings(others, {}).warnings, []);
});

test('an unknown LAMEDUCK_ variable causes one warning, and is not rejected', () => {
  const { warnings } = completeSettings({}, { LAMEDUCK_SHUTDOWN_SIGNAL: 'SIGQUIT' });
  assert.deepEqual(warnings, ['unknown variable LAMEDUCK_SHUTDOWN_SIGNAL; the nearest is LAMEDUCK_SHUTDOWN_SIGNALS']);
});

test('P-121 the variables of a Service named lameduck are neither read nor reported', () => {
  assert.deepEqual(completeSettings({}, lameduckServiceLinks), completeSettings({}, {}));
});

interface GivenFunctions {
  readonly route?: unknown;
  readonly logger?: unknown;
}

test('options that are functions can be given only in code: one error lists all invalid options, and an environment variable with the name of a function option is unknown', () => {
  const functions = { route: functionAllowed, logger: (given: unknown) => (given === 5 ? 'a logger' : undefined) };
  const options = { route: '/orders', logger: 5, preStopSeconds: -1, rout: 1 };
  assert.throws(
    () => completeSettings<GivenFunctions>(options, { LAMEDUCK_ROUTE: '/' }, functions),
    ({ message }: Error) => {
      assert.deepEqual(message.split('\n  ').slice(1), [
        'preStopSeconds: -1 from code: expected a whole number of seconds from 0 to 2000000',
        'route: "/orders" from code: expected a function',
        'logger: 5 from code: expected a logger',
        'rout from code: unknown option; the nearest is route',
      ]);
      return true;
    },
  );
  const route = (): string => '/';
  const completed = completeSettings<GivenFunctions>({ route }, { LAMEDUCK_ROUTE: '/' }, functions);
  assert.deepEqual(completed.functions, { route });
  assert.deepEqual(completed.warnings, ['unknown variable LAMEDUCK_ROUTE']);
});

test('lameduck does not change the options object of the caller, and the completed settings are frozen', () => {
  const options: SettingsOptions = Object.freeze({ shutdownDelayDuration: '1s', shutdownSignals: 'SIGTERM' });
  const { settings, sources } = completeSettings(options, {});
  assert.deepEqual(options, { shutdownDelayDuration: '1s', shutdownSignals: 'SIGTERM' });
  assert.ok(Object.isFrozen(settings));
  assert.ok(Object.isFrozen(sources));
});
