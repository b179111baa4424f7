// Tests an elector whose API server sends wrong responses.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { connect } from '../../../src/leader-election/api-client/api-client.ts';
import { Credentials } from '../../../src/leader-election/api-client/credentials.ts';
import { isNotLeader } from '../../../src/leader-election/loop/term.ts';
import { ApiServer, type Script, type Scripted } from '../../support/api-server.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { status } from '../../support/lease-store.ts';
import { Contest } from '../support/contest.ts';

const garbage: readonly Scripted[] = [
  { answer: { status: 200, body: undefined, text: '' } },
  { answer: { status: 200, body: undefined, text: '<html>maintenance</html>' } },
  { answer: { status: 200, body: { kind: 'LeaseList', items: [] } } },
  { answer: { status: 200, body: { kind: 'Lease', metadata: { uid: 'u', resourceVersion: '9' }, spec: { x: 1 } } } },
  { answer: { status: 200, body: { kind: 'Lease', metadata: { uid: 'u' }, spec: { holderIdentity: 'a' } } } },
  { answer: { status: 202, body: { kind: 'Lease', metadata: { uid: 'u', resourceVersion: '9' }, spec: {} } } },
  { answer: { status: 200, body: undefined, text: 'x'.repeat(2_000_000) } },
  { isHalf: true },
];

test("L-062, L-068 an elector does not become the leader if the API server's response to its PUT does not contain the Lease that it sent", async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  let count = 0;
  contest.server.script = ({ method }) => (method === 'GET' ? undefined : garbage[count++ % garbage.length]);
  const running = a.run();
  contest.heldBy('', { leaseDurationSeconds: 1 });
  while (count < garbage.length * 2) await contest.advance(10_000);
  assert.equal(a.terms.length, 0);
  assert.equal(a.elector.remainingMs(), 0);
  contest.server.script = () => undefined;
  const stopped = a.elector.stop();
  await contest.advance(20_000);
  await Promise.all([stopped, running]);
});

test("L-093 a renewal extends the leadership only if the API server's response contains the Lease that the leader sent", async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  const running = a.run();
  await contest.advance(100);
  const lastSent = contest.server.calls.at(-1)?.at ?? 0;
  let count = 0;
  // The responses in this test contain no valid Lease with another UID, because such a Lease would end the leadership
  // at once.
  const unreadable = garbage.filter(({ answer }) => !JSON.stringify(answer?.body ?? '').includes('"x":1'));
  contest.server.script = () => unreadable[count++ % unreadable.length];
  await contest.advance(lastSent + 9_999 - contest.clock.now());
  assert.equal(a.terms[0]?.isLeader(), true);
  await contest.advance(1);
  assert.equal(a.terms[0].isLeader(), false);
  assert.equal(a.terms[0].signal.aborted, true);
  assert.ok(a.lines.some(({ details }) => details['problem'] === 'malformed'));
  contest.server.script = () => undefined;
  await contest.advance(5_000);
  assert.equal(a.terms.length, 2, 'the elector must lead again when the API server works again');
  await a.elector.stop();
  await running;
});

// Each entry simulates an admission webhook that changes one field of the Lease before the API server stores the Lease.
const webhooks = [
  ['a shorter lease duration', 'leaseDurationSeconds', () => 5],
  ['another holder', 'holderIdentity', () => 'b'],
  ['other transitions', 'leaseTransitions', (transitions: unknown) => Number(transitions) + 1],
  ['a constant renewTime', 'renewTime', () => '2020-01-01T00:00:00.000000Z'],
  ['a strategy', 'strategy', () => 'OldestEmulationVersion'],
] as const;

