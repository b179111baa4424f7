import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boolean, duration, processSignals, seconds, type Reading } from '../../src/settings/kinds.ts';

function refused(reading: Reading<unknown>): string {
  assert.ok('allowed' in reading, `read as ${JSON.stringify(reading)}`);
  return reading.allowed;
}

test('a duration in code is a Go duration or a number of milliseconds', () => {
  assert.deepEqual(duration.fromCode('15s'), { value: 15_000 });
  assert.deepEqual(duration.fromCode(250), { value: 250 });
  assert.deepEqual(duration.fromCode(0), { value: 0 });
});

test('a duration without a unit is refused in text, and the one in seconds is proposed', () => {
  assert.match(refused(duration.fromText('10')), /did you mean 10s\?/);
  assert.match(refused(duration.fromCode('10')), /did you mean 10s\?/);
  assert.match(refused(duration.fromText('1.5')), /did you mean 1\.5s\?/);
});

test('a duration that is negative, or longer than a timer can wait, is refused', () => {
  const refusedOnes = ['-1s', -1, NaN, Infinity, 2 ** 31, '597h', '1000000h'];
  for (const given of refusedOnes) assert.match(refused(duration.fromCode(given)), /from 0s to 596h/, String(given));
  assert.deepEqual(duration.fromCode(2 ** 31 - 1), { value: 2 ** 31 - 1 });
  assert.deepEqual(duration.fromText('596h'), { value: 596 * 3_600_000 });
});

test('what is neither text nor number is no duration', () => {
  for (const given of [true, null, {}, [], 10n, () => 1]) assert.match(refused(duration.fromCode(given)), /duration/);
});

test('a boolean is true or false in code, and also 1 or 0 in text', () => {
  assert.deepEqual(
    ['true', '1', 'false', '0'].map((text) => boolean.fromText(text)),
    [{ value: true }, { value: true }, { value: false }, { value: false }],
  );
  assert.deepEqual(boolean.fromCode(false), { value: false });
  for (const text of ['yes', 'TRUE', '', '2']) assert.equal(refused(boolean.fromText(text)), 'true or false');
  for (const given of ['true', 1, null]) assert.equal(refused(boolean.fromCode(given)), 'true or false');
});

test('seconds of the pod are a whole number without unit', () => {
  assert.deepEqual(seconds.fromText('30'), { value: 30 });
  assert.deepEqual(seconds.fromCode(0), { value: 0 });
  for (const text of ['30s', '-1', '1.5', '1e1', '2000001'])
    assert.match(refused(seconds.fromText(text)), /whole number/);
  for (const given of ['30', -1, 1.5, NaN, Infinity]) assert.match(refused(seconds.fromCode(given)), /whole number/);
});

test('P-069 the shutdown signals are names of process signals, as a list or separated by commas, each once', () => {
  assert.deepEqual(processSignals.fromText('SIGTERM, SIGQUIT'), { value: ['SIGTERM', 'SIGQUIT'] });
  assert.deepEqual(processSignals.fromCode('SIGUSR2'), { value: ['SIGUSR2'] });
  assert.deepEqual(processSignals.fromCode(['SIGTERM', 'SIGTERM']), { value: ['SIGTERM'] });
});

for (const name of ['SIGKILL', 'SIGSTOP', 'SIGSEGV', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGPIPE', 'SIGPROF']) {
  test(`P-069 ${name} is never taken`, () => {
    assert.match(refused(processSignals.fromText(`SIGTERM,${name}`)), /that a program can catch/);
  });
}

test('P-069 no signal at all, an unknown one and a number are refused', () => {
  for (const text of ['', ',', 'TERM', 'sigterm', 'SIGTERM,', '15', 'constructor']) {
    assert.match(refused(processSignals.fromText(text)), /such as SIGTERM,SIGINT/, text);
  }
  for (const given of [[], [15], 15, null, {}]) refused(processSignals.fromCode(given));
});

test('the shutdown signals that are read are a list of our own, frozen', () => {
  const given: NodeJS.Signals[] = ['SIGTERM'];
  const reading = processSignals.fromCode(given);
  assert.ok('value' in reading);
  given.push('SIGHUP');
  assert.deepEqual(reading.value, ['SIGTERM']);
  assert.ok(Object.isFrozen(reading.value));
});

test('each kind writes its values as they would be given', () => {
  assert.equal(duration.format(90_000), '1m30s');
  assert.equal(boolean.format(false), 'false');
  assert.equal(seconds.format(30), '30s');
  assert.equal(processSignals.format(['SIGTERM', 'SIGINT']), 'SIGTERM,SIGINT');
});
