import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDetails } from '../../src/observers/start-line.ts';
import { version } from '../../src/version.ts';

const bytesOf = (details: object): number => JSON.stringify(details).length;
const many = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `10.0.0.1:${String(8_000 + index)}`);

test('if all settings fit into the start line of the log, the line has no field settingsOmitted', () => {
  const report = { addresses: ['[::]:80'], settings: { goawayChance: '0.01 (env)' } };
  assert.deepEqual(startDetails(report, bytesOf), { version, ...report });
});

test('a setting that does not fit into the start line of the log is only counted in settingsOmitted; the shorter settings after it are still shown', () => {
  const settings = { readinessPaths: `/${'a'.repeat(600)} (env)`, goawayChance: '0.01 (env)' };
  assert.deepEqual(startDetails({ addresses: [], settings }, bytesOf), {
    version,
    addresses: [],
    settings: { goawayChance: '0.01 (env)' },
    settingsOmitted: 1,
  });
});

test('the start line of the log counts the addresses that do not fit into the line', () => {
  const details = startDetails(
    { addresses: many(100), settings: { readinessPaths: `/${'a'.repeat(60)} (code)` } },
    bytesOf,
  ) as {
    readonly addresses: readonly string[];
    readonly addressesOmitted: number;
    readonly settingsOmitted: number;
  };
  assert.ok(bytesOf(details) <= 600);
  assert.equal(details.addresses.length + details.addressesOmitted, 100);
  assert.equal(details.settingsOmitted, 1);
});