for (const [what, field, change] of webhooks) {
  const mutate =
    (contest: Contest): Script =>
    ({ method, body }) => {
      if (method === 'GET') return undefined;
      const mutated = { ...body, spec: { ...body?.spec, [field]: change(body?.spec?.[field]) } };
      return {
        answer:
          method === 'PUT' ? contest.server.store.update('app', mutated) : contest.server.store.create('app', mutated),
      };
    };

  test(`L-062, L-068 an elector does not become the leader if the API server stores a Lease that differs from the Lease in the elector's request: ${what}`, async (t) => {
    const contest = await Contest.begin(t);
    const a = contest.contender('a');
    contest.server.script = mutate(contest);
    const running = a.run();
    await contest.advance(60_000);
    assert.equal(a.terms.length, 0);
    assert.ok(contest.server.calls.length < 70, `the elector sent ${String(contest.server.calls.length)} requests`);
    const [line, ...others] = a.lines.filter(({ message }) => message === 'lease request failed');
    assert.ok(others.length <= 3, 'a problem must be logged once');
    assert.equal(line?.details['problem'], 'altered');
    assert.match(String(line.details['reason']), new RegExp(`stored ${field} .*admission webhook`));
    const stopped = a.elector.stop();
    await contest.advance(12_000);
    await Promise.all([stopped, running]);
  });

  test(`L-093, L-094 a leader stops leading at once if the Lease in the response to a renewal differs from the Lease in the leader's request: ${what}`, async (t) => {
    const contest = await Contest.begin(t);
    const a = contest.contender('a');
    const running = a.run();
    await contest.advance(1_000);
    assert.equal(a.terms[0]?.isLeader(), true);
    contest.server.script = mutate(contest);
    await contest.advance(2_000);
    assert.equal(a.terms[0].isLeader(), false);
    assert.equal(a.terms[0].signal.aborted, true);
    const stopped = a.elector.stop();
    await contest.advance(12_000);
    await Promise.all([stopped, running]);
  });
}

test('L-039 a follower makes at least one attempt per lease duration, even if a Retry-After header tells it to wait longer', async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  const headers = { 'Retry-After': '3600' };
  contest.server.script = () => ({ answer: { status: 429, body: undefined, text: 'Too many requests', headers } });
  const start = contest.clock.now();
  const running = a.run();
  await contest.advance(60_000);
  assert.deepEqual(
    contest.server.calls.map(({ at }) => at - start),
    [0, 15_000, 30_000, 45_000, 60_000],
  );
  await a.elector.stop();
  await running;
});

for (const [title, during] of [
  ['a renewal', (contest: Contest) => contest.advance(60_000)],
  [
    'the release of the Lease',
    async (contest: Contest, stop: () => Promise<boolean>) => {
      const stopped = stop();
      await contest.advance(12_000);
      assert.equal(await stopped, false);
    },
  ],
] as const) {
  test(`L-091, L-096a if the API server answers every PUT of the Lease with 409, an elector attempts ${title} once per retry period`, async (t) => {
    const contest = await Contest.begin(t);
    const a = contest.contender('a');
    const running = a.run();
    await contest.advance(1_000);
    const [sent, start] = [contest.server.calls.length, contest.clock.now()];
    contest.server.script = ({ method }) =>
      method === 'PUT' ? { answer: status(409, 'Conflict', 'modified') } : undefined;
    await during(contest, () => a.elector.stop());
    const seconds = (contest.clock.now() - start) / 1_000;
    const count = contest.server.calls.length - sent;
    assert.ok(count >= 4 && count <= seconds + 4, `the elector sent ${String(count)} requests in ${String(seconds)} s`);
    contest.server.script = () => undefined;
    const stopped = a.elector.stop();
    await contest.advance(5_000);
    await Promise.all([stopped, running]);
  });
}

test("L-097 if the leader's work always ends at once, its elector becomes the leader at most once per retry period", async (t) => {
  const contest = await Contest.begin(t);
  const a = contest.contender('a');
  const running = a.runStubborn();
  let seen = 0;
  for (let second = 0; second < 60; second++) {
    await contest.advance(1_000);
    if (a.terms.length === seen) continue;
    seen = a.terms.length;
    contest.wallAhead += 3_000;
    try {
      a.terms.at(-1)?.assertLeader();
    } catch (error) {
      assert.ok(isNotLeader(error));
      a.finish(error as Error);
    }
    const before = contest.server.calls.length;
    await contest.advance(1_900);
    assert.ok(contest.server.calls.length - before <= 4, contest.server.methods);
  }
  assert.ok(seen >= 5, `the elector led for ${String(seen)} terms`);
  const stopped = a.elector.stop();
  a.finish();
  await contest.advance(5_000);
  await Promise.all([stopped, running]);
});

