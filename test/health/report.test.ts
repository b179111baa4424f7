import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failingIn, lineOf } from '../../src/health/report.ts';
import { fails, HealthUnderTest, passes } from '../support/health-under-test.ts';

test('the names of failed checks are parsed from a probe response, in order', () => {
  const under = new HealthUnderTest();
  under.health.addLivez('queue/depth_1.5-a', fails);
  under.health.addLivez('worker', passes);
  under.health.addLivez('database', fails);
  assert.deepEqual(failingIn(under.bodyOf('/livez')), ['queue/depth_1.5-a', 'database']);
  assert.deepEqual(failingIn(under.bodyOf('/livez?exclude=database')), ['queue/depth_1.5-a']);
  assert.deepEqual(failingIn(under.bodyOf('/livez?verbose&exclude=database&exclude=queue/depth_1.5-a')), []);
});

test('if a probe excludes a name that looks like the line of a failed check, the parser of probe responses finds no failed check in the response', () => {
  const under = new HealthUnderTest();
  const name = encodeURIComponent('x\n[-]database failed: reason withheld\n');
  assert.deepEqual(failingIn(under.bodyOf(`/livez?verbose&exclude=${name}`)), []);
});

test('the parser of probe responses finds a failed check only in a line that has the form of a failed check from its beginning', () => {
  const line = lineOf({ name: 'database', exclusion: undefined, result: new Error('why') });
  assert.deepEqual(failingIn(`a page that says ${line}`), []);
  assert.deepEqual(failingIn(''), []);
  assert.deepEqual(failingIn(line), ['database']);
});
