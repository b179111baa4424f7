import assert from 'node:assert/strict';
import { test } from 'node:test';
import { budgetOf, checkBudget } from '../../src/settings/budget.ts';
import { completeSettings } from '../../src/settings/complete.ts';
import type { Settings, SettingsOptions } from '../../src/settings/table.ts';

function settingsOf(options: SettingsOptions): Settings {
  return completeSettings(options, {}).settings;
}

const pod = {
  terminationGracePeriodSeconds: 30,
  preStopSeconds: 5,
  shutdownDelayDuration: '10s',
  destroyHookTimeout: '3s',
};

test('P-075 the budget is the grace period without preStop and 2 s, and the drain is what delay and hooks leave of it', () => {
  const { total, drain } = budgetOf(settingsOf(pod), 0);
  assert.equal(total, 23_000);
  assert.equal(drain, 10_000);
});

test('P-075 the longer of the delay and the longest pre-shutdown hook counts, since they run beside each other', () => {
  assert.equal(budgetOf(settingsOf(pod), 9_000).drain, 10_000);
  assert.equal(budgetOf(settingsOf(pod), 12_500).drain, 7_500);
});

test('P-075 the sum is written with the name and the value of each part', () => {
  assert.equal(
    budgetOf(settingsOf(pod), 12_500).sum,
    'terminationGracePeriodSeconds 30s - preStopSeconds 5s - margin 2s = budget 23s;' +
      ' - max(shutdownDelayDuration 10s, pre-shutdown hooks 12.5s) - destroyHookTimeout 3s = drain 7.5s',
  );
});

test('P-075 a drain of 1 s is accepted and one of 999 ms is refused, with the sum', () => {
  const enough = budgetOf(settingsOf({ shutdownDelayDuration: 24_000 }), 0);
  checkBudget(enough);
  const short = budgetOf(settingsOf({ shutdownDelayDuration: 24_001 }), 0);
  assert.equal(short.drain, 999);
  assert.throws(
    () => {
      checkBudget(short);
    },
    {
      code: 'LAMEDUCK_ERR_BUDGET_TOO_SHORT',
      message: `requests in flight would have 999ms, and need at least 1s: ${short.sum}`,
    },
  );
});

test('P-075 a grace period that preStop uses up is refused with a negative drain', () => {
  const budget = budgetOf(settingsOf({ terminationGracePeriodSeconds: 5, preStopSeconds: 10 }), 0);
  assert.equal(budget.total, -7_000);
  assert.throws(
    () => {
      checkBudget(budget);
    },
    { message: /would have -10s.* = budget -7s;.* = drain -10s$/ },
  );
});
