import assert from 'node:assert/strict';
import { test } from 'node:test';
import { budgetOf, checkBudget, explainBudget, type ExplainedBudget } from '../../src/settings/budget.ts';
import { completeSettings } from '../../src/settings/complete.ts';
import type { Settings, SettingsOptions } from '../../src/settings/table.ts';

function settingsOf(options: SettingsOptions): Settings {
  return completeSettings(options, {}).settings;
}

function explained(options: SettingsOptions, longestHook = 0, environment = {}): ExplainedBudget {
  const { settings, sources } = completeSettings(options, environment);
  return explainBudget(settings, longestHook, sources);
}

const pod = {
  terminationGracePeriodSeconds: 30,
  preStopSeconds: 5,
  shutdownDelayDuration: '10s',
  destroyHookTimeout: '3s',
};

test('P-075 the shutdown budget is the grace period of the pod minus preStop and 2 s, and the time for the drain is the shutdown budget minus the shutdown delay and the hooks', () => {
  assert.deepEqual(budgetOf(settingsOf(pod), 0), { total: 23_000, drain: 10_000 });
});

test('P-075 the shutdown delay and the pre-shutdown hooks run in parallel, so only the longest of them counts in the shutdown budget', () => {
  assert.equal(budgetOf(settingsOf(pod), 9_000).drain, 10_000);
  assert.equal(budgetOf(settingsOf(pod), 12_500).drain, 7_500);
});

test('P-075 the shutdown budget is printed as a sum, with the name, value and source of each part', () => {
  const environment = { KUBERNETES_SERVICE_HOST: '10.96.0.1', LAMEDUCK_PRE_STOP_SECONDS: '5' };
  assert.equal(
    explained({ destroyHookTimeout: '3s' }, 12_500, environment).sum,
    'terminationGracePeriodSeconds 30s (default) - preStopSeconds 5s (LAMEDUCK_PRE_STOP_SECONDS) - margin 2s = budget 23s;' +
      ' budget - max(shutdownDelayDuration 10s (default), pre-shutdown hooks 12.5s) - destroyHookTimeout 3s (code) = drain 7.5s',
  );
});

test('P-075 a shutdown budget with a drain of 1 s is accepted, and one with a drain of 999 ms is rejected with the sum of the budget', () => {
  checkBudget(explained({ shutdownDelayDuration: 24_000 }));
  const short = explained({ shutdownDelayDuration: 24_001 });
  assert.equal(short.drain, 999);
  assert.throws(
    () => {
      checkBudget(short);
    },
    {
      code: 'LAMEDUCK_ERR_BUDGET_TOO_SHORT',
      message: `the drain would get 999ms, expected at least 1s: ${short.sum}`,
    },
  );
});

for (const preStopSeconds of [5, 10]) {
  test(`P-075, K-084 with a grace period of 5 s and a preStop of ${String(preStopSeconds)} s, the settings are invalid: the shutdown budget is 1 s, and the default time limit of the destroy hooks leaves no time for the drain`, () => {
    const budget = explained({ terminationGracePeriodSeconds: 5, preStopSeconds });
    assert.equal(budget.total, 1_000);
    assert.throws(
      () => {
        checkBudget(budget);
      },
      { message: /would get -2s.* - margin -?\d+s = budget 1s;.* = drain -2s$/ },
    );
  });
}

test('P-075, K-084 the shutdown budget is at least 1 s, because the kubelet leaves at least 2 s between SIGTERM and SIGKILL', () => {
  for (const [terminationGracePeriodSeconds, preStopSeconds, margin] of [
    [1, 0, '0s'],
    [2, 0, '1s'],
    [5, 10, '-6s'],
  ] as const) {
    const { settings, sources } = completeSettings({ terminationGracePeriodSeconds, preStopSeconds }, {});
    const budget = explainBudget({ ...settings, destroyHookTimeout: 0 }, 0, sources);
    checkBudget(budget);
    assert.match(budget.sum, new RegExp(` - margin ${margin} = budget 1s;.* = drain 1s$`));
  }
});
