// Tests an application that fastify-cli starts, or a similar starter with its own signal listeners.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CommandUnderTest } from '../support/command-under-test.ts';
import { disposed } from '../support/disposed.ts';
import { HeldRequest } from '../support/held-request.ts';
import { ProcessUnderTest, type Line } from '../support/process-under-test.ts';

const warning = ({ level, msg }: Line): boolean =>
  level === 40 && msg?.startsWith('close-with-grace ends this process') === true;

test('a starter such as fastify-cli does not cut the drain short, even if the drain takes longer than its close delay, and no warning is logged', async (t) => {
  const program = disposed(t, new ProcessUnderTest('starts-like-fastify-cli.ts', { CLOSE_GRACE_DELAY: '1' }));
  const request = await HeldRequest.open(t, await program.ready());
  program.kill('SIGTERM');
  await program.signaled('HTTPServerStoppedListening');
  assert.equal(await request.release(), 'served');
  assert.deepEqual(await program.exit, { code: 0, signal: null });
  assert.equal(program.lines.filter(({ msg }) => msg === 'onClose').length, 1);
  assert.equal(program.lines.filter(warning).length, 0);
  const { reason, exitCode } = await program.finalLine();
  assert.deepEqual({ reason, exitCode }, { reason: 'SIGTERM', exitCode: 0 });
});

const run = { LAMEDUCK_OWN_SIGNAL_LISTENERS: 'run' };

test('with ownSignalListeners=run, a launcher such as fastify-cli closes the application at the process signal, and the process ends after the drain', async (t) => {
  const env = { CLOSE_GRACE_DELAY: '28000', ...run };
  const program = disposed(t, new ProcessUnderTest('starts-like-fastify-cli.ts', env));
  const request = await HeldRequest.open(t, await program.ready());
  program.kill('SIGTERM');
  await program.signaled('HTTPServerStoppedListening');
  assert.equal(await request.release(), 'served');
  assert.deepEqual(await program.exit, { code: 0, signal: null });
  const said = program.lines.flatMap(({ msg = '' }) => (['onClose', 'closed'].includes(msg) ? [msg] : []));
  assert.deepEqual(said, ['onClose', 'closed']);
  assert.equal((await program.finalLine())['exitCode'], 0);
});

test('with ownSignalListeners=run, a launcher with a close delay that is too short, such as fastify-cli, ends the process before the end of the drain; at the start, lameduck warns which close delay is long enough', async (t) => {
  const env = { CLOSE_GRACE_DELAY: '500', ...run };
  const program = disposed(t, new ProcessUnderTest('starts-like-fastify-cli.ts', env));
  const port = await program.ready();
  assert.match(
    (await program.line('the warning', warning)).msg ?? '',
    /set its delay to at least 28s, or remove close-with-grace/,
  );
  const request = await HeldRequest.open(t, port);
  program.kill('SIGTERM');
  await request.cut();
  assert.deepEqual(await program.exit, { code: 1, signal: null });
  const { exitCode, phases } = await program.finalLine();
  assert.equal(exitCode, 1);
  assert.ok(!('InFlightRequestsDrained' in (phases as object)));
});

test('if fastify-cli encapsulates the application, the error of lameduck/fastify says how to avoid the encapsulation', async (t) => {
  const program = disposed(t, new ProcessUnderTest('starts-like-fastify-cli.ts', { ENCAPSULATED: '1' }));
  assert.deepEqual(await program.exit, { code: 1, signal: null });
  assert.match(program.stderr, /LAMEDUCK_ERR_PLUGIN_ENCAPSULATED/);
  assert.match(program.stderr, /registered inside "application".*: expected .* made with fastify-plugin/);
});

// fastify-cli installs fifty packages, so only .ci/fastify-matrix installs it.
const cli = process.env['FASTIFY_CLI'];

function start(t: TestContext, delay: string, env: Readonly<Record<string, string>>): CommandUnderTest {
  const application = fileURLToPath(new URL('../fixtures/fastify-cli-application.ts', import.meta.url));
  const args = ['--log-level', 'info', '--port', '0', '--close-grace-delay', delay];
  return disposed(t, new CommandUnderTest(process.execPath, [cli ?? '', 'start', ...args, application], { env }));
}

if (cli !== undefined) {
  for (const [delay, env, code, answer] of [
    ['500', {}, 0, 'served'],
    ['28000', run, 0, 'served'],
    ['500', run, 1, undefined],
  ] as const) {
    const how = `--close-grace-delay ${delay}, ${JSON.stringify(env)}`;
    test(`fastify-cli with ${how} ends the process with exit code ${String(code)} if a request is in flight at SIGTERM`, async (t) => {
      const command = start(t, delay, env);
      const [, port = ''] = await command.printed(/"addresses":\["[^"]+:(\d+)"\]/);
      await command.printed(/"name":"HasBeenReady"/);
      const request = await HeldRequest.open(t, Number(port));
      command.kill('SIGTERM');
      await command.printed(/"name":"HTTPServerStoppedListening"/);
      const last = await (code === 0 ? request.release() : request.cut());
      if (answer !== undefined) assert.equal(last, answer);
      assert.deepEqual(await command.exit, { code, signal: null }, command.output);
      assert.equal(command.output.includes('fastify-cli ends this process after its delay'), code === 1);
    });
  }
}