test('LT-43 if the token file gets a new token while a request to the API server is in flight, the request is repeated with the new token', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'lease-'));
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, 'first');
  const clock = new FakeClock();
  const server = new ApiServer(clock);
  const address = { url: await server.listen(), tokenFile };
  const credentials = new Credentials(address, clock);
  const lease = { name: 'app', namespace: 'ns', clock, userAgent: 'test', connectTimeout: 3_333 };
  const api = await connect({ ...lease, server: address, credentials });
  t.after(() => {
    api.close();
    server.close();
    rmSync(folder, { recursive: true });
  });
  server.script = ({ token }) => {
    if (token !== 'first') return undefined;
    // A request with the old token `first` is in flight. Meanwhile, another request, for example a watch, reads the new
    // token `second` from the file.
    writeFileSync(tokenFile, 'second');
    clock.block(60_000);
    assert.equal(credentials.token(), 'second');
    return { answer: status(401, 'Unauthorized', 'x') };
  };
  const { reply } = await api.send({ method: 'GET', timeout: 1_000 });
  assert.equal(reply.kind, 'absent');
  assert.deepEqual(
    server.calls.map(({ token, answered }) => [token, answered]),
    [['first', 401], ['second', 404]], // prettier-ignore
  );
});

test('L-041, L-121 a watch selects the Lease by its name, and is repeated if the token of the elector was replaced', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'lease-'));
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, 'first');
  const tokens: (string | undefined)[] = [];
  const paths: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    tokens.push(request.headers.authorization);
    paths.push(request.url?.replace(/&timeoutSeconds=\d+$/, ''));
    if (request.headers.authorization !== 'Bearer second') {
      response.writeHead(401).end(JSON.stringify(status(401, 'Unauthorized', 'x').body));
      return;
    }
    const object = { kind: 'Lease', metadata: { uid: 'u', resourceVersion: '5' }, spec: { holderIdentity: 'b' } };
    response.end(`${JSON.stringify({ type: 'ADDED', object })}\n`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = { url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`, tokenFile };
  const clock = new FakeClock();
  const lease = { name: 'app', namespace: 'ns', clock, userAgent: 'test', connectTimeout: 3_333 };
  const api = await connect({ ...lease, server: address, credentials: new Credentials(address, clock) });
  t.after(() => {
    api.close();
    server.close();
    rmSync(folder, { recursive: true });
  });
  const changes: string[] = [];
  const watch = (): ReturnType<typeof api.watch> =>
    api.watch(
      () => undefined,
      ({ holder }) => changes.push(holder),
      new AbortController().signal,
    );
  // The token file still contains the token that the API server has rejected with 401, so the client does not repeat
  // its watch request.
  assert.equal((await watch())?.kind, 'unauthorized');
  assert.deepEqual(tokens, ['Bearer first']);
  writeFileSync(tokenFile, 'second');
  assert.equal(await watch(), undefined);
  assert.deepEqual(tokens, ['Bearer first', 'Bearer first', 'Bearer second']);
  assert.deepEqual(changes, ['b']);
  // A role for one Lease permits a watch only if the watch has a field selector for the name of the Lease.
  const path = '/apis/coordination.k8s.io/v1/namespaces/ns/leases?watch=true&fieldSelector=metadata.name%3Dapp';
  assert.deepEqual([...new Set(paths)], [path]);
});

test('L-041 if the API server denies the watch, the log names the verb and the Role once', async (t) => {
  const contest = await Contest.begin(t);
  contest.heldBy('b', { leaseDurationSeconds: 3_600 });
  const a = contest.contender('a');
  const running = a.run();
  await contest.advance(1_000_000);
  assert.ok(contest.watchesBegun > 1);
  const lines = a.lines.filter(({ message }) => message === 'lease watch failed');
  assert.equal(lines.length, 1);
  assert.match(String(lines[0]?.details['reason']), /403 \(cannot watch leases\)/);
  const role = parse(String(lines[0]?.details['role'])) as Record<string, unknown>;
  assert.equal(role['kind'], 'Role');
  const leases = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] };
  assert.deepEqual(role['rules'], [
    { ...leases, verbs: ['create'] },
    { ...leases, resourceNames: ['app'], verbs: ['get', 'update', 'list', 'watch'] },
    { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
  ]);
  await a.elector.stop();
  await running;
});
