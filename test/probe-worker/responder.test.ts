import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notFound, passed } from '../../src/health/endpoint.ts';
import type { Answer } from '../../src/message.ts';
import { Questions } from '../../src/probe-worker/questions.ts';
import { Responder } from '../../src/probe-worker/responder.ts';
import { FakeClock, settled } from '../support/fake-clock.ts';

const red: Answer = { status: 500, headers: {}, body: '[-]database failed: reason withheld\nreadyz check failed\n' };

class ResponderUnderTest {
  readonly clock = new FakeClock();
  /** The URLs of the requests that the simulated main thread has received, in the order of their arrival. */
  readonly asked: string[] = [];
  stalledMs = 0;
  isShuttingDown = false;
  /** How many requests the simulated main thread has begun to handle since the start of the test. */
  taken = 0;
  readonly questions = new Questions(
    this.clock,
    (id, { url, method }) => {
      assert.equal(id, this.asked.length);
      this.asked.push(`${method} ${url}`);
    },
    () => this.taken,
  );
  readonly responder = new Responder({
    clock: this.clock,
    questions: this.questions,
    stalledMs: () => this.stalledMs,
    isShuttingDown: () => this.isShuttingDown,
    readyzStallLimit: 5_000,
    livezStallLimit: 30_000,
    checkTimeout: 900,
  });

  /** The milliseconds for which the simulated main thread runs health checks before it responds. */
  tookMs = 0;

  /**
   * `respond()` sends a probe to the probe thread, and resolves with the response and the time until the response. The
   * simulated main thread responds with `live` after `after` milliseconds.
   */
  async respond(url: string, live?: Answer, after = 0, method = 'GET'): Promise<Answer & { readonly tookMs: number }> {
    const since = this.clock.now();
    const before = this.asked.length;
    const answer = this.responder.respond(url, method);
    if (live !== undefined) {
      this.clock.after(after - this.tookMs, () => {
        this.taken = before + 1;
      });
      this.clock.after(after, () => {
        this.questions.answer(before, live, this.tookMs);
      });
    }
    const found = await this.clock.advanceUntil(`the answer to ${url}`, answer);
    return { ...found, tookMs: this.clock.now() - since };
  }
}

test("the probe thread forwards the status, headers and body of the main thread's response unchanged", async () => {
  const under = new ResponderUnderTest();
  for (const live of [passed, red]) {
    const { status, headers, body } = await under.respond('/readyz?verbose', live);
    assert.deepEqual({ status, headers, body }, live);
  }
});

test('P-090 if the main thread has not responded after 200 ms, the probe thread sends the last response of the main thread, with the age of this response', async () => {
  const under = new ResponderUnderTest();
  await under.respond('/readyz', red);
  await under.clock.advance(9_000);
  const { tookMs, status, headers, body } = await under.respond('/readyz');
  assert.ok(tookMs >= 200 && tookMs <= 210, String(tookMs));
  assert.deepEqual([status, headers['Age'], body], [500, '9', red.body]);
});

test('if the main thread responds within 200 ms, the response of the probe port has no Age header', async () => {
  const under = new ResponderUnderTest();
  await under.respond('/livez', passed);
  await under.clock.advance(9_000);
  assert.equal((await under.respond('/livez', passed, 199)).headers['Age'], undefined);
});

test('P-082 for a hundred simultaneous probes, the probe thread sends one request to the main thread; after 200 ms without an answer, further probes do not wait', async () => {
  const under = new ResponderUnderTest();
  await under.respond('/livez', passed);
  await under.clock.advance(9_000);
  const all = Promise.all(Array.from({ length: 100 }, () => under.responder.respond('/livez', 'GET')));
  await under.clock.advance(250);
  assert.equal((await all).length, 100);
  assert.equal((await under.respond('/livez')).tookMs, 0);
  assert.deepEqual(under.asked, ['GET /livez', 'GET /livez']);
});

test('P-090 if no heartbeat of the event loop has arrived for 200 ms, the probe thread answers a probe at once with the stored response, and also passes the probe to the main thread', async () => {
  const under = new ResponderUnderTest();
  await under.respond('/livez', passed);
  await under.clock.advance(9_000);
  under.stalledMs = 200;
  assert.equal((await under.respond('/livez')).tookMs, 0);
  assert.equal(under.asked.length, 2);
});

