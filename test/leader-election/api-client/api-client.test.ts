// Tests the requests of an elector, and how it handles the responses of an API server.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { rootCertificates } from 'node:tls';
import { Credentials, inCluster, namespaceOf } from '../../../src/leader-election/api-client/credentials.ts';
import { isLameduckError } from '../../../src/errors.ts';
import { status } from '../../support/lease-store.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { Contest, type Contender } from '../support/contest.ts';

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'lease-'));
  t.after(() => {
    rmSync(path, { recursive: true });
  });
  return path;
}

async function leading(t: TestContext, more = {}): Promise<{ contest: Contest; a: Contender; running: Promise<void> }> {
  const contest = await Contest.begin(t);
  const a = contest.contender('a', more);
  const running = a.run();
  await contest.advance(500);
  return { contest, a, running };
}

test("LT-25 fields in the Lease's metadata that other programs have set survive 100 renewals, and configured labels are set", async (t) => {
  const contest = await Contest.begin(t);
  const metadata = {
    labels: { team: 'x', app: 'old' },
    annotations: { note: 'y' },
    finalizers: ['example.com/f'],
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'o' }],
  };
  contest.server.store.put('app', { holderIdentity: '' }, metadata);
  const a = contest.contender('a', { labels: { app: 'new' } });
  const running = a.run();
  await contest.advance(200_000);
  assert.ok(contest.server.calls.length > 100);
  const { labels, annotations, finalizers, ownerReferences } = (contest.server.store.current('app')?.metadata ??
    {}) as Record<string, unknown>;
  assert.deepEqual(
    { labels, annotations, finalizers, ownerReferences },
    { ...metadata, labels: { team: 'x', app: 'new' } },
  );
  await a.elector.stop();
  await running;
});

test('LT-25 an elector becomes the leader even if metadata.labels of the Lease is null, and writes the configured labels', async (t) => {
  const contest = await Contest.begin(t);
  contest.server.store.put('app', { holderIdentity: '' }, { labels: null });
  const a = contest.contender('a', { labels: { app: 'new' } });
  const running = a.run();
  await contest.advance(3_000);
  assert.equal(a.terms.length, 1);
  assert.deepEqual(contest.server.store.current('app')?.metadata['labels'], { app: 'new' });
  await a.elector.stop();
  await running;
});

test('LT-26, L-012, L-013, L-035, L-181, L-189 each timestamp that an elector writes has six fractional digits, and an acquireTime is sent back as it was read', async (t) => {
  const contest = await Contest.begin(t);
  const acquireTime = '2026-01-02T03:04:05.123456Z';
  contest.heldBy('a', { acquireTime });
  const a = contest.contender('a');
  const running = a.run();
  await contest.advance(5_000);
  for (const { body } of contest.server.calls.filter(({ method }) => method === 'PUT')) {
    assert.equal(body?.spec?.['acquireTime'], acquireTime);
    assert.match(String(body.spec['renewTime']), time);
  }
  await a.elector.stop();
  await running;
  for (const renewTime of ['2026-01-02T03:04:05+02:00', '2026-01-02T03:04:05Z', '2026-01-02T03:04:05.123456789Z']) {
    contest.server.store.put('app', {
      holderIdentity: 'b',
      leaseDurationSeconds: 1,
      acquireTime: renewTime,
      renewTime,
    });
    const next = contest.contender(`n${renewTime}`);
    const run = next.run();
    await contest.advance(5_000);
    assert.equal(next.terms.length, 1, renewTime);
    await next.elector.stop();
    await run;
  }
});

test("LT-27, L-067, L-069 if the holder in the Lease is the elector's own identity, the elector takes over at once and keeps leaseTransitions", async (t) => {
  const contest = await Contest.begin(t);
  contest.heldBy('a');
  const { acquireTime } = contest.spec();
  await contest.advance(1_000);
  const a = contest.contender('a');
  const running = a.run();
  await contest.advance(100);
  assert.equal(contest.server.methods, 'GET PUT PUT');
  assert.equal(a.terms.length, 1);
  const { leaseTransitions, ...times } = contest.spec();
  assert.equal(leaseTransitions, 3);
  assert.equal(times['acquireTime'], acquireTime);
  assert.notEqual(times['renewTime'], acquireTime);
  await a.elector.stop();
  await running;
});

