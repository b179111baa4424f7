// Which servers of a program get the lifecycle, and what of it they show.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { disposed } from '../support/disposed.ts';
import { guest, messages } from '../support/guest.ts';
import { HeldRequest } from '../support/held-request.ts';

void describe('servers of a guest', { concurrency: 2 }, () => {
  test('P-020, P-112 servers of every kind drain as one, and each can then be closed', async (t) => {
    const subject = disposed(t, guest('knows-nothing-of-many-servers.cts'));
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

  test("the program's own port gains no path", async (t) => {
    const subject = disposed(t, guest('knows-nothing.ts'));
    const port = await subject.ready();
    const response = await fetch(`http://127.0.0.1:${String(port)}/readyz`);
    assert.equal(response.status, 404);
    assert.equal(await response.text(), "the program's own\n");
  });

  test('a server that has a lifecycle already keeps it', async (t) => {
    const subject = disposed(t, guest('listens.ts'));
    const port = await subject.ready();
    const response = await fetch(`http://127.0.0.1:${String(port)}/readyz`);
    assert.equal(await response.text(), 'ok');
    subject.kill('SIGTERM');
    assert.deepEqual(await subject.exit, { code: 0, signal: null });
    assert.equal(messages(subject.lines).filter((msg) => msg === 'shutdown ended').length, 1);
  });
});

void describe('settings of a guest', { concurrency: 2 }, () => {
  test('values that cannot be read are one line at level error, and the defaults', async (t) => {
    const env = {
      LAMEDUCK_SHUTDOWN_DELAY_DURATION: '15',
      LAMEDUCK_GOAWAY_CHANCE: 'often',
      LAMEDUCK_PRE_STOP_SECONDS: '1',
    };
    const subject = disposed(t, guest('knows-nothing.ts', env));
    await subject.ready();
    const errors = subject.lines.filter(({ level }) => level === 50);
    assert.equal(errors.length, 1);
    assert.match(
      String(errors[0]?.msg),
      /^settings have their defaults: shutdownDelayDuration: "15" from LAMEDUCK_SHUTDOWN_DELAY_DURATION: .*; goawayChance: "often" from LAMEDUCK_GOAWAY_CHANCE: /,
    );
    const started = await subject.line('the start', ({ msg }) => String(msg).startsWith('lifecycle started: '));
    assert.match(String(started.msg), /shutdownDelayDuration 0s \(default\)/);
    assert.match(String(started.msg), /preStopSeconds 1s \(LAMEDUCK_PRE_STOP_SECONDS\)/);
  });

  test('P-075 a delay that does not fit into the budget is cut, with a warning that has the sum', async (t) => {
    const env = { LAMEDUCK_SHUTDOWN_DELAY_DURATION: '20s', LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '10' };
    const subject = disposed(t, guest('knows-nothing.ts', env));
    await subject.ready();
    const [warning] = subject.lines.filter(({ level }) => level === 40);
    assert.match(String(warning?.msg), /^shutdownDelayDuration is cut to 4s, which .*drain -15s$/);
    const started = await subject.line('the start', ({ msg }) => String(msg).startsWith('lifecycle started: '));
    assert.match(String(started.msg), /shutdownDelayDuration 4s .* = drain 1s$/);
  });
});
