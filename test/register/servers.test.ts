// Tests which servers of a program get a lifecycle from lameduck/register, and on which paths and ports its state is
// visible.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { disposed } from '../support/disposed.ts';
import { reservePort } from '../support/reserved-port.ts';
import { registered, startUnderRegister, messages } from '../support/under-register.ts';
import { LoggingCommand } from '../support/process-under-test.ts';
import { HeldRequest } from '../support/held-request.ts';

void describe('lameduck/register gives all servers of a program one lifecycle', { concurrency: 2 }, () => {
  test('P-020, P-112 under lameduck/register servers of every kind drain together, and the program can then close each of them', async (t) => {
    const subject = disposed(t, startUnderRegister('knows-nothing-of-many-servers.cts'));
    const { ports } = (await subject.line('listening', ({ msg }) => msg === 'listening')) as unknown as {
      readonly ports: { readonly http: number };
    };
    await subject.signaled('HasBeenReady');
    const request = await HeldRequest.open(t, ports.http);
    subject.kill('SIGTERM');
    await subject.signaled('HTTPServerStoppedListening');
    await assert.rejects(fetch(`http://127.0.0.1:${String(ports.http)}/`));
    assert.equal(messages(subject.lines).includes('closed'), false);
    await request.release();
    assert.deepEqual(await subject.exit, { code: 0, signal: null });
    assert.deepEqual(
      subject.lines.filter(({ msg }) => msg === 'closed').map(({ hasFailed }) => hasFailed),
      [false, false, false],
    );
    assert.equal(messages(subject.lines).filter((msg) => msg === 'shutdown ended').length, 1);
  });

  // lameduck does not close a server that begins to listen during the shutdown, because a request in flight may need it.
  test('P-054 under lameduck/register, the handler of a request in flight can start another server during the drain, and send requests to this server', async (t) => {
    const code = `
      const { createServer, get } = require('node:http');
      const say = (msg, more) => console.log(JSON.stringify({ msg, ...more }));
      const useHelper = (response) => {
        const helper = createServer((_, own) => own.end('helped')).listen(0, '127.0.0.1', () => {
          get({ port: helper.address().port, agent: false }, (answer) => {
            answer.on('data', (chunk) => response.end(chunk)).on('end', () => helper.close());
          });
        });
      };
      const server = createServer((request, response) => {
        request.resume().on('end', () => useHelper(response));
      });
      server.listen(0, '127.0.0.1', () => say('listening', { port: server.address().port }));`;
    const command = disposed(t, new LoggingCommand(process.execPath, ['--eval', code], { env: registered() }));
    const { port } = await command.line('listening', ({ msg }) => msg === 'listening');
    const request = await HeldRequest.open(t, Number(port));
    command.kill('SIGTERM');
    await command.line('the end of the listener', ({ name }) => name === 'HTTPServerStoppedListening');
    assert.equal(await request.release(), 'helped');
    assert.deepEqual(await command.exit, { code: 0, signal: null });
  });

  test("lameduck/register adds no path to the program's own port", async (t) => {
    const subject = disposed(t, startUnderRegister('knows-nothing.ts'));
    const port = await subject.ready();
    const response = await fetch(`http://127.0.0.1:${String(port)}/readyz`);
    assert.equal(response.status, 404);
    assert.equal(await response.text(), "the program's own\n");
  });

  test('a server that already has a lifecycle keeps it under lameduck/register', async (t) => {
    const subject = disposed(t, startUnderRegister('listens.ts'));
    const port = await subject.ready();
    const response = await fetch(`http://127.0.0.1:${String(port)}/readyz`);
    assert.equal(await response.text(), 'ok');
    subject.kill('SIGTERM');
    assert.deepEqual(await subject.exit, { code: 0, signal: null });
    assert.equal(messages(subject.lines).filter((msg) => msg === 'shutdown ended').length, 1);
  });
});

