import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  boolean,
  chance,
  choice,
  count,
  duration,
  file,
  host,
  limit,
  path,
  port,
  processSignals,
  seconds,
  stallLimit,
  type Reading,
} from '../../src/settings/kinds.ts';
import { pathPrefixes, paths } from '../../src/settings/path-lists.ts';

function refused(reading: Reading<unknown>): string {
  assert.ok('allowed' in reading, `read as ${JSON.stringify(reading)}`);
  return reading.allowed;
}

test('a duration in code is a Go duration or a number of milliseconds', () => {
  assert.deepEqual(duration.fromCode('15s'), { value: 15_000 });
  assert.deepEqual(duration.fromCode(250), { value: 250 });
  assert.deepEqual(duration.fromCode(0), { value: 0 });
});

test('a variable with a duration without a unit is rejected, and the error proposes the duration in seconds', () => {
  assert.match(refused(duration.fromText('10')), /did you mean 10s\?/);
  assert.match(refused(duration.fromCode('10')), /did you mean 10s\?/);
  assert.match(refused(duration.fromText('1.5')), /did you mean 1\.5s\?/);
  assert.match(refused(duration.fromText('1500')), /did you mean 1500ms\?/);
});

test('a duration that is negative, or longer than a timer can wait, is rejected', () => {
  const refusedOnes = ['-1s', -1, NaN, Infinity, 2 ** 31, '597h', '1000000h'];
  for (const given of refusedOnes) assert.match(refused(duration.fromCode(given)), /from 0s to 596h/, String(given));
  assert.deepEqual(duration.fromCode(2 ** 31 - 1), { value: 2 ** 31 - 1 });
  assert.deepEqual(duration.fromText('596h'), { value: 596 * 3_600_000 });
});

test('a value that is neither a string nor a number is not a duration', () => {
  for (const given of [true, null, {}, [], 10n, () => 1]) assert.match(refused(duration.fromCode(given)), /duration/);
});

test('a setting with a fixed set of values accepts only these values, in the environment and in code', () => {
  const kind = choice('hold', 'run');
  assert.deepEqual([kind.fromText('run'), kind.fromCode('hold')], [{ value: 'run' }, { value: 'hold' }]);
  for (const text of ['RUN', '', 'off']) assert.equal(refused(kind.fromText(text)), 'hold or run');
  for (const given of [true, null, 1]) assert.equal(refused(kind.fromCode(given)), 'hold or run');
});