const throttled: readonly (readonly [string, (seconds: number) => object])[] = [
  [
    '429 in plain text',
    (seconds) => ({
      status: 429,
      body: undefined,
      text: 'Too many requests',
      headers: { 'Retry-After': String(seconds), 'Content-Type': 'text/plain' },
    }),
  ],
  [
    '503 with Retry-After',
    (seconds) => ({ status: 503, body: undefined, text: 'ending', headers: { 'Retry-After': String(seconds) } }),
  ],
  ['ServerTimeout', (retryAfterSeconds) => status(500, 'ServerTimeout', 'x', { retryAfterSeconds })],
];

for (const [what, answerOf] of throttled) {
  test(`LT-42, L-039 a leader still leads after two responses with a Retry-After of 1 s (${what}); if Retry-After exceeds the time until the renew deadline, the leader stops leading at this deadline`, async (t) => {
    const { contest, a, running } = await leading(t);
    const { server, clock } = contest;
    const throttle = (seconds: number): { answer: never } => ({ answer: answerOf(seconds) as never });
    let refusals = 0;
    server.script = () => (++refusals <= 2 ? throttle(1) : undefined);
    const sent = server.calls.length;
    await contest.advance(4_000);
    const times = server.calls.slice(sent, sent + 3).map(({ at }) => at);
    assert.deepEqual([(times[1] ?? 0) - (times[0] ?? 0), (times[2] ?? 0) - (times[1] ?? 0)], [1_000, 1_000]);
    assert.equal(server.calls[sent + 2]?.answered, 200);
    await contest.advance(20_000);
    assert.deepEqual([a.terms.length, a.losses, contest.spec()['leaseTransitions']], [1, 0, 0]);

    const lastSent = server.calls.filter(({ answered }) => answered === 200).at(-1)?.at ?? 0;
    server.script = () => throttle(30);
    const before = server.calls.length;
    await contest.advance(lastSent + 9_999 - clock.now());
    assert.equal(a.terms[0]?.signal.aborted, false);
    assert.ok(server.calls.length - before >= 4, 'the elector must try again within the term');
    await contest.advance(1);
    assert.equal(a.terms[0].signal.aborted, true);
    assert.equal(a.elector.remainingMs(), 0);
    server.script = () => undefined;
    await contest.advance(31_000);
    assert.equal(a.terms.length, 2, 'the elector must lead again when the API server serves again');
    await a.elector.stop();
    await running;
  });
}

test('LT-43, L-121, L-195 an elector reads its token again after a 401, and keeps the last token if the token file has none', async (t) => {
  const tokenFile = join(folder(t), 'token');
  writeFileSync(tokenFile, 'first\n');
  const { contest, a, running } = await leading(t, { address: { tokenFile } });
  assert.equal(contest.server.calls.at(-1)?.token, 'first');
  writeFileSync(tokenFile, 'second\n');
  contest.server.script = ({ token }) => (token === 'first' ? { answer: status(401, 'Unauthorized', 'x') } : undefined);
  const sent = contest.server.calls.length;
  await contest.advance(2_000);
  assert.deepEqual(
    contest.server.calls.slice(sent).map(({ method, token, answered }) => [method, token, answered]),
    [['PUT', 'first', 401], ['PUT', 'second', 200]], // prettier-ignore
  );
  writeFileSync(tokenFile, 'third\n');
  await contest.advance(52_000);
  assert.equal(contest.server.calls.at(-1)?.token, 'third', 'the token file must be read again every 50 s');
  for (const spoil of [
    () => {
      writeFileSync(tokenFile, '');
    },
    () => {
      rmSync(tokenFile);
    },
    () => {
      writeFileSync(tokenFile, 'half of\na token');
    },
  ]) {
    spoil();
    const before = contest.server.calls.length;
    await contest.advance(60_000);
    const later = contest.server.calls.slice(before);
    assert.ok(later.length >= 29 && later.every(({ token, answered }) => token === 'third' && answered === 200));
  }
  assert.equal(a.terms.length, 1);
  await a.elector.stop();
  await running;
});

