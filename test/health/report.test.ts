import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failingIn, lineOf } from '../../src/health/report.ts';
import { fails, HealthUnderTest, passes } from '../support/health-under-test.ts';

test('the parser of probe responses returns the names of failed checks in the order of the response', () => {
  const under = new HealthUnderTest();
  under.health.addLivez('queue/depth_1.5-a', fails);
  under.health.addLivez('worker', passes);
  under.health.addLivez('database', fails);
  assert.deepEqual(failingIn(under.bodyOf('/livez')), ['queue/depth_1.5-a', 'database']);
  assert.deepEqual(failingIn(under.bodyOf('/livez?exclude=database')), ['queue/depth_1.5-a']);
  assert.deepEqual(failingIn(under.bodyOf('/livez?verbose&exclude=database&exclude=queue/depth_1.5-a')), []);
});

test('if the query parameter exclude of a probe contains a line such as "[-]database failed", the parser of probe responses finds no failed check in the response', () => {
  const under = new HealthUnderTest();
  const name = encodeURIComponent('x\n[-]database failed: reason withheld\n');
  assert.deepEqual(failingIn(under.bodyOf(`/livez?verbose&exclude=${name}`)), []);
});

test('the parser of probe responses finds a failed check only at the beginning of a line, not in the middle of a line', () => {
  const line = lineOf({ name: 'database', exclusion: undefined, result: new Error('why') });
  assert.deepEqual(failingIn(`a page that says ${line}`), []);
  assert.deepEqual(failingIn(''), []);
  assert.deepEqual(failingIn(line), ['database']);
});
