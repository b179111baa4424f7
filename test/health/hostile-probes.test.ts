// Tests malicious probes. Whatever a probe contains, the CPU time for it and the size of its response stay limited, and
// nothing throws.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../src/cli/rehearsal/random.ts';
import { HealthUnderTest, passes } from '../support/health-under-test.ts';

// Node's default limit for a request head, in bytes.
const longestHead = 16 * 1_024;

/** Returns the part of a verbose probe response that lists the excluded names that match no check. */
function warningFor(...names: readonly string[]): string {
  const query = names.map((name) => `exclude=${encodeURIComponent(name)}`).join('&');
  const body = new HealthUnderTest().bodyOf(`/livez?verbose&${query}`);
  const lines = body.split('\n');
  assert.deepEqual(
    [lines.length, lines[0], lines[1], lines[3], lines[4]],
    [5, '[+]ping ok', '[+]log ok', 'livez check passed', ''],
    body,
  );
  return (lines[2] ?? '').replace('warn: some health checks cannot be excluded: no matches for ', '');
}

test('A-088, A-089, P-085 excluded names that match no check do not change the status, and are listed in a verbose or failing response', () => {
  const under = new HealthUnderTest();
  const query = 'exclude=b&exclude=a&exclude=b';
  assert.equal(under.bodyOf(`/readyz?${query}`), 'ok');
  const warning = 'warn: some health checks cannot be excluded: no matches for "a","b"\n';
  const head = '[+]ping ok\n[+]log ok\n';
  assert.equal(under.bodyOf(`/readyz?${query}&verbose`), `${head}[+]shutdown ok\n${warning}readyz check passed\n`);
  under.lifecycle.report('ShutdownInitiated');
  assert.equal(
    under.bodyOf(`/readyz?${query}`),
    `${head}[-]shutdown failed: reason withheld\n${warning}readyz check failed\n`,
  );
  assert.deepEqual(under.warnings, [], 'nothing that a prober sends may be logged (a deviation from A-105)');
});

test('A-088, A-089, P-085 excluding a group excludes all checks of the group, and the verbose response names the group after each of these checks', () => {
  const under = new HealthUnderTest();
  under.health.addReadyz('etcd-0', () => false, { group: 'etcd' });
  under.health.addReadyz('cache', passes);
  under.health.addReadyz('etcd-1', () => false, { group: 'etcd' });
  assert.equal(
    under.bodyOf('/readyz?exclude=etcd&verbose'),
    '[+]ping ok\n[+]log ok\n[+]etcd-0 excluded with etcd: ok\n[+]cache ok\n[+]etcd-1 excluded with etcd: ok\n[+]shutdown ok\nreadyz check passed\n',
  );
  assert.equal(under.bodyOf('/readyz?exclude=etcd'), 'ok');
  assert.equal(under.statusOf('/readyz?exclude=etcd-0'), 500);
  assert.equal(under.statusOf('/readyz/etcd'), 404, 'a group of checks must have no path');
});

test('A-089 an excluded name excludes the check and the group of this name; if the name of a check and the name of its group are both excluded, the response lists the check under its own name', () => {
  const under = new HealthUnderTest();
  under.health.addLivez('etcd', () => false);
  under.health.addLivez('etcd-0', () => false, { group: 'etcd' });
  const body = (query: string): string =>
    under.bodyOf(`/livez?verbose&${query}`).replace('[+]ping ok\n[+]log ok\n', '');
  assert.equal(body('exclude=etcd'), '[+]etcd excluded: ok\n[+]etcd-0 excluded with etcd: ok\nlivez check passed\n');
  assert.equal(
    body('exclude=etcd-0&exclude=etcd'),
    '[+]etcd excluded: ok\n[+]etcd-0 excluded: ok\nlivez check passed\n',
  );
});

test('A-089 if a probe excludes each check of a group by the name of the check, and also excludes the group, the response warns that the name of the group matches no check', () => {
  const under = new HealthUnderTest();
  under.health.addLivez('a', passes, { group: 'g' });
  assert.match(under.bodyOf('/livez?verbose&exclude=a&exclude=g'), /^\[\+\]a excluded: ok\nwarn: .* "g"$/m);
});