test('a list of paths is separated by commas in the environment and an array in code, and its paths have no query', () => {
  const both = { value: ['/health', '/a/b-c%20'] };
  assert.deepEqual(paths.fromText('/health, /a/b-c%20,/health'), both);
  assert.deepEqual(paths.fromCode(['/health', '/a/b-c%20']), both);
  assert.deepEqual([paths.fromText('off'), paths.fromCode('off')], [{ value: [] }, { value: [] }]);
  assert.deepEqual([paths.format([]), paths.format(['/a', '/b'])], ['off', '/a,/b']);
  for (const text of ['health', '/health,', '/health,ready', '/health?x', '/a b', '/a#b'])
    assert.match(refused(paths.fromText(text)), /each beginning with \//, text);
  for (const given of [true, null, 1, {}, [], [1], ['health'], ['/a,/b']])
    assert.match(refused(paths.fromCode(given)), /each beginning with \//);
});

test('/livez is rejected as a readiness path, with the reason, but /healthz and /readyz are accepted', () => {
  for (const liveness of ['/livez', '/livez/', '/livez/ping', '/LIVEZ']) {
    assert.match(refused(paths.fromText(`/health,${liveness}`)), /^a list of paths without \/livez, because/);
    assert.match(refused(paths.fromCode([liveness])), /^a list of paths without \/livez, because/);
  }
  const all = ['/healthz', '/readyz', '/livezone', '/my/livez'];
  assert.deepEqual(paths.fromCode(all), { value: all });
});

test('a path prefix must be a path, and / is rejected because it matches every request', () => {
  assert.deepEqual(pathPrefixes.fromText('/socket.io/, /livez'), { value: ['/socket.io/', '/livez'] });
  assert.match(refused(pathPrefixes.fromText('socket.io')), /^one or more paths such as \/socket\.io,\/watch, each/);
  for (const root of ['/', '//', '/watch,/'])
    assert.match(refused(pathPrefixes.fromText(root)), /^a list of paths without the path \/ itself,/);
  assert.match(refused(pathPrefixes.fromCode(['/'])), /^a list of paths without the path \/ itself,/);
});

test('a boolean setting is true or false in code, and in the environment also 1 or 0', () => {
  assert.deepEqual(
    ['true', '1', 'false', '0'].map((text) => boolean.fromText(text)),
    [{ value: true }, { value: true }, { value: false }, { value: false }],
  );
  assert.deepEqual(boolean.fromCode(false), { value: false });
  for (const text of ['yes', 'TRUE', '', '2']) assert.equal(refused(boolean.fromText(text)), 'true or false');
  for (const given of ['true', 1, null]) assert.equal(refused(boolean.fromCode(given)), 'true or false');
});

test('a setting that repeats a value of the pod spec, such as the grace period, is a whole number of seconds without a unit', () => {
  assert.deepEqual(seconds.fromText('30'), { value: 30 });
  assert.deepEqual(seconds.fromCode(0), { value: 0 });
  for (const text of ['30s', '-1', '1.5', '1e1', '2000001'])
    assert.match(refused(seconds.fromText(text)), /whole number/);
  assert.match(refused(seconds.fromText('30s')), /did you mean 30\?$/);
  assert.match(refused(seconds.fromText('1m30s')), /did you mean 90\?$/);
  assert.doesNotMatch(refused(seconds.fromText('1.5s')), /did you mean/);
  for (const given of ['30', -1, 1.5, NaN, Infinity]) assert.match(refused(seconds.fromCode(given)), /whole number/);
});

test('P-069 shutdown signals are names of process signals, as a list or separated by commas, without duplicates', () => {
  assert.deepEqual(processSignals.fromText('SIGTERM, SIGQUIT'), { value: ['SIGTERM', 'SIGQUIT'] });
  assert.deepEqual(processSignals.fromCode('SIGUSR2'), { value: ['SIGUSR2'] });
  assert.deepEqual(processSignals.fromCode(['SIGTERM', 'SIGTERM']), { value: ['SIGTERM'] });
});

for (const name of ['SIGKILL', 'SIGSTOP', 'SIGSEGV', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGPIPE', 'SIGPROF']) {
  test(`P-069 ${name} is rejected as a shutdown signal`, () => {
    assert.match(refused(processSignals.fromText(`SIGTERM,${name}`)), /that a program can catch/);
  });
}

test('P-069 an empty list, an unknown name and a number are rejected as shutdown signals', () => {
  for (const text of ['', ',', 'TERM', 'sigterm', 'SIGTERM,', '15', 'constructor']) {
    assert.match(refused(processSignals.fromText(text)), /such as SIGTERM,SIGINT/, text);
  }
  for (const given of [[], [15], 15, null, {}]) refused(processSignals.fromCode(given));
});

test('the parsed list of shutdown signals is a frozen copy', () => {
  const given: NodeJS.Signals[] = ['SIGTERM'];
  const reading = processSignals.fromCode(given);
  assert.ok('value' in reading);
  given.push('SIGHUP');
  assert.deepEqual(reading.value, ['SIGTERM']);
  assert.ok(Object.isFrozen(reading.value));
});

test('A-218 a setting that limits a number is a whole number, and 0 means no limit', () => {
  assert.deepEqual(count.fromText('400'), { value: 400 });
  assert.deepEqual(count.fromCode(0), { value: 0 });
  for (const text of ['-1', '1.5', '1000001', 'off']) assert.match(refused(count.fromText(text)), /whole number/);
  for (const given of ['400', -1, 1.5, NaN]) assert.match(refused(count.fromCode(given)), /whole number/);
});

test('A-217 goawayChance is a number from 0 to 0.02', () => {
  assert.deepEqual(chance.fromText('0.02'), { value: 0.02 });
  assert.deepEqual(chance.fromText('.001'), { value: 0.001 });
  assert.deepEqual(chance.fromCode(0), { value: 0 });
  for (const text of ['-0.01', '0.021', '1', '2%', '1.']) assert.match(refused(chance.fromText(text)), /to 0\.02$/);
  for (const given of ['0.01', -0.01, 0.021, NaN]) assert.match(refused(chance.fromCode(given)), /to 0\.02$/);
});

test('the value of a path setting is either off or an absolute path, and never a probe path', () => {
  assert.deepEqual(path.fromText('/metrics'), { value: '/metrics' });
  assert.deepEqual(path.fromText('/-/metrics.txt'), { value: '/-/metrics.txt' });
  for (const off of ['off', '']) assert.deepEqual(path.fromCode(off), { value: '' });
  for (const text of [
    'metrics',
    '/',
    '/a/',
    '//a',
    '/a?b',
    '/a b',
    '/readyz',
    '/LIVEZ',
    '/healthz/log',
    '/ä',
    '/%61',
  ]) {
    assert.match(refused(path.fromText(text)), /or the word off$/, text);
  }
  assert.deepEqual(path.fromText('/readyz2'), { value: '/readyz2' });
});

test('a setting for a port is either off, or a whole number from 1 to 65535', () => {
  assert.deepEqual(port.fromText('8081'), { value: 8081 });
  assert.deepEqual(port.fromCode(65_535), { value: 65_535 });
  for (const off of ['off', '', '0']) assert.deepEqual(port.fromText(off), { value: 0 });
  for (const off of [0, 'off', -0]) assert.deepEqual(port.fromCode(off), { value: 0 });
  for (const text of ['-1', '65536', '80.5', '0x50', '8081/tcp', 'tcp://10.0.0.1:80', '1e3']) {
    assert.equal(refused(port.fromText(text)), 'a TCP port from 1 to 65535, or the word off', text);
  }
  for (const given of ['8081', -1, 65_536, 1.5, NaN, true]) assert.match(refused(port.fromCode(given)), /^a TCP port/);
});

test('a setting for a host must be an IP address', () => {
  for (const text of ['0.0.0.0', '::', '::1', 'fe80::1%eth0', '10.0.3.17']) {
    assert.deepEqual(host.fromText(text), { value: text });
  }
  for (const text of ['[::]', 'a b', 'http://a', 'a/b', 'a\nb', 'localhost', '10.0.0', '1']) {
    assert.match(refused(host.fromText(text)), /^an IP address such as/, text);
  }
  for (const given of [1, null, ['::']]) assert.match(refused(host.fromCode(given)), /^an IP address such as/);
});

test('the value of a setting that names a file is either `off` or an absolute path', () => {
  for (const text of ['/dev/termination-log', '/a b', '/ä']) assert.deepEqual(file.fromText(text), { value: text });
  for (const off of ['off', '']) assert.deepEqual(file.fromCode(off), { value: '' });
  for (const text of ['termination-log', './a', '/', '/a/', '/a\0b', 'C:\\a']) {
    assert.match(refused(file.fromText(text)), /^an absolute path of a file such as/, text);
  }
  for (const given of [1, null, ['/a']]) assert.match(refused(file.fromCode(given)), /or the word off$/);
});

test('P-090 the stall limit of the event loop must be at least one second, or 0s, which switches the limit off', () => {
  assert.deepEqual(stallLimit.fromText('1s'), { value: 1_000 });
  assert.deepEqual(stallLimit.fromText('0s'), { value: 0 });
  assert.deepEqual(stallLimit.fromCode(0), { value: 0 });
  for (const text of ['1ms', '999ms', '-1s', 'soon', '597h']) {
    assert.equal(refused(stallLimit.fromText(text)), '0s, or a duration such as 15s or 1m30s, from 1s to 596h', text);
  }
  assert.match(refused(stallLimit.fromText('5')), /did you mean 5s\?$/);
  assert.match(refused(stallLimit.fromCode(999)), /^0s, or a duration/);
});

test('a setting for a time limit accepts only durations from 1 ms to 596 h', () => {
  assert.deepEqual(limit.fromText('1ms'), { value: 1 });
  for (const text of ['0s', '999us', '0', '-1s', 'soon', '597h']) {
    assert.equal(refused(limit.fromText(text)), 'a duration such as 15s or 1m30s, from 1ms to 596h', text);
  }
  for (const given of [-1, 0, 0.5, NaN, Infinity, 2 ** 31]) {
    assert.match(refused(limit.fromCode(given)), /, from 1ms to 596h$/, String(given));
  }
  assert.match(refused(limit.fromCode(true)), /, from 1ms to 596h, or milliseconds$/);
  assert.match(refused(limit.fromText('10')), /did you mean 10s\?$/);
  assert.doesNotMatch(refused(limit.fromText('0.0')), /did you mean/);
});

test('each type of setting formats its value as a text, which is also valid as the option in code', () => {
  assert.equal(path.format(''), 'off');
  assert.equal(file.format(''), 'off');
  assert.equal(port.format(0), 'off');
  assert.equal(port.format(8081), '8081');
  assert.equal(host.format('::1'), '::1');
  assert.equal(chance.format(0.02), '0.02');
  assert.equal(count.format(0), '0');
  assert.equal(duration.format(90_000), '1m30s');
  assert.equal(boolean.format(false), 'false');
  assert.equal(seconds.format(30), '30s');
  assert.equal(processSignals.format(['SIGTERM', 'SIGINT']), 'SIGTERM,SIGINT');
});