void describe('lameduck/register reads its settings from environment variables', { concurrency: 2 }, () => {
  test('with lameduck/register the probe port is 8081 by default, and if this port is in use, one log line says so', async (t) => {
    const subject = disposed(t, startUnderRegister('knows-nothing.ts', { LAMEDUCK_PROBE_PORT: '' }));
    // The default probe port may be in use on this machine. So the test accepts two log lines: the probe port listens,
    // or the probe port is in use. Both lines name the port.
    const line = await subject.line('the probe port', ({ msg }) => String(msg).includes('probe port'));
    assert.match(JSON.stringify(line), /8081/);
    await subject.ready();
  });

  test('under lameduck/register, a configured probe port that is in use does not end the program', async (t) => {
    const other = createServer().listen(0);
    await once(other, 'listening');
    t.after(() => other.close());
    const { port } = other.address() as AddressInfo;
    const subject = disposed(t, startUnderRegister('knows-nothing.ts', { LAMEDUCK_PROBE_PORT: String(port) }));
    const line = await subject.line('the probe port', ({ level }) => level === 50);
    assert.match(JSON.stringify(line), new RegExp(String(port)));
    const own = await subject.ready();
    assert.equal((await fetch(`http://127.0.0.1:${String(own)}/`)).status, 200);
    subject.kill('SIGTERM');
    assert.deepEqual(await subject.exit, { code: 0, signal: null });
  });

  for (const [first, listens] of [
    ['plain', 2],
    ['code', 1],
  ] as const)
    test(`under lameduck/register, the lifecycle that the program creates with lameduck() gets the probe port, whichever server listens first (here: ${first})`, async (t) => {
      const env = { LAMEDUCK_PROBE_PORT: String(await reservePort()), FIRST: first };
      const subject = disposed(t, startUnderRegister('has-a-plain-server.ts', env));
      const { port } = await subject.line('listening', ({ msg }) => msg === 'listening');
      await subject.line('the probe port', ({ msg }) => msg === 'probe port listens');
      await fetch(`http://127.0.0.1:${String(port)}/`);
      await subject.line(
        'the line about the port',
        ({ msg }) => msg === 'probe port passed to the lifecycle that the program created',
      );
      await subject.line('the probe port', ({ msg }) => {
        return msg === 'probe port listens' && messages(subject.lines).filter((one) => one === msg).length === listens;
      });
      const response = await fetch(`http://127.0.0.1:${env.LAMEDUCK_PROBE_PORT}/readyz/of-the-code`);
      assert.equal(response.status, 200);
      assert.deepEqual(
        subject.lines.filter(({ level }) => Number(level) > 30),
        [],
      );
      subject.kill('SIGTERM');
      assert.deepEqual(await subject.exit, { code: 0, signal: null });
    });

  test("P-080 under lameduck/register, the program's own health paths get 503 from the process signal on, and all other paths are served", async (t) => {
    const env = { LAMEDUCK_READINESS_PATHS: '/health,/ready', LAMEDUCK_SHUTDOWN_DELAY_DURATION: '20s' };
    const subject = disposed(t, startUnderRegister('knows-nothing.ts', env));
    const port = String(await subject.ready());
    const statusOf = async (path: string, method = 'GET'): Promise<number> =>
      (await fetch(`http://127.0.0.1:${port}${path}`, { method })).status;
    assert.equal(await statusOf('/health'), 200);
    subject.kill('SIGTERM');
    await subject.signaled('ShutdownInitiated');
    const asked = [statusOf('/health'), statusOf('/ready/?deep', 'HEAD'), statusOf('/health', 'POST'), statusOf('/')];
    assert.deepEqual(await Promise.all(asked), [503, 503, 200, 200]);
  });

  test('P-077 under lameduck/register, the probe port reports that the program is ready, and after the process signal that it is alive but not ready', async (t) => {
    const env = { LAMEDUCK_PROBE_PORT: String(await reservePort()), LAMEDUCK_SHUTDOWN_DELAY_DURATION: '20s' };
    const subject = disposed(t, startUnderRegister('knows-nothing.ts', env));
    await subject.ready();
    const probe = async (path: string): Promise<number> =>
      (await fetch(`http://127.0.0.1:${env.LAMEDUCK_PROBE_PORT}${path}`)).status;
    await subject.line('the probe port', ({ msg }) => String(msg).includes('probe port'));
    assert.deepEqual(await Promise.all(['/readyz', '/livez', '/metrics'].map(probe)), [200, 200, 200]);
    subject.kill('SIGTERM');
    await subject.signaled('ShutdownInitiated');
    assert.deepEqual(await Promise.all(['/readyz', '/livez'].map(probe)), [500, 200]);
  });

  test('under lameduck/register, each invalid value causes one error line, and its default applies', async (t) => {
    const env = {
      LAMEDUCK_SHUTDOWN_DELAY_DURATION: '15',
      LAMEDUCK_GOAWAY_CHANCE: 'often',
      LAMEDUCK_PRE_STOP_SECONDS: '1',
    };
    const subject = disposed(t, startUnderRegister('knows-nothing.ts', env));
    await subject.ready();
    const errors = subject.lines.filter(({ level }) => level === 50);
    assert.equal(errors.length, 1);
    assert.match(
      String(errors[0]?.msg),
      /^invalid settings, defaults are used: shutdownDelayDuration: "15" from LAMEDUCK_SHUTDOWN_DELAY_DURATION: .*; goawayChance: "often" from LAMEDUCK_GOAWAY_CHANCE: /,
    );
    const started = await subject.line('the start', ({ msg }) => String(msg).startsWith('lifecycle started: '));
    assert.match(String(started.msg), /shutdownDelayDuration 0s \(default\)/);
    assert.match(String(started.msg), /preStopSeconds 1s \(env\)/);
  });

  test('P-075 under lameduck/register, a shutdown delay that does not fit into the shutdown budget is shortened, with a warning that has the sum of the budget', async (t) => {
    const env = { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '20s', LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '10' };
    const subject = disposed(t, startUnderRegister('knows-nothing.ts', env));
    await subject.ready();
    const [warning] = subject.lines.filter(({ level }) => level === 40);
    assert.match(String(warning?.msg), /^shutdownDelayDuration is shortened to 4s to fit .*drain -15s$/);
    const started = await subject.line('the start', ({ msg }) => String(msg).startsWith('lifecycle started: '));
    assert.match(String(started.msg), /shutdownDelayDuration 4s .* = drain 1s$/);
  });

  test('P-075 under lameduck/register a request in flight is served even if the grace period of the pod is only 4 s', async (t) => {
    const env = { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '1s', LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '4' };
    const subject = disposed(t, startUnderRegister('knows-nothing.ts', env));
    const request = await HeldRequest.open(t, await subject.ready());
    subject.kill('SIGTERM');
    await subject.signaled('HTTPServerStoppedListening');
    assert.equal(await request.release(), 'served');
    assert.deepEqual(await subject.exit, { code: 0, signal: null });
    const [warning] = subject.lines.filter(({ level }) => level === 40);
    assert.match(
      String(warning?.msg),
      /^shutdownDelayDuration is shortened to 0s and destroyHookTimeout is shortened to 1s to fit /,
    );
  });

  for (const seconds of ['1', '2'])
    test(`P-075, K-084 under lameduck/register with a pod grace period of ${seconds} s, a request that ends within 1 s is served, and a longer one is cut with exit code 80`, async (t) => {
      const env = { LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: seconds };
      const subject = disposed(t, startUnderRegister('knows-nothing.ts', env));
      const port = await subject.ready();
      const [short, long] = [await HeldRequest.open(t, port), await HeldRequest.open(t, port, '/long')];
      subject.kill('SIGTERM');
      await subject.signaled('HTTPServerStoppedListening');
      assert.equal(await short.release(), 'served');
      assert.deepEqual(await subject.exit, { code: 80, signal: null });
      assert.equal(long.head, '');
      const last = subject.lines.at(-1);
      assert.partialDeepStrictEqual(last, { msg: 'shutdown ended', exitCode: 80, budgetMs: 1_000 });
      assert.partialDeepStrictEqual(last, { unfinished: [{ method: 'POST', route: '/long' }] });
    });
});