test('L-120, L-121, L-195 the in-cluster URL of the API server has scheme, host and port, and an unreadable CA or token has its own error', (t) => {
  const path = folder(t);
  const variables = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
  const server = inCluster(variables, path);
  assert.equal(server.url, 'https://[fd00::1]:443');
  assert.equal(inCluster({ ...variables, KUBERNETES_SERVICE_HOST: '10.0.0.1' }, path).url, 'https://10.0.0.1:443');
  const hasCode = (code: string, text: RegExp) => (error: unknown) =>
    isLameduckError(error) && error.code === code && text.test(error.message);
  for (const incomplete of [{ KUBERNETES_SERVICE_HOST: '10.0.0.1' }, { KUBERNETES_SERVICE_PORT: '443' }]) {
    assert.throws(() => inCluster(incomplete, path), hasCode('LAMEDUCK_ERR_NOT_IN_CLUSTER', /ALONE/));
  }
  const create = (): Credentials => new Credentials(server, new FakeClock());
  assert.throws(create, hasCode('LAMEDUCK_ERR_CREDENTIALS_UNREADABLE', /token.*ENOENT/));
  writeFileSync(join(path, 'token'), 'two tokens');
  assert.throws(create, hasCode('LAMEDUCK_ERR_CREDENTIALS_UNREADABLE', /token.*printable ASCII/));
  writeFileSync(join(path, 'token'), ' t \n');
  assert.throws(create, hasCode('LAMEDUCK_ERR_CREDENTIALS_UNREADABLE', /CA.*ENOENT/));
  writeFileSync(join(path, 'ca.crt'), '');
  assert.throws(create, hasCode('LAMEDUCK_ERR_CREDENTIALS_UNREADABLE', /CA.*empty/));
  writeFileSync(join(path, 'ca.crt'), '-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n');
  assert.throws(create, hasCode('LAMEDUCK_ERR_CREDENTIALS_UNREADABLE', /CA.*at least one certificate in PEM form/));
  const [first, second] = rootCertificates;
  assert.ok(first !== undefined && second !== undefined);
  writeFileSync(join(path, 'ca.crt'), first);
  const credentials = create();
  assert.equal(credentials.token(), 't');
  // Each new connection trusts the CA that is in the file at the time when the connection is opened.
  writeFileSync(join(path, 'ca.crt'), second);
  assert.equal(credentials.ca(), second);
  writeFileSync(join(path, 'ca.crt'), 'half of a file');
  assert.equal(credentials.ca(), second);
  assert.equal(namespaceOf(path), undefined);
  writeFileSync(join(path, 'namespace'), 'shop\n');
  assert.equal(namespaceOf(path), 'shop');
});

test('LT-50, L-160, L-163 an elector does not contend for a Lease with spec.strategy; a leader stops leading if spec.preferredHolder is set in its Lease', async (t) => {
  const contest = await Contest.begin(t);
  contest.heldBy('', { strategy: 'OldestEmulationVersion' });
  const a = contest.contender('a');
  const running = a.run();
  await contest.advance(20_000);
  assert.deepEqual([...new Set(contest.server.calls.map(({ method }) => method))], ['GET']);
  assert.ok(a.lines.some(({ details }) => details['problem'] === 'coordinated'));
  contest.heldBy('', {});
  await contest.advance(5_000);
  assert.equal(a.terms.length, 1);
  contest.server.store.put('app', { ...contest.spec(), strategy: 'OldestEmulationVersion', preferredHolder: 'b' });
  const written = contest.server.store.writes.length;
  const sent = contest.server.calls.length;
  await contest.advance(10_000);
  assert.equal(a.terms[0]?.signal.aborted, true);
  assert.equal(contest.server.store.writes.length, written);
  const [renewal, ...later] = contest.server.calls.slice(sent);
  assert.deepEqual([renewal?.method, renewal?.answered], ['PUT', 409]);
  assert.deepEqual([...new Set(later.map(({ method }) => method))], ['GET']);
  await a.elector.stop();
  await running;
});

test('LT-53, L-123 a leader continues to lead while an API server shuts down gracefully, because the elector opens a new connection', async (t) => {
  const { contest, a, running } = await leading(t);
  const before = contest.server.calls.at(-1)?.socket;
  let isDraining = true;
  contest.server.script = () => {
    if (!isDraining) return undefined;
    isDraining = false;
    const headers = { 'Retry-After': '5', Connection: 'close' };
    return { answer: { status: 429, body: undefined, text: 'draining', headers } };
  };
  await contest.advance(8_000);
  assert.notEqual(contest.server.calls.at(-1)?.socket, before);
  assert.equal(a.terms.length, 1);
  assert.equal(a.terms[0]?.isLeader(), true);
  await a.elector.stop();
  await running;
});