test('if a probe requests the same URL as another probe less than one second earlier, it gets the stored response if the main thread is busy, and a new response if the main thread is free but its checks are slow', async () => {
  for (const [checksTook, expectedAge] of [
    [0, '0'],
    [49, undefined],
  ] as const) {
    const under = new ResponderUnderTest();
    under.tookMs = checksTook;
    await under.respond('/readyz', passed, 50);
    await under.clock.advance(500);
    const { tookMs, headers } = await under.respond('/readyz', passed, 50);
    assert.equal(headers['Age'], expectedAge);
    assert.equal(tookMs === 0, expectedAge !== undefined, String(tookMs));
    await under.clock.advance(1_100);
    assert.equal((await under.respond('/readyz', passed, 50)).headers['Age'], undefined);
  }
});

test('P-090 if a probe requests the same URL as another probe less than one second earlier, the probe thread waits 2 ms for the main thread, and up to 200 ms if the main thread has begun to answer within these 2 ms', async () => {
  for (const isTaken of [false, true]) {
    const under = new ResponderUnderTest();
    await under.respond('/readyz', passed);
    await under.clock.advance(500);
    under.clock.after(1, () => {
      if (isTaken) under.taken = 2;
    });
    const { tookMs, headers, status } = await under.respond('/readyz');
    assert.deepEqual([status, headers['Age']], [200, '0']);
    assert.ok(isTaken ? tookMs >= 200 && tookMs <= 210 : tookMs >= 2 && tookMs <= 10, String(tookMs));
    // The main thread has not yet responded to the previous probe, so the probe thread answers this probe at once, with
    // the stored response.
    assert.equal((await under.respond('/readyz')).tookMs, 0);
  }
});

test('P-090 if the main thread is busy, a probe that repeats within one second gets the stored response without a wait for its checks', async () => {
  const under = new ResponderUnderTest();
  await under.respond('/readyz', passed, 50);
  // The simulated main thread begins to answer this probe at once, but the health checks end only in a later turn of
  // its event loop.
  under.taken = 2;
  const { tookMs, headers } = await under.respond('/readyz');
  assert.deepEqual([tookMs, headers['Age']], [0, '0']);
});

test('P-090 a probe that repeats within one second gets the new results of its checks if these checks take less than 200 ms', async () => {
  const under = new ResponderUnderTest();
  await under.respond('/readyz', passed);
  under.tookMs = 150;
  const { tookMs, body } = await under.respond('/readyz', red, 151);
  assert.deepEqual([tookMs >= 150, body], [true, red.body]);
});

test('the probe thread still knows which requests the main thread has begun to handle after more than 2^31 requests', () => {
  let taken = 0;
  const ids: number[] = [];
  const questions = new Questions(
    new FakeClock(),
    (id) => ids.push(id),
    () => taken,
    2 ** 31 - 2,
  );
  for (const key of ['a', 'b', 'c', 'd']) {
    const question = { key, url: '/readyz', method: 'GET', isUsual: true };
    questions.ask(question);
    assert.equal(questions.isInLine(question), true, key);
    taken = ((ids.at(-1) as number) + 1) | 0;
    assert.equal(questions.isInLine(question), false, key);
  }
});

test('P-090 if the main thread has not yet responded to any probe, the probe port waits for the time limit of a check; then /livez and /healthz pass, and /readyz fails', async () => {
  for (const [path, status, body] of [
    ['/livez', 200, 'ok'],
    ['/healthz?verbose', 200, 'ok'],
    ['/readyz', 500, '[-]event-loop failed: reason withheld\nreadyz check failed\n'],
    ['/readyz/ping', 500, 'internal server error: reason withheld\n'],
  ] as const) {
    const answer = await new ResponderUnderTest().respond(path);
    assert.deepEqual([answer.status, answer.body, answer.headers['Age']], [status, body, undefined]);
    assert.ok(answer.tookMs > 900 && answer.tookMs < 1_000, String(answer.tookMs));
  }
});

test('P-090, K-198 if the event loop has been blocked since the start, a probe waits only 200 ms, and does not wait for health checks', async () => {
  for (const [path, status] of [
    ['/livez', 200],
    ['/readyz', 500],
  ] as const) {
    const under = new ResponderUnderTest();
    under.clock.after(150, () => {
      under.stalledMs = 300;
    });
    const answer = await under.respond(path);
    assert.deepEqual([answer.status, answer.tookMs], [status, 200]);
  }
});