test('an empty exclude parameter counts as a name that matches no check', () => {
  for (const query of ['exclude=', 'exclude']) {
    assert.match(new HealthUnderTest().bodyOf(`/livez?verbose&${query}`), /no matches for ""\n/);
    assert.equal(new HealthUnderTest().bodyOf(`/livez?${query}`), 'ok');
  }
  assert.match(new HealthUnderTest().bodyOf('/livez?verbose&='), /^livez check passed$/m);
});

const quotedNames: readonly (readonly [string, string])[] = [
  ['x\n[+]forged ok\n', '"x\\n[+]forged ok\\n"'],
  ['a"b\\c', '"a\\"b\\\\c"'],
  ['\u0000\u0007\b\t\v\f\r\u001b[31m\u007f', '"\\x00\\a\\b\\t\\v\\f\\r\\x1b[31m\\x7f"'],
  ['\u0085\u009b2J\u00a0\u00ad', '"\\u0085\\u009b2J\\u00a0\\u00ad"'],
  ['\u200b\u202e\u2028\u2029\ufeff', '"\\u200b\\u202e\\u2028\\u2029\\ufeff"'],
  ['\u{e0001}\u{10ffff}', '"\\U000e0001\\U0010ffff"'],
  ['größe 世界 🦆', '"größe 世界 🦆"'],
];

for (const [name, expected] of quotedNames) {
  test(`A-088 the response quotes an excluded name as Go does, so that the name cannot add a line to the response: ${expected}`, () => {
    assert.equal(warningFor(name), expected);
  });
}

test('an excluded name longer than a hundred characters is cut off, but never in the middle of a character', () => {
  assert.equal(warningFor('x'.repeat(100)), `"${'x'.repeat(100)}"`);
  assert.equal(warningFor('x'.repeat(101)), `"${'x'.repeat(100)}…"`);
  assert.equal(warningFor(`x${'🦆'.repeat(200)}`), `"x${'🦆'.repeat(99)}…"`);
});

test('if more than twenty excluded names match no check, the response lists the first twenty and says how many more there are', () => {
  const names = Array.from({ length: 1_000 }, (_, index) => String(index).padStart(4, '0'));
  const listed = names.slice(0, 20).map((name) => `"${name}"`);
  assert.equal(warningFor(...names), `${listed.join(',')} and 980 more`);
  assert.equal(warningFor(...names.slice(0, 20)), listed.join(','));
  assert.equal(warningFor(...names.slice(0, 21)), `${listed.join(',')} and 1 more`);
});

test('invalid percent-encoding is not an error: in a query it stays as it is, and in a path it names no check', () => {
  for (const query of [
    'exclude=%',
    'exclude=%zz',
    'exclude=%ff%fe',
    '%=%&verbose%',
    'exclude=%00',
    '&&&==&=',
    '?',
    '#',
  ]) {
    const { status, body } = new HealthUnderTest().ask(`/livez?${query}`);
    assert.deepEqual([status, body], [200, 'ok'], query);
  }
  for (const path of ['%', '%zz', '%ff', '%2', 'ping%', '%C3%28', '%E0%A4%A']) {
    const { status, body } = new HealthUnderTest().ask(`/livez/${path}`);
    assert.deepEqual([status, body], [404, '404 page not found\n'], path);
  }
});

test('A-070 the path of a check is percent-decoded once before it is compared', () => {
  const under = new HealthUnderTest();
  under.health.addLivez('a/b', passes);
  for (const path of ['a%2Fb', 'a%2fb', '%61/b', 'a/%62?exclude=%'])
    assert.equal(under.bodyOf(`/livez/${path}`), 'ok', path);
  for (const path of ['a%252Fb', 'a%2F', '%2Fa/b', 'a/b%00', 'a/b%20', '..%2Flivez']) {
    assert.equal(under.statusOf(`/livez/${path}`), 404, path);
  }
});

