// Tests programs with lameduck/register that handle process signals themselves.
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { disposed } from '../support/disposed.ts';
import { FirstProcess, skip } from '../support/first-process.ts';
import { startUnderRegister, messages, registered } from '../support/under-register.ts';
import { HeldRequest } from '../support/held-request.ts';
import { ProcessUnderTest } from '../support/process-under-test.ts';

const program = 'knows-nothing.ts';

const count = ({ lines }: ProcessUnderTest, msg: string): number => lines.filter((line) => line.msg === msg).length;

/**
 * `drain()` sends SIGTERM while a request is in flight. It fails unless the request gets its response before any signal
 * listener of the program is called.
 */
async function drain(t: TestContext, subject: ProcessUnderTest): Promise<void> {
  const request = await HeldRequest.open(t, await subject.ready());
  subject.kill('SIGTERM');
  await subject.signaled('HTTPServerStoppedListening');
  assert.equal(count(subject, 'cleanup') + count(subject, 'early'), 0);
  assert.equal(await request.release(), 'served');
}

void describe('lameduck/register drains the program before it calls the signal listeners', { concurrency: 2 }, () => {
  test('P-111 under lameduck/register, the signal listener of the program is called after the last response and the final log line, with the name and the number of the signal', async (t) => {
    const subject = disposed(t, startUnderRegister(program, { IDIOM: 'closes its server and exits' }));
    await drain(t, subject);

    assert.deepEqual(await subject.exit, { code: 3, signal: null });
    const order = messages(subject.lines);
    assert.ok(order.indexOf('shutdown ended') < order.indexOf('cleanup'));
    const { signal, number } = await subject.line('cleanup', ({ msg }) => msg === 'cleanup');
    assert.deepEqual({ signal, number }, { signal: 'SIGTERM', number: 15 });
    assert.deepEqual((await subject.finalLine())['requests'], { answered: 1, refused: 0, aborted: 0, cut: 0 });
  });

  test('P-058 under lameduck/register, a program without signal listeners exits with 0 immediately after the drain', async (t) => {
    const subject = disposed(t, startUnderRegister(program, { IDIOM: 'does nothing' }));
    await drain(t, subject);
    assert.deepEqual(await subject.exit, { code: 0, signal: null });
    assert.deepEqual((await subject.finalLine())['heldBy'], []);
  });

  test('under lameduck/register, if an `exit` listener of the program throws, the error is printed, and the exit code is 82', async (t) => {
    const subject = disposed(t, startUnderRegister(program, { IDIOM: 'throws in its exit listener' }));
    await drain(t, subject);
    assert.deepEqual(await subject.exit, { code: 82, signal: null });
    assert.match(subject.stderr, /Error: the exit listener has failed\n +at /);
  });

  test('P-058 under lameduck/register, a program whose process.exit throws has a final log line, and its exit listeners are called', async (t) => {
    const idiom = 'replaces process.exit by a function that throws';
    const subject = disposed(t, startUnderRegister(program, { IDIOM: idiom }));
    await drain(t, subject);
    assert.deepEqual(await subject.exit, { code: 0, signal: null });
    assert.equal((await subject.finalLine())['exitCode'], 0);
    assert.equal(count(subject, 'exit listener'), 1);
  });

  test('under lameduck/register, the signal listener of the program is called after the last response, and the process exits with the code that this listener passes to process.exit()', async (t) => {
    const subject = disposed(t, startUnderRegister(program, { IDIOM: 'exits at once' }));
    await drain(t, subject);
    assert.deepEqual(await subject.exit, { code: 4, signal: null });
    assert.equal(count(subject, 'cleanup'), 1);
  });

  test('under lameduck/register, if the drain has cut a request, the exit code is 80, even if a listener exits with 0', async (t) => {
    const env = { LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '4', LAMEDUCK_DESTROY_HOOK_TIMEOUT: '1s' };
    const subject = disposed(t, startUnderRegister(program, { IDIOM: 'exits with 0 whatever was', ...env }));
    const request = await HeldRequest.open(t, await subject.ready());
    subject.kill('SIGTERM');
    await request.cut();
    assert.deepEqual(await subject.exit, { code: 80, signal: null });
    assert.equal((await subject.finalLine())['exitCode'], 80);
  });

  for (const idiom of ['signals itself', 'signals itself if it has the only listener']) {
    test(`P-116 under lameduck/register, the process signal that a program sends to itself at the end of its cleanup ends the process, and the cleanup has run once: a program that ${idiom}`, async (t) => {
      const subject = disposed(t, startUnderRegister(program, { IDIOM: idiom }));
      await subject.ready();
      subject.kill('SIGTERM');
      assert.deepEqual(await subject.exit, { code: null, signal: 'SIGTERM' });
      assert.equal(count(subject, 'cleanup'), 1);
      assert.equal((await subject.finalLine())['exitCode'], 0);
    });
  }

  test('A-031, P-057 under lameduck/register, a second process signal during the drain ends the process at once with exit code 1, without the cleanup in the signal listener of the program', async (t) => {
    const subject = disposed(t, startUnderRegister(program, { IDIOM: 'closes its server and exits' }));
    const request = await HeldRequest.open(t, await subject.ready());
    subject.kill('SIGTERM');
    await subject.signaled('HTTPServerStoppedListening');
    await subject.killAgain('SIGINT');
    assert.deepEqual(await subject.exit, { code: 1, signal: null });
    assert.equal(count(subject, 'cleanup'), 0);
    await request.cut();
  });

  test('P-075 under lameduck/register cleanup code that does not end is cut off at the end of the shutdown budget, with exit code 80 and a log line', async (t) => {
    const env = { IDIOM: 'never ends its cleanup', LAMEDUCK_TERMINATION_GRACE_PERIOD_SECONDS: '5' };
    const subject = disposed(t, startUnderRegister(program, env));
    await subject.ready();
    subject.kill('SIGTERM');
    assert.deepEqual(await subject.exit, { code: 80, signal: null });
    assert.equal(count(subject, 'cleanup'), 1);
    assert.match(String(subject.lines.at(-1)?.msg), /own cleanup took longer than the shutdown budget/);
  });

  test('P-058 under lameduck/register, if the signal listener of the program only logs, the process exits with 0 a second later, and the log names what kept the process alive', async (t) => {
    const subject = disposed(t, startUnderRegister(program, { IDIOM: 'only logs' }));
    await drain(t, subject);
    assert.deepEqual(await subject.exit, { code: 0, signal: null });
    assert.deepEqual(messages(subject.lines).slice(-3), ['shutdown ended', 'cleanup', 'event loop not empty']);
  });

  for (const [setting, isCalled] of [
    ['hold', 0],
    ['run', 1],
  ] as const) {
    test(`P-111 with LAMEDUCK_OWN_SIGNAL_LISTENERS=${setting}, the signal listener of the program is called ${isCalled === 1 ? 'at once' : 'only after the drain'}`, async (t) => {
      const env = { IDIOM: 'closes its server and exits', LAMEDUCK_OWN_SIGNAL_LISTENERS: setting };
      const subject = disposed(t, startUnderRegister(program, env));
      const request = await HeldRequest.open(t, await subject.ready());
      subject.kill('SIGTERM');
      await subject.signaled('HTTPServerStoppedListening');
      assert.equal(count(subject, 'cleanup'), isCalled);
      assert.equal(await request.release(), 'served');
      assert.deepEqual(await subject.exit, { code: 3, signal: null });
      assert.equal(count(subject, 'cleanup'), 1);
    });
  }

  test("under lameduck/register, an error in the program's cleanup after a process signal ends the process with exit code 1, as without lameduck/register", async (t) => {
    const subject = disposed(t, startUnderRegister(program, { IDIOM: 'throws in its cleanup' }));
    await subject.ready();
    subject.kill('SIGTERM');
    assert.deepEqual(await subject.exit, { code: 1, signal: null });
    assert.match(subject.stderr, /Error: the cleanup has failed/);
  });

  test('P-111 under lameduck/register, a signal listener that was added before the lifecycle is called after the drain, like the others', async (t) => {
    const early = `data:text/javascript,${encodeURIComponent('process.once("SIGTERM", () => console.log("early"));')}`;
    const { NODE_OPTIONS = '', ...env } = registered({ IDIOM: 'closes its server and exits' });
    const options = { ...env, NODE_OPTIONS: `--import=${early} ${NODE_OPTIONS}` };
    const subject = disposed(t, new ProcessUnderTest(program, options));
    await drain(t, subject);
    assert.deepEqual(await subject.exit, { code: 3, signal: null });
    assert.equal(count(subject, 'early'), 1);
  });

  test("P-055, P-116 under lameduck/register server.close() after the drain reports no error, and a second call reports Node's error", async (t) => {
    const subject = disposed(t, startUnderRegister(program, { IDIOM: 'waits for the close event of its server' }));
    await subject.ready();
    subject.kill('SIGTERM');
    assert.deepEqual(await subject.exit, { code: 0, signal: null });
    assert.equal(count(subject, 'closed'), 1);
    const twice = await subject.line('the second close', ({ msg }) => msg === 'closed twice');
    assert.equal(twice['code'], 'ERR_SERVER_NOT_RUNNING');
  });

  test('under lameduck/register, if the program closes its own server before any process signal, the server closes without an error, and the process ends on its own', async (t) => {
    const subject = disposed(t, startUnderRegister(program, { IDIOM: 'closes before any signal' }));
    assert.deepEqual(await subject.exit, { code: 0, signal: null });
    assert.equal(count(subject, 'closed'), 1);
    assert.equal((await subject.line('callback', ({ msg }) => msg === 'callback'))['hasFailed'], false);
  });

  describe('if PID 1 receives a process signal before its server listens, lameduck/register handles this signal as soon as the server listens, unless the program has its own signal listener', () => {
    const late = new URL('../fixtures/knows-nothing-and-listens-late.ts', import.meta.url).pathname;
    const start = (t: TestContext, env = {}) => disposed(t, new FirstProcess([late], registered(env)));
    const signal = async (first: FirstProcess) => {
      await first.printed(/turn/);
      await first.signalFirst('SIGTERM');
    };
    const turnTwice = async (first: FirstProcess) => {
      const turns = first.output.split('turn').length;
      await first.printed(new RegExp(`turn ${String(turns + 1)}\n`));
    };

    test(
      'K-100, P-066 under lameduck/register, a process signal to PID 1 before the server listens is not lost, and ends the process when the server listens',
      { skip },
      async (t) => {
        const first = start(t);
        await signal(first);
        await turnTwice(first);
        first.child.stdin?.write('listen');
        assert.deepEqual(await first.exit, { code: 0, signal: null });
        assert.match(first.output, /"pid":1,.*"lameduck\/shutdown\/v1","reason":"SIGTERM","exitCode":0/);
      },
    );

    test(
      'P-117 if PID 1 has its own signal listener, lameduck/register does not handle the signal before the server listens',
      { skip },
      async (t) => {
        const first = start(t, { IDIOM: 'own' });
        await signal(first);
        assert.deepEqual(await first.exit, { code: 5, signal: null });
        assert.match(first.output, /^unshare is \d+\n(turn \d+\n)+its own listener\n$/);
      },
    );
  });
});
