// Tests malicious options and variables: each has no effect, or is rejected with its name in one line of limited
// length.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLameduckError } from '../../src/errors.ts';
import { completeSettings } from '../../src/settings/complete.ts';
import { settingsTable, variableOf, type SettingName } from '../../src/settings/table.ts';

function refused(options: unknown, environment: Record<string, string> = {}): string[] {
  try {
    completeSettings(options as object, environment);
  } catch (error) {
    assert.ok(isLameduckError(error), "the error must not be one of lameduck's");
    return error.message.split('\n  ').slice(1);
  }
  throw new Error(`nothing was refused of ${JSON.stringify(environment)}`);
}

for (const name of ['toString', 'constructor', 'hasOwnProperty', '__proto__', 'then']) {
  test(`an option with the name ${name} is rejected as unknown`, () => {
    const options = JSON.parse(`{ "${name}": 1 }`) as object;
    assert.deepEqual(refused(options), [`${name} from code: unknown option`]);
  });
}

test('options can be an object without a prototype, a frozen object or an instance of a class', () => {
  class FromFile {
    get preStopSeconds(): number {
      return 7;
    }
  }
  const bare = Object.assign(Object.create(null) as object, { preStopSeconds: 7 });
  for (const options of [bare, Object.freeze({ preStopSeconds: 7 }), new FromFile()]) {
    const { settings, sources } = completeSettings(options, {});
    assert.deepEqual([settings.preStopSeconds, sources.preStopSeconds], [7, 'code']);
  }
});

test('a getter in the options is called once, and an error that it throws is reported like an invalid value', () => {
  let asked = 0;
  const options = {
    get preStopSeconds(): number {
      return ++asked;
    },
  };
  assert.equal(completeSettings(options, {}).settings.preStopSeconds, 1);
  const throwing = {
    get destroyHookTimeout(): string {
      throw new Error('the vault\nis sealed');
    },
    shutdownDelayDuration: -1,
  };
  const [first, second, ...others] = refused(throwing);
  assert.equal(first, 'destroyHookTimeout from code: reading this option throws "the vault\\nis sealed"');
  assert.match(second ?? '', /^shutdownDelayDuration: -1 /);
  assert.deepEqual(others, []);
});

test('a list as an option is rejected if reading one of its elements throws', () => {
  const names = ['SIGTERM'];
  Object.defineProperty(names, 0, {
    get() {
      throw new Error('no');
    },
  });
  assert.match(refused({ shutdownSignals: names })[0] ?? '', /^shutdownSignals: .* reading this value throws "no"$/);
});

const values: Readonly<Record<string, unknown>> = {
  null: null,
  'an array': [-5_000],
  'an empty array': [],
  'an array with a hole': new Array<unknown>(1),
  'an object': { valueOf: () => 5 },
  'a boxed number': Object(5) as unknown,
  NaN,
  Infinity,
  '-Infinity': -Infinity,
  'a negative number': -1,
  'a number beyond all limits': Number.MAX_SAFE_INTEGER,
  'a BigInt': 5n,
  'a symbol': Symbol('5s'),
  'a function': () => 5,
  'a proxy that throws': new Proxy(
    {},
    {
      get() {
        throw new Error('no');
      },
    },
  ),
  'a revoked proxy': revoked(),
  'an object that cannot be shown': {
    [Symbol.for('nodejs.util.inspect.custom')]: () => {
      throw new Error('no');
    },
  },
  'an Error with its stack': new Error('several\nlines'),
  'a very long string': 'x'.repeat(1_000_000),
  'an object of very many keys': Object.fromEntries(
    Array.from({ length: 10_000 }, (_, index) => [`key${String(index)}`, 1]),
  ),
  'a very long list': Array.from({ length: 100_000 }, (_, index) => `SIG${String(index)}`),
};

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

for (const [what, value] of Object.entries(values)) {
  test(`every setting rejects a malicious value such as ${what}, with one short error line for each setting`, () => {
    const names = Object.keys(settingsTable) as SettingName[];
    const lines = refused(Object.fromEntries(names.map((name) => [name, value])));
    assert.deepEqual(
      lines.map((line) => line.split(':')[0]),
      names,
    );
    for (const line of lines) assert.match(line, /^.{1,500}$/);
  });
}

test('-0 counts as 0 in a setting', () => {
  const { settings } = completeSettings({ shutdownDelayDuration: -0, preStopSeconds: -0, goawayChance: -0 }, {});
  assert.deepEqual([settings.shutdownDelayDuration, settings.preStopSeconds, settings.goawayChance], [0, 0, 0]);
  assert.equal(completeSettings({}, { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '-0s' }).settings.shutdownDelayDuration, 0);
});

const texts: readonly string[] = [
  '٣',
  '３',
  '五',
  '½',
  'Ⅷ',
  '1_000',
  '1e3',
  '0x10',
  '+',
  '-',
  '--5s',
  'NaN',
  'Infinity',
  'null',
  'undefined',
  '5 s',
  '5s;',
  "'5s'",
  '5s # in seconds',
  'true false',
  '[object Object]',
  '$DELAY',
  'yes',
  '%',
  '9'.repeat(400),
  `${'9'.repeat(400)}s`,
];

for (const text of texts) {
  test(`every setting rejects the text "${text.slice(0, 20)}" in its environment variable`, () => {
    // Only the audit log accepts `-`, which means standard output.
    const takes = (name: SettingName): boolean => text === '-' && name === 'auditLogPath';
    const names = (Object.keys(settingsTable) as SettingName[]).filter((name) => !takes(name));
    const lines = refused({}, Object.fromEntries(names.map((name) => [variableOf(name), text])));
    assert.deepEqual(
      lines.map((line) => line.split(':')[0]),
      names,
    );
    for (const line of lines) assert.match(line, new RegExp('from LAMEDUCK_[A-Z_]+: expected '));
    for (const line of lines) assert.match(line, /^.{1,500}$/);
  });
}

test('a value of the greatest length that the environment can hold is rejected quickly', () => {
  const names = Object.keys(settingsTable) as SettingName[];
  for (const text of ['9'.repeat(131_000), '/'.repeat(131_000), '1s'.repeat(65_000), 'SIGTERM,'.repeat(16_000)]) {
    const begun = process.cpuUsage();
    const lines = refused({}, Object.fromEntries(names.map((name) => [variableOf(name), text])));
    const { user, system } = process.cpuUsage(begun);
    assert.ok(user + system < 2_000_000, `the rejection took ${String(user + system)} µs of CPU time`);
    for (const line of lines) assert.match(line, /^.{1,500}$/);
  }
});

test('white space of any kind around the value of a variable is ignored', () => {
  const { settings } = completeSettings({}, { LAMEDUCK_PRE_STOP_SECONDS: '\u00a0\t5\r\n\ufeff' });
  assert.equal(settings.preStopSeconds, 5);
});