const longOnes: Readonly<Record<string, string>> = {
  'names of one letter': `exclude=${Array.from({ length: 8_000 }, (_, index) => String.fromCharCode(97 + (index % 26))).join('&exclude=')}`,
  'short names': Array.from({ length: 8_000 }, (_, index) => `exclude=${index.toString(36)}`).join('&'),
  'one long name': `exclude=${'x'.repeat(longestHead)}`,
  'one long name that is escaped': `exclude=${'%00'.repeat(longestHead / 3)}`,
  'broken percent-encoding': `exclude=${'%'.repeat(longestHead)}`,
  'empty pairs': '&'.repeat(longestHead),
  'equal signs': '='.repeat(longestHead),
  'one name over and over': 'exclude=ping&'.repeat(longestHead / 13),
  'verbose over and over': 'verbose&'.repeat(longestHead / 8),
};

for (const [what, query] of Object.entries(longOnes)) {
  test(`the response to a probe whose query has the maximum length is shorter than 8 KiB, even if the query consists of ${what}`, () => {
    const { status, body } = new HealthUnderTest().ask(`/livez?verbose&${query.slice(0, longestHead)}`);
    assert.equal(status, 200);
    assert.ok(Buffer.byteLength(body) < 8_192, `${String(Buffer.byteLength(body))} bytes`);
    assert.match(body, /livez check passed\n$/);
  });
}

test('the time to respond to a probe grows only linearly with the length of its query, even if the endpoint has many checks', () => {
  const under = new HealthUnderTest();
  for (let index = 0; index < 500; index++) {
    under.health.addLivez(`check-${String(index)}`, passes.bind(undefined), { group: `group-${String(index)}` });
  }
  const queryOf = (length: number): string =>
    Array.from({ length }, (_, index) => `exclude=x${String(index)}`).join('&');
  // A server can be configured to accept request heads of more than 1 MiB. So a probe can have a query of more than 1
  // MiB.
  const [short, long] = [2_000, 100_000].map(queryOf) as [string, string];
  const cost = (query: string): number => {
    under.ask(`/livez?verbose&${query}`);
    const begun = process.cpuUsage();
    under.ask(`/livez?verbose&${query}`);
    const { user, system } = process.cpuUsage(begun);
    return user + system;
  };
  const [once, fiftyfold] = [cost(short), cost(long)];
  // The long query excludes fifty times as many names as the short query. If the CPU time is proportional to the number
  // of names, the long query takes fifty times as long, plus the time for garbage collection. If each name were
  // compared with every other name, it would take 2500 times as long.
  assert.ok(
    fiftyfold < 500 * Math.max(once, 1_000),
    `the short query took ${String(once)} µs and the long query ${String(fiftyfold)} µs`,
  );
});

test('random URLs on a probe endpoint cause no exception, and each response is a 404, or its body is `ok` or a list of checks', () => {
  const random = seededRandom(20_261_121);
  const pieces = [
    '/',
    '?',
    '&',
    '=',
    '%',
    '#',
    '+',
    ';',
    '\\',
    ' ',
    '..',
    '//',
    ':',
    '@',
    '%2F',
    '%00',
    '%ff',
    '\u0000',
    '\n',
    '🦆',
    '\ud800',
    'readyz',
    'livez',
    'healthz',
    'ping',
    'log',
    'shutdown',
    'poststarthook',
    'exclude',
    'verbose',
    'http://',
    'a',
    '__proto__',
    'constructor',
    'toString',
    'exclude=',
    '/readyz',
    '/livez?',
    '/healthz/',
  ];
  const under = new HealthUnderTest();
  for (let round = 0; round < 20_000; round++) {
    const length = 1 + Math.floor(random() * 12);
    const url = Array.from({ length }, () => pieces[Math.floor(random() * pieces.length)]).join('');
    const answer = under.health.answer(url);
    if (answer === undefined) continue;
    assert.ok(!(answer instanceof Promise), url);
    assert.ok([200, 404].includes(answer.status), url);
    assert.match(answer.body, /^(ok|404 page not found\n|(?:\[\+\].*\n)+(?:warn: .*\n)?[a-z]+ check passed\n)$/, url);
  }
});