test('P-090 /readyz fails after a stall of 5 s, and /livez and /healthz fail after a stall of 30 s', async () => {
  const under = new ResponderUnderTest();
  for (const path of ['/readyz', '/livez', '/healthz']) await under.respond(path, passed);
  for (const [stalledMs, expected] of [
    [4_999, [200, 200, 200]],
    [5_000, [500, 200, 200]],
    [29_999, [500, 200, 200]],
    [30_000, [500, 500, 500]],
    [0, [200, 200, 200]],
  ] as const) {
    under.stalledMs = stalledMs;
    const paths = ['/readyz', '/livez', '/healthz'];
    const answers = await Promise.all(paths.map((path) => under.respond(path)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      expected,
    );
    for (const { body } of answers.filter(({ status }) => status === 500)) {
      assert.match(body, /^\[-\]event-loop failed: reason withheld\n(readyz|livez|healthz) check failed\n$/);
    }
  }
  under.stalledMs = 30_000;
  const before = under.asked.length;
  assert.deepEqual([(await under.respond('/livez?verbose')).tookMs, under.asked.length], [0, before]);
  assert.equal((await under.respond('/livez?exclude=event-loop', passed)).status, 200);
  assert.equal((await under.respond('/livez/ping')).body, 'internal server error: reason withheld\n');
});

test('P-077 after the shutdown has begun, a probe of /readyz that includes the check `shutdown` gets no stored response; a probe that excludes this check still does', async () => {
  const under = new ResponderUnderTest();
  const leaving = ['/readyz', '/readyz/shutdown', '/readyz/%73hutdown'];
  const paths = [...leaving, '/readyz?exclude=shutdown', '/readyz/ping', '/livez', '/healthz'];
  for (const path of paths) await under.respond(path, passed);
  under.isShuttingDown = true;
  const late = await under.respond('/readyz', passed);
  assert.deepEqual([late.status, late.body], [500, '[-]shutdown failed: reason withheld\nreadyz check failed\n']);
  under.stalledMs = 1_000;
  const statuses = await Promise.all(paths.map(async (path) => (await under.respond(path)).status));
  assert.deepEqual(statuses, [500, 500, 500, 200, 200, 200, 200]);
});

test('a scrape waits up to 5 s for the main thread, and then gets the last metrics with their age', async () => {
  const under = new ResponderUnderTest();
  const scraped = { status: 200, headers: {}, body: 'a 1\n' };
  assert.equal((await under.respond('/metrics?name=a', scraped, 4_900)).body, 'a 1\n');
  await under.clock.advance(60_000);
  const { headers, tookMs } = await under.respond('/metrics', undefined, 0, 'HEAD');
  assert.deepEqual([headers['Age'], tookMs > 5_000 && tookMs < 6_000], ['65', true]);
  assert.equal((await under.respond('/metrics/slis')).status, 503);
  assert.deepEqual(under.asked, ['GET /metrics', 'GET /metrics', 'GET /metrics/slis']);
});

test('a response to a probe of an unknown check, or a response longer than a million characters, is not stored', async () => {
  const under = new ResponderUnderTest();
  const long = (length: number): Answer => ({ status: 200, headers: {}, body: 'x'.repeat(length) });
  assert.equal((await under.respond('/livez/none', notFound)).status, 404);
  assert.equal((await under.respond('/metrics', long(1_000_000))).status, 200);
  assert.equal((await under.respond('/metrics/slis', long(1_000_001))).status, 200);
  const paths = ['/livez/none', '/metrics', '/metrics/slis'];
  const statuses = await Promise.all(paths.map(async (path) => (await under.respond(path)).status));
  assert.deepEqual(statuses, [200, 200, 503]);
});

test('the probe port answers an unknown URL with 404, without a request to the main thread', async () => {
  const under = new ResponderUnderTest();
  for (const url of [
    '/',
    '',
    '*',
    '/metricsx',
    '/metrics/x',
    '/readyzx',
    'http://host/readyz',
    '/../readyz',
    '//livez',
  ]) {
    assert.equal((await under.respond(url)).status, 404, url);
  }
  assert.deepEqual(under.asked, []);
});

test('at most 64 different probe URLs wait for the main thread; the usual probe URLs, such as /readyz, are always passed to the main thread, and their last responses are stored', async () => {
  const under = new ResponderUnderTest();
  await under.respond('/readyz', passed);
  await under.respond('/readyz?x=1', passed);
  for (let index = 0; index < 200; index++) await under.respond(`/readyz?exclude=${String(index)}`, passed);
  await under.clock.advance(10_000);
  assert.equal((await under.respond('/readyz?y=2')).headers['Age'] !== undefined, true);
  const before = under.asked.length;
  const many = Array.from({ length: 500 }, (_, index) => under.responder.respond(`/livez/${String(index)}`, 'GET'));
  await settled();
  assert.ok(under.asked.length - before <= 64, String(under.asked.length - before));
  const usual = ['/readyz?verbose', '/livez?verbose', '/healthz', '/metrics', '/metrics/slis'];
  many.push(...usual.map((url) => under.responder.respond(url, 'GET')));
  await settled();
  assert.deepEqual(
    under.asked.slice(-usual.length),
    usual.map((url) => `GET ${url}`),
  );
  assert.equal((await under.clock.advanceUntil('all answers', Promise.all(many))).length, 505);
});
