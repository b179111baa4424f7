import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HealthUnderTest, passes } from '../support/health-under-test.ts';

const suspects = [
  'db',
  'database',
  'postgres',
  'redis',
  'kafka',
  'user-db',
  'userDb',
  'userDB',
  'DB',
  'PostgreSQL',
  'redis2',
  'orders.kafka',
  'cache/redis/ping',
  'mongo_primary',
  'MySQL-replica',
  'checkDatabase',
];

for (const name of suspects) {
  test(`P-089 a livez check named "${name}" is added, with a warning that the name looks like that of a dependency`, () => {
    const under = new HealthUnderTest();
    under.health.addLivez(name, passes);
    assert.match(under.bodyOf('/livez?verbose'), new RegExp(`^\\[\\+\\]${name} ok$`, 'm'));
    assert.equal(under.warnings.length, 1);
    assert.match(
      under.warnings[0] ?? '',
      new RegExp(`^livez check "${name}" looks like a dependency: the name contains "`),
    );
  });
}

test('P-089 a livez check whose name does not look like a dependency is added without a warning', () => {
  const under = new HealthUnderTest();
  for (const name of [
    'worker',
    'event-loop',
    'dbus',
    'feedback',
    'handbag',
    'predator',
    'leader',
    'sqlx',
    'rediscover',
  ]) {
    under.health.addLivez(name, passes.bind(undefined));
  }
  assert.deepEqual(under.warnings, []);
});

test('P-089 no warning is logged if a readyz check or a post-start hook of the program is named like a dependency', () => {
  const under = new HealthUnderTest({ livezGracePeriod: 1_000 });
  under.health.addReadyz('database', passes);
  under.health.addPostStartHook('database', passes);
  assert.deepEqual(under.warnings, []);
});

for (const first of ['readyz', 'livez'] as const) {
  test(`P-089 if the ${first} check is added first, a warning is logged when the other endpoint gets a check with the same name or the same function`, () => {
    const under = new HealthUnderTest();
    const shared = (): boolean => true;
    const add = {
      readyz() {
        under.health.addReadyz('same-name', () => true);
        under.health.addReadyz('ready', shared);
      },
      livez() {
        under.health.addLivez('same-name', () => true);
        under.health.addLivez('live', shared);
        under.health.addLivez('other', () => true);
      },
    };
    add[first]();
    assert.equal(under.warnings.length, 0);
    add[first === 'readyz' ? 'livez' : 'readyz']();
    assert.deepEqual(
      under.warnings.map((warning) => warning.replace(/\. If a livez check fails.*/, '')),
      [
        'livez check "same-name" looks like a dependency: this livez check has the same name or the same function as the readyz check "same-name"',
        'livez check "live" looks like a dependency: this livez check has the same name or the same function as the readyz check "ready"',
      ],
    );
    assert.equal(under.bodyOf('/livez'), 'ok');
  });
}

test('P-089 a livez check causes only one dependency warning, even if there are several reasons for it', () => {
  const under = new HealthUnderTest();
  under.health.addLivez('redis', passes);
  under.health.addReadyz('redis', passes);
  under.health.addReadyz('cache', passes);
  assert.equal(under.warnings.length, 1);
});

test('P-089 a livez check that is added too late, and therefore rejected, causes no dependency warning', () => {
  const under = new HealthUnderTest();
  under.health.close();
  assert.throws(() => {
    under.health.addLivez('redis', passes);
  });
  assert.deepEqual(under.warnings, []);
});
