import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { constants, mkdirSync, statSync, truncateSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { adapterNames, isSecure, type AdapterName } from '../support/adapters.ts';
import { AuditFile } from '../support/audit-file.ts';
import { get, newAccount, runClient } from '../support/closed-loop-client.ts';
import { disposed } from '../support/disposed.ts';
import { Exposition } from '../support/exposition.ts';
import { registered } from '../support/under-register.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';
import { clientOn, type Client } from '../support/serving.ts';
import { until } from '../support/until.ts';

const whole = ['RequestReceived', 'ResponseComplete'];

function audited(path: string, env: Readonly<Record<string, string>> = {}): ProcessUnderTest {
  return new ProcessUnderTest('is-audited.ts', { LAMEDUCK_AUDIT_LOG_PATH: path, ...env });
}

async function dial(port: number, adapter: AdapterName = 'node:http'): Promise<Client> {
  return clientOn(connect({ port, host: '127.0.0.1', noDelay: true }), adapter);
}

/** shutDownUnderLoad sends SIGTERM while requests are in flight. It returns how many requests got a response. */
async function shutDownUnderLoad(process_: ProcessUnderTest, adapter: AdapterName, requests: number): Promise<number> {
  const port = await process_.ready();
  const account = newAccount();
  const { signal: stop } = new AbortController();
  const clients = Array.from({ length: 20 }, () => runClient({ port, isSecure: isSecure(adapter), account, stop }));
  await until(() => account.answered >= requests / 2);
  process_.kill('SIGTERM');
  await Promise.all(clients);
  assert.deepEqual(account.lost, []);
  return account.answered;
}

describe('every kind of server, such as node:http, writes audit lines for all its requests', { concurrency: 3 }, () => {
  for (const adapter of adapterNames) {
    test(`A-206 every request has its audit lines after a shutdown under load: ${adapter}`, async (t) => {
      const file = disposed(t, new AuditFile());
      const env = { ADAPTER: adapter, LAMEDUCK_SHUTDOWN_DELAY_DURATION: '500ms' };
      const served = disposed(t, audited(file.path, adapter === 'register' ? { ...registered(), ...env } : env));
      const answered = await shutDownUnderLoad(served, adapter, 400);
      assert.equal((await served.finalLine())['auditEventsMissing'], 0);
      const stages = [...file.stages.values()];
      assert.equal(stages.length, answered);
      for (const one of stages) assert.deepEqual(one, whole);
    });
  }
});

test('A-206 if SIGTERM arrives in the middle of 10 000 requests, each request has its audit lines, and each line is complete', async (t) => {
  const file = disposed(t, new AuditFile());
  const served = disposed(t, audited(file.path, { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '2s' }));
  const answered = await shutDownUnderLoad(served, 'node:http', 10_000);
  const { auditEventsMissing, exitCode } = await served.finalLine();
  assert.deepEqual([auditEventsMissing, exitCode], [0, 0]);
  assert.equal(file.lines.length, 2 * answered);
  for (const one of file.stages.values()) assert.deepEqual(one, whole);
});

test('after SIGKILL, only the last audit events are missing in the audit log', async (t) => {
  const file = disposed(t, new AuditFile());
  const served = disposed(t, audited(file.path));
  const client = await dial(await served.ready());
  for (let count = 1; count <= 500; count++) {
    client.get('/', `X-Request-Id: ${String(count)}\r\n`);
    await client.reader.next();
  }
  // On a busy machine, an audit event reaches the disk long after its response.
  await until(() => file.lines.length > 810);
  served.kill('SIGKILL');
  await served.exit;
  const ids = file.events
    .filter(({ stage }) => stage === 'ResponseComplete')
    .map(({ annotations }) => annotations?.['x-request-id']);
  assert.deepEqual(
    ids,
    Array.from({ length: ids.length }, (_, index) => String(index + 1)),
  );
  assert.ok(ids.length > 400, String(ids.length));
});

test('an audit line that SIGKILL left incomplete gets its line feed at the next start', async (t) => {
  const file = disposed(t, new AuditFile());
  for (const requests of [2, 1]) {
    const served = disposed(t, audited(file.path));
    const client = await dial(await served.ready());
    for (let count = 0; count < requests; count++) {
      client.get('/');
      await client.reader.next();
    }
    client.socket.destroy();
    served.kill('SIGTERM');
    await served.exit;
    if (requests === 2) truncateSync(file.path, statSync(file.path).size - 100);
  }
  const [received, complete, , torn = '', ...later] = file.lines;
  for (const line of [received, complete, ...later]) assert.doesNotThrow(() => void JSON.parse(line ?? ''));
  assert.throws(() => void JSON.parse(torn));
  assert.equal(later.length, 2);
});

test('for each HTTP status code, the audit log has as many requests as the metrics', async (t) => {
  const file = disposed(t, new AuditFile());
  const served = disposed(t, audited(file.path));
  const port = await served.ready();
  for (const path of ['/', '/', '/missing', '/hang', '/stream', '/readyz']) {
    const client = await dial(port);
    client.get(path, 'Accept: text/event-stream\r\n');
    if (path === '/hang') await until(() => file.text.includes('"/hang"'));
    else await once(client.socket, 'data');
    client.reset();
  }
  await until(() => file.events.filter(({ stage }) => stage === 'ResponseComplete').length === 5);
  const client = await dial(port);
  client.get('/metrics');
  const scraped = new Exposition((await client.reader.next())?.body ?? '');
  const counts = new Map<string, number>();
  const streams = new Set(file.events.filter(({ stage }) => stage === 'ResponseStarted').map(({ auditID }) => auditID));
  for (const { stage, auditID, responseStatus } of file.events) {
    const status = String(responseStatus?.code ?? '');
    if (stage === 'ResponseComplete' && !streams.has(auditID)) counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  assert.deepEqual(Object.fromEntries(counts), { 200: 2, 404: 1, '': 1 });
  for (const [status, count] of counts) {
    const labels = { http_response_status_code: status };
    assert.equal(scraped.value('http_server_request_duration_seconds_count', labels), count);
  }
  assert.equal(scraped.value('lameduck_long_running_requests_ended_total'), streams.size);
  assert.equal(scraped.value('lameduck_audit_events_dropped_total'), 0);
});

test('a request whose handler throws has the audit stage Panic, and Node prints where the handler threw', async (t) => {
  const file = disposed(t, new AuditFile());
  const served = disposed(t, audited(file.path));
  const client = await dial(await served.ready());
  client.get('/throw');
  assert.equal((await served.exit).code, 82);
  assert.deepEqual([...file.stages.values()], [['RequestReceived', 'Panic']]);
  assert.match(served.stderr, /is-audited\.ts:\d+\n +throw new Error/);
});

test('with `-` as auditLogPath, each audit event is one complete line of standard output', async (t) => {
  const served = disposed(t, audited('-'));
  const answered = await shutDownUnderLoad(served, 'node:http', 400);
  const final = await served.finalLine();
  assert.equal(final['auditEventsMissing'], 0);
  const events = served.lines.filter(({ kind }) => kind === 'Event');
  assert.equal(events.length, 2 * answered);
  for (const { kind, level, msg } of served.lines)
    assert.ok(kind === 'Event' || level !== undefined || msg === 'listening');
});

const hostile: readonly [what: string, code: string, prepare: (file: AuditFile) => string][] = [
  ['in a folder that does not exist', 'ENOENT', ({ folder }) => join(folder, 'missing', 'audit.log')],
  [
    'of a folder',
    'EISDIR',
    ({ path }) => {
      mkdirSync(path);
      return path;
    },
  ],
  [
    'to a pipe that is never read',
    'ENXIO',
    ({ path }) => {
      execFileSync('mkfifo', [path]);
      return path;
    },
  ],
  ['on a full disk', 'ENOSPC', () => '/dev/full'],
  // The path of a file in /proc that not even root can write.
  ['to a read-only file', 'EACCES', () => '/proc/sys/kernel/ostype'],
];
describe('a program still serves requests if its audit log cannot be written', { concurrency: 3 }, () => {
  for (const [what, code, prepare] of hostile) {
    test(`an audit log that cannot be written, here ${what}, causes one log line, and the program still serves requests`, async (t) => {
      const file = disposed(t, new AuditFile());
      const served = disposed(t, audited(prepare(file)));
      const client = await dial(await served.ready());
      for (let count = 0; count < 50; count++) {
        client.send(get);
        assert.equal((await client.reader.next())?.status, 200);
      }
      served.kill('SIGTERM');
      const { auditEventsMissing, exitCode, durationMs } = await served.finalLine();
      assert.deepEqual([auditEventsMissing, exitCode], [100, 0]);
      assert.ok((durationMs as number) < 10_000, String(durationMs));
      const failures = served.lines.filter(({ msg }) => msg === 'audit log failed');
      assert.deepEqual(
        failures.map(({ err }) => (err as { code: string }).code),
        [code],
      );
    });
  }
});

test('A-205 after the last request, the process waits until a slow reader has read its audit log', async (t) => {
  const file = disposed(t, new AuditFile());
  execFileSync('mkfifo', [file.path]);
  const reader = await open(file.path, constants.O_RDONLY | constants.O_NONBLOCK);
  t.after(() => reader.close());
  const served = disposed(t, audited(file.path));
  const client = await dial(await served.ready());
  // The audit lines of 300 requests need more space than the buffer of the pipe has, so the process must wait for the
  // reader.
  for (let count = 0; count < 300; count++) {
    client.get('/');
    await client.reader.next();
  }
  client.socket.destroy();
  served.kill('SIGTERM');
  await served.line('the end of the drain', ({ name }) => name === 'InFlightRequestsDrained');
  let text = '';
  const buffer = Buffer.alloc(65_536);
  while (served.child.exitCode === null && text.split('\n').length <= 600) {
    const { bytesRead } = await reader.read(buffer).catch(() => ({ bytesRead: 0 }));
    text += buffer.toString('utf8', 0, bytesRead);
    if (bytesRead === 0) await setTimeout(5);
  }
  assert.equal((await served.finalLine())['auditEventsMissing'], 0);
});

test('if no process reads the pipe of the audit log, one log line reports this, and the metric and the final log line count the dropped events', async (t) => {
  const file = disposed(t, new AuditFile());
  execFileSync('mkfifo', [file.path]);
  const reader = await open(file.path, constants.O_RDONLY | constants.O_NONBLOCK);
  t.after(() => reader.close());
  const served = disposed(t, audited(file.path));
  const port = await served.ready();
  const account = newAccount();
  const stop = new AbortController();
  const clients = Array.from({ length: 20 }, () => runClient({ port, account, stop: stop.signal }));
  const failures = (): number => served.lines.filter(({ msg }) => msg === 'audit log failed').length;
  await until(() => failures() > 0);
  // From here on, the queue of audit lines is full. The server must still respond to its clients.
  const { answered } = account;
  await until(() => account.answered >= answered + 500);
  stop.abort();
  await Promise.all(clients);
  assert.deepEqual(account.lost, []);
  const client = await dial(port);
  client.get('/metrics');
  const scraped = new Exposition((await client.reader.next())?.body ?? '');
  const dropped = scraped.value('lameduck_audit_events_dropped_total') ?? 0;
  assert.ok(dropped >= 1_000, String(dropped));
  client.socket.destroy();
  served.kill('SIGTERM');
  const { auditEventsMissing, exitCode } = await served.finalLine();
  assert.ok((auditEventsMissing as number) > dropped, String(auditEventsMissing));
  assert.equal(exitCode, 0);
  assert.equal(failures(), 1);
});
